// Replaying an instance: allocate, run the launches, count versions, record the tape, build the result.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "instance.h"
#include "tape.h"
#include "tensor.h"

namespace rushlight {
namespace {

// Where the inputs' elements lie. Hooks and finalizers that have run since the call was looked up may have given a
// tensor another layout: what the instance knows of it no longer holds then.
bool find_inputs(const Instance &instance, const Call &call, const char *name, char **bases) {
  for (size_t i = 0; i < call.tensors.size(); ++i) {
    if (call.tensors[i]->meta != instance.input_metas[i]) {
      PyErr_Format(PyExc_RuntimeError, "%s: tensor %zu was given another layout during the call, by a hook or a "
                   "finalizer; change it before the call or after it", name, i);
      return false;
    }
    bases[i] = call.tensors[i]->data;
  }
  return true;
}

// What one replay holds; released at the end, whatever happens.
class Replay {
 public:
  Replay(Instance *instance, const Call &call, const char *name)
      : instance_(*instance), plan_(*instance->plan), call_(call), name_(name), inputs_(call.tensors.size()) {}
  ~Replay() {
    for (Tensor *tensor : tensors_) Py_XDECREF(reinterpret_cast<PyObject *>(tensor));
    for (Storage *storage : storages_) {
      if (storage) storage_decref(storage);
    }
    for (Storage *storage : held_) storage_decref(storage);
    for (PyObject *object : outputs_) Py_XDECREF(object);
    for (const Edge &edge : edges_) Py_XDECREF(as_object(edge.node));
    if (arena_) deallocate(arena_, size_t(instance_.arena));
  }
  Replay(const Replay &) = delete;

  PyObject *run() {
    if (!plan_.mutated.empty() && !check_mutated()) return nullptr;
    if (!allocate_buffers()) return nullptr;
    std::vector<SavedValue> saved;
    if (plan_.recipe) save_inputs(saved);
    const bool history = plan_.recipe && !plan_.mutated.empty();
    bool good = !history || (collect_edges() && pack_written(saved));
    good = good && take_inputs() && (!instance_.run || launch_all());
    if (good) {
      for (int i : plan_.mutated) ++storage_of(i)->version;
    }
    good = good && make_outputs() && (!plan_.recipe || record(saved)) && overwrite_histories() && mark_views();
    if (!good) {
      for (SavedValue &value : saved) saved_release(value);
      return nullptr;
    }
    return result();
  }

 private:
  // ---------------------------------------------------------------- before anything is written

  bool check_mutated() {
    const bool recorded = std::any_of(call_.tensors.begin(), call_.tensors.end(),
                                      [](const Tensor *t) { return requires_grad(t); });
    for (int i : plan_.mutated) {
      Tensor *tensor = call_.tensors[i];
      if (tensor->storage->readonly) {
        PyErr_Format(PyExc_RuntimeError,
                     "%s: the memory of the tensor that it writes to is read-only. Please clone() the tensor before "
                     "performing the operation.", name_);
        return false;
      }
      if (tape_check_inplace(tensor, name_, recorded || requires_grad(tensor)) < 0) return false;
    }
    return true;
  }

  bool allocate_buffers() {
    bases_.resize(inputs_ + instance_.places.size());
    if (instance_.arena && instance_.run) {
      arena_ = static_cast<char *>(allocate(size_t(instance_.arena)));
      if (!arena_) {
        PyErr_NoMemory();
        return false;
      }
    }
    char **base = bases_.data() + inputs_;
    for (const Instance::Place &place : instance_.places) {
      Tensor *tensor = nullptr;
      Storage *storage = nullptr;
      if (place.kind == Instance::Place::Tensor) {
        meta_incref(place.meta);
        tensor = tensor_empty(place.meta);
        if (!tensor) return false;
        *base = tensor->data;
      } else if (place.kind == Instance::Place::Storage) {
        storage = place.meta ? storage_for(place.meta) : storage_new(size_t(place.bytes));
        if (!storage) return false;
        *base = storage->data;
      } else {
        *base = arena_ + place.offset;
      }
      tensors_.push_back(tensor);
      storages_.push_back(storage);
      ++base;
    }
    return true;
  }

  // The inputs' memory, once all hooks have run. It is held where other threads or Python code run before its last use,
  // since they may give the inputs other memory. (Making a tensor may start the garbage collector.)
  bool take_inputs() {
    if (!find_inputs(instance_, call_, name_, bases_.data())) return false;
    if (!large() && !instance_.calls_python && instance_.output_views.empty()) return true;
    for (size_t i = 0; i < inputs_; ++i) {
      storage_incref(call_.tensors[i]->storage);
      held_.push_back(call_.tensors[i]->storage);
    }
    return true;
  }

  // ---------------------------------------------------------------- steps

  bool large() const { return instance_.work > kReleaseWork; }

  bool launch_all() {
    PyThreadState *released = nullptr;
    int64_t status = 0;
    bool good = true;
    for (const Launch &launch : instance_.launches) {
      bool needs_gil = std::holds_alternative<HostLaunch>(launch) || std::holds_alternative<RandomLaunch>(launch);
      if (needs_gil && released) {
        PyEval_RestoreThread(released);
        released = nullptr;
      } else if (!needs_gil && !released && large()) {
        released = PyEval_SaveThread();
      }
      good = launch_one(launch, status);
      if (!good || status) break;
    }
    if (released) PyEval_RestoreThread(released);
    if (status) raise_status(plan_, status, name_, wrong_);
    return good && !status;
  }

  bool launch_one(const Launch &launch, int64_t &status) {
    if (auto *kernel = std::get_if<KernelLaunch>(&launch)) {
      status |= run_kernel(*kernel, bases_.data(), call_.scalars.data());
    } else if (auto *gemm = std::get_if<GemmLaunch>(&launch)) {
      status |= run_gemm(*gemm, bases_.data());
    } else if (auto *contraction = std::get_if<ContractionLaunch>(&launch)) {
      status |= run_contraction(*contraction, bases_.data());
    } else if (auto *spread = std::get_if<SpreadLaunch>(&launch)) {
      status |= run_spread(*spread, bases_.data());
    } else if (auto *scatter = std::get_if<ScatterLaunch>(&launch)) {
      status |= run_scatter(*scatter, bases_.data(), wrong_);
    } else if (auto *copy = std::get_if<CopyLaunch>(&launch)) {
      copy_strided(copy->itemsize, int(copy->sizes.size()), copy->sizes.data(), at(copy->to),
                   copy->to_strides.data(), at(copy->from), copy->from_strides.data());
    } else if (auto *random = std::get_if<RandomLaunch>(&launch)) {
      generator_fill(random->generator, bases_[random->buffer], random->count, random->bits);
    } else {
      return call_host(std::get<HostLaunch>(launch));
    }
    return true;
  }
  char *at(Address address) const { return address_in(bases_.data(), address); }

  // The storage of any buffer but a temporary; borrowed.
  Storage *storage_of(int buffer) const {
    if (buffer < int(inputs_)) return held_.empty() ? call_.tensors[buffer]->storage : held_[buffer];
    size_t place = size_t(buffer) - inputs_;
    return tensors_[place] ? tensors_[place]->storage : storages_[place];
  }
  Tensor *alias(Meta *meta, Address address) const {
    Storage *storage = storage_of(address.buffer);
    meta_incref(meta);
    storage_incref(storage);
    return tensor_new(meta, storage, at(address));
  }

  bool call_host(const HostLaunch &launch) {
    SmallVector<PyObject *, 16> arguments;
    bool good = true;
    for (const auto &[meta, address] : launch.arguments) {
      Tensor *tensor = alias(meta, address);
      if (!(good = tensor != nullptr)) break;
      arguments.push_back(reinterpret_cast<PyObject *>(tensor));
    }
    if (good) {
      PyObject *ignored = PyObject_Vectorcall(launch.function, arguments.data(), arguments.size(), nullptr);
      good = ignored != nullptr;
      Py_XDECREF(ignored);
    }
    for (PyObject *argument : arguments) Py_DECREF(argument);
    return good;
  }

  // ---------------------------------------------------------------- outputs

  bool make_outputs() {
    size_t view = 0;
    for (const Output &output : plan_.outputs) {
      Tensor *tensor = nullptr;
      if (output.kind == Output::Buffer) {
        tensor = tensors_[size_t(output.index) - inputs_];
        Py_INCREF(reinterpret_cast<PyObject *>(tensor));
      } else if (output.kind == Output::Input) {
        tensor = call_.tensors[output.index];
        Py_INCREF(reinterpret_cast<PyObject *>(tensor));
      } else if (output.kind == Output::View) {
        const auto &[meta, address] = instance_.output_views[view++];
        tensor = alias(meta, address);
        if (!tensor) return false;
      }
      outputs_.push_back(reinterpret_cast<PyObject *>(tensor));
    }
    return true;
  }

  // Does the operator return several views at once?
  bool splits() const {
    static constexpr const char *names[] = {"split", "split_with_sizes", "chunk", "unbind"};
    return std::any_of(std::begin(names), std::end(names), [this](const char *n) { return !std::strcmp(n, name_); });
  }

  bool mark_views() {
    for (size_t j = 0; j < plan_.outputs.size(); ++j) {
      if (plan_.outputs[j].kind != Output::View) continue;
      int buffer = plan_.views[plan_.outputs[j].index].buffer;
      if (buffer >= int(inputs_)) continue;
      if (tape_mark_view(call_.tensors[buffer], reinterpret_cast<Tensor *>(outputs_[j]), splits()) < 0) return false;
    }
    return true;
  }

  PyObject *take_output(size_t j) {
    PyObject *object = outputs_[j];
    outputs_[j] = nullptr;
    return object ? object : Py_NewRef(Py_None);
  }
  PyObject *result() {
    if (plan_.result_kind == ResultKind::Single) return take_output(0);
    if (plan_.result_kind == ResultKind::None) Py_RETURN_NONE;
    Py_ssize_t count = Py_ssize_t(outputs_.size());
    if (plan_.result_kind == ResultKind::List) {
      PyObject *list = PyList_New(count);
      for (Py_ssize_t j = 0; list && j < count; ++j) PyList_SET_ITEM(list, j, take_output(size_t(j)));
      return list;
    }
    if (plan_.result_kind == ResultKind::Tuple) {
      PyObject *tuple = PyTuple_New(count);
      for (Py_ssize_t j = 0; tuple && j < count; ++j) PyTuple_SET_ITEM(tuple, j, take_output(size_t(j)));
      return tuple;
    }
    for (PyObject *&output : outputs_) {
      if (!output) output = Py_NewRef(Py_None);
    }
    return PyObject_Vectorcall(plan_.result, outputs_.data(), outputs_.size(), nullptr);
  }

  // ---------------------------------------------------------------- tape

  // A mutated tensor whose new content has no gradient, as after zero_() or eq_(other), must not keep its history.
  bool overwrite_histories() {
    if (plan_.mutated.empty() || !thread_state.grad_enabled) return true;
    for (int i : plan_.mutated) {
      Tensor *tensor = call_.tensors[i];
      if (is_recorded(i)) continue;
      const bool others = in_place(i) && !plan_.recipe;
      if (tape_overwrite(tensor, "ZeroBackward0", others ? call_.tensors.data() : nullptr,
                         others ? call_.tensors.size() : 0) < 0) {
        return false;
      }
    }
    return true;
  }
  // Is what the call returns the input that it wrote? (Not so for running statistics.)
  bool in_place(int input) const {
    return plan_.outputs.size() == 1 && plan_.outputs[0].kind == Output::Input && plan_.outputs[0].index == input;
  }
  bool is_recorded(int input) const {
    if (!plan_.recipe) return false;
    for (int j : plan_.recipe->grad_outputs) {
      const Output &output = plan_.outputs[size_t(j)];
      if (output.kind == Output::Input && output.index == input) return true;
    }
    return false;
  }

  // Inputs are saved with the version that the launches read.
  void save_inputs(std::vector<SavedValue> &saved) {
    saved.resize(plan_.recipe->saved.size());
    for (size_t k = 0; k < saved.size(); ++k) {
      if (plan_.recipe->saved[k].kind != 0) continue;
      int index = plan_.recipe->saved[k].index;
      Tensor *tensor = call_.tensors[index];
      saved[k].kind = SavedValue::Input;
      saved[k].version = tensor->storage->version;
      if (is_mutated(index)) {  // its history will run through the new node: holding it would close a cycle
        save_memory(saved[k], tensor->meta, tensor->storage, tensor->data);
      } else {
        Py_INCREF(reinterpret_cast<PyObject *>(tensor));
        saved[k].tensor = tensor;
        saved[k].computed = tensor->autograd && tensor->autograd->grad_fn;
      }
    }
  }
  // The history that the inputs have before the write: views get another one by it.
  bool collect_edges() {
    edges_.assign(plan_.recipe->grad_inputs.size(), Edge{});
    for (size_t k = 0; k < edges_.size(); ++k) {
      if (!edge_of(call_.tensors[plan_.recipe->grad_inputs[k]], &edges_[k])) return false;
    }
    return true;
  }
  // Hooks for saved tensors see what is written as it was before.
  bool pack_written(std::vector<SavedValue> &saved) {
    for (size_t k = 0; saved_hooks && k < saved.size(); ++k) {
      const Recipe::Saved &source = plan_.recipe->saved[k];
      if (source.kind != 0 || !is_mutated(source.index)) continue;
      const std::vector<int> &places = plan_.recipe->grad_inputs;
      const size_t place = size_t(std::find(places.begin(), places.end(), source.index) - places.begin());
      const Edge *edge = place < places.size() ? &edges_[place] : nullptr;
      if (!saved_pack(saved[k], call_.tensors[source.index], edge, saved_hooks)) return false;
    }
    return true;
  }
  bool is_mutated(int input) const {
    for (int i : plan_.mutated) {
      if (call_.tensors[i] == call_.tensors[input]) return true;
    }
    return false;
  }
  static void save_memory(SavedValue &value, Meta *meta, Storage *storage, char *data) {
    meta_incref(meta);
    storage_incref(storage);
    value.meta = meta;
    value.storage = storage;
    value.data = data;
  }

  bool record(std::vector<SavedValue> &saved) {
    size_t ints = 0;
    for (size_t k = 0; k < saved.size(); ++k) {
      const Recipe::Saved &source = plan_.recipe->saved[k];
      switch (source.kind) {
        case 1: {
          auto *output = reinterpret_cast<Tensor *>(outputs_[source.index]);
          saved[k].kind = SavedValue::Output;
          save_memory(saved[k], output->meta, output->storage, output->data);
          break;
        }
        case 2:
        case 5:
        case 6: {
          saved[k].kind = SavedValue::Hidden;
          Storage *storage = storage_of(source.index);
          save_memory(saved[k], instance_.places[size_t(source.index) - inputs_].meta, storage,
                      bases_[source.index]);
          break;
        }
        case 3: saved[k].object = scalar_object(source.index); break;
        case 4: saved[k].object = PyLong_FromLongLong(instance_.saved_ints[ints++]); break;
        default: continue;
      }
      if (source.kind == 3 || source.kind == 4) {
        saved[k].kind = SavedValue::Object;
        if (!saved[k].object) return false;
      } else if (saved[k].storage) {
        saved[k].version = saved[k].storage->version;
      }
    }
    return tape_record(plan_.recipe, call_.tensors.data(), reinterpret_cast<Tensor **>(outputs_.data()),
                       std::move(saved), edges_) == 0;
  }

  PyObject *scalar_object(int word) const {
    int64_t value = call_.scalars[word];
    auto number = [](int64_t bits) {
      double result;
      std::memcpy(&result, &bits, sizeof result);
      return result;
    };
    switch (call_.kinds[word]) {
      case 'b': return PyBool_FromLong(value != 0);
      case 'f': return PyFloat_FromDouble(number(value));
      case 'c': return PyComplex_FromDoubles(number(value), number(call_.scalars[word + 1]));
      default: return PyLong_FromLongLong(value);
    }
  }

  Instance &instance_;
  const Plan &plan_;
  const Call &call_;
  const char *name_;
  size_t inputs_;
  SmallVector<char *, 24> bases_;
  SmallVector<Tensor *, 8> tensors_;    // per place; owned
  SmallVector<Storage *, 8> storages_;  // per place; owned
  SmallVector<Storage *, 8> held_;      // of the inputs; owned
  SmallVector<PyObject *, 8> outputs_;  // owned
  std::vector<Edge> edges_;             // owned; for tape_record
  char *arena_ = nullptr;
  WrongIndex wrong_;
};

// What Replay does for the simplest instances, without its bookkeeping.
PyObject *replay_simple(Instance *instance, const Call &call, const char *name) {
  size_t inputs = call.tensors.size();
  SmallVector<char *, 24> bases(inputs + 1);
  meta_incref(instance->places[0].meta);
  Tensor *output = tensor_empty(instance->places[0].meta);
  if (!output) return nullptr;
  bases[inputs] = output->data;
  if (!find_inputs(*instance, call, name, bases.data())) {
    Py_DECREF(reinterpret_cast<PyObject *>(output));
    return nullptr;
  }
  int64_t status =
      run_kernel(*std::get_if<KernelLaunch>(&instance->launches[0]), bases.data(), call.scalars.data());
  if (!status) return reinterpret_cast<PyObject *>(output);
  Py_DECREF(reinterpret_cast<PyObject *>(output));
  raise_status(*instance->plan, status, name, {});
  return nullptr;
}

}  // namespace

PyObject *replay(Instance *instance, const Call &call, const char *name) {
  for (PyObject *message : instance->plan->warnings) {
    if (!Reference(call_registered("show_warning", &message, 1))) return nullptr;
  }
  const bool leaf = instance->plan->requires_grad;
  PyObject *result = instance->simple ? replay_simple(instance, call, name) : Replay(instance, call, name).run();
  if (!leaf || !result) return result;
  if (tensor_check(result) && tensor_set_requires_grad(as_tensor(result), true) == 0) return result;
  Py_DECREF(result);
  return nullptr;
}

}  // namespace rushlight
