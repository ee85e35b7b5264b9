// The Operator type: finds how a call runs by its key, and asks Python when it does not know.
#include "parse.h"
#include "profiler.h"
#include "tables.h"

namespace rushlight {
namespace {

struct OperatorState {
  Signature signature;
  InstanceTable instances;
  PlanTable plans;
  int64_t hits = 0, structural_hits = 0, misses = 0;
};

struct OperatorObject {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject *name, *planner, *fallback;
  const char *text;       // the name's UTF-8
  NativeFunction native;  // may be null
  OperatorState *state;
  PyObject *dict, *weakrefs;
};

OperatorObject *as_operator(PyObject *object) { return reinterpret_cast<OperatorObject *>(object); }

// An owned reference that cannot be null.
class Owned {
 public:
  explicit Owned(PyObject *object) : object_(object) {
    if (!object) throw Failure();
  }
  ~Owned() { Py_XDECREF(object_); }
  Owned(const Owned &) = delete;
  Owned &operator=(const Owned &) = delete;
  PyObject *get() const { return object_; }
  PyObject *release() {
    PyObject *object = object_;
    object_ = nullptr;
    return object;
  }

 private:
  PyObject *object_;
};

struct PinnedInstance {
  explicit PinnedInstance(Instance *owned) : instance(owned) {}
  ~PinnedInstance() {
    if (instance) instance_decref(instance);
  }
  PinnedInstance(const PinnedInstance &) = delete;
  Instance *instance;
};

// The raw arguments of a call in progress.
struct Arguments {
  PyObject *const *values;
  size_t count;
  PyObject *keyword_names;

  PyObject *tuple() const {
    PyObject *tuple = PyTuple_New(Py_ssize_t(count));
    for (size_t i = 0; tuple && i < count; ++i) PyTuple_SET_ITEM(tuple, Py_ssize_t(i), Py_NewRef(values[i]));
    return tuple;
  }
  PyObject *dict() const {
    Owned dict(PyDict_New());
    Py_ssize_t keywords = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
    for (Py_ssize_t k = 0; k < keywords; ++k) {
      PyObject *value = values[count + size_t(k)];
      if (PyDict_SetItem(dict.get(), PyTuple_GET_ITEM(keyword_names, k), value) < 0) throw Failure();
    }
    return dict.release();
  }
};

// ---------------------------------------------------------------- calls

PyObject *call_fallback(OperatorObject *op, const Arguments &arguments) {
  if (!op->fallback || op->fallback == Py_None) {
    fail(PyExc_TypeError, "%s: unsupported argument types", op->text);
  }
  Owned args(arguments.tuple()), kwargs(arguments.dict());
  return PyObject_CallFunctionObjArgs(op->fallback, op, args.get(), kwargs.get(), nullptr);
}

PyObject *call_direct(PyObject *direct, const Arguments &arguments) {
  PyObject *function = reinterpret_cast<DirectObject *>(direct)->function;
  return PyObject_Vectorcall(function, arguments.values, arguments.count, arguments.keyword_names);
}

// What the planner returns: a Plan or Direct, new reference.
PyObject *ask_planner(OperatorObject *op, const Arguments &arguments, const std::vector<Alias> &aliases) {
  if (!op->planner) fail(PyExc_RuntimeError, "%s: used after the garbage collector cleared it", op->text);
  Owned args(arguments.tuple()), kwargs(arguments.dict()), pairs(PyTuple_New(Py_ssize_t(aliases.size())));
  for (size_t i = 0; i < aliases.size(); ++i) {
    PyObject *pair = Py_BuildValue("iii", aliases[i].mutated, aliases[i].other, aliases[i].relation);
    if (!pair) throw Failure();
    PyTuple_SET_ITEM(pairs.get(), Py_ssize_t(i), pair);
  }
  Owned target(PyObject_CallFunctionObjArgs(op->planner, op, args.get(), kwargs.get(), pairs.get(), nullptr));
  if (!Py_IS_TYPE(target.get(), &PlanType) && !Py_IS_TYPE(target.get(), &DirectType)) {
    fail(PyExc_TypeError, "%s: the planner returned %R, which is neither a Plan nor a Direct", op->text, target.get());
  }
  return target.release();
}

PyObject *run_instance(OperatorObject *op, Instance *instance, const Call &call, const Arguments &arguments) {
  return instance->plan ? replay(instance, call, op->text) : call_direct(instance->target, arguments);
}

// Keeps the layouts that a key speaks of while Python runs, and tells whether the tensors still have them.
class LayoutPins {
 public:
  explicit LayoutPins(const Call &call) : call_(call) {
    for (const Tensor *tensor : call.tensors) {
      meta_incref(tensor->meta);
      metas_.push_back(tensor->meta);
    }
  }
  ~LayoutPins() {
    for (Meta *meta : metas_) meta_decref(meta);
  }
  LayoutPins(const LayoutPins &) = delete;
  void check(const char *name) const {
    for (size_t i = 0; i < metas_.size(); ++i) {
      if (call_.tensors[i]->meta == metas_[i]) continue;
      fail(PyExc_RuntimeError, "%s: tensor %zu was given another layout while the call was being planned", name, i);
    }
  }

 private:
  const Call &call_;
  std::vector<Meta *> metas_;
};

// A plan for the call from the operator's table or from the planner. New reference.
PyObject *find_target(OperatorObject *op, const Call &call, const Arguments &arguments, const LayoutPins &pins,
                      std::vector<int64_t> &slots) {
  OperatorState &state = *op->state;
  StructuralKey key;
  structural_key(call, key);
  if (PyObject *target = state.plans.find(call, key, slots)) {
    ++state.structural_hits;
    return target;
  }
  ++state.misses;
  Owned target(ask_planner(op, arguments, call.aliases));
  pins.check(op->text);
  if (Py_IS_TYPE(target.get(), &PlanType)) {
    const Plan &plan = *reinterpret_cast<PlanObject *>(target.get())->plan;
    check_plan_fits(plan, call);
    if (!scalar_guards_hold(plan, call) || !evaluate_slots(plan, call, slots)) {
      fail(PyExc_RuntimeError, "%s: sizes or offsets exceed 64 bits, or the guards of a new plan reject its call",
           op->text);
    }
  }
  state.plans.insert(call, key, target.get());
  return target.release();
}

PyObject *call_new(OperatorObject *op, const Call &call, const Arguments &arguments) {
  LayoutPins pins(call);
  std::vector<int64_t> slots;
  Owned target(find_target(op, call, arguments, pins, slots));
  PinnedInstance pinned(Py_IS_TYPE(target.get(), &PlanType)
                            ? instance_build(reinterpret_cast<PlanObject *>(target.get()), call, slots)
                            : instance_direct(reinterpret_cast<DirectObject *>(target.get()), call));
  pins.check(op->text);
  op->state->instances.insert(pinned.instance);
  pins.check(op->text);
  return run_instance(op, pinned.instance, call, arguments);
}

PyObject *call_unbound(OperatorObject *op, const Arguments &arguments) {
  Owned target(ask_planner(op, arguments, {}));
  if (Py_IS_TYPE(target.get(), &DirectType)) return call_direct(target.get(), arguments);
  fail(PyExc_TypeError, "%s: the arguments do not match its parameters", op->text);
}

PyObject *call_keyed(OperatorObject *op, const Arguments &arguments) {
  Call call;
  switch (build_key(op->state->signature, op->text, arguments.values, arguments.count, arguments.keyword_names, call)) {
    case KeyStatus::Keyed: break;
    case KeyStatus::Fallback: return call_fallback(op, arguments);
    case KeyStatus::Unbound: return call_unbound(op, arguments);
    case KeyStatus::Error: return nullptr;
  }
  PinnedInstance pinned(op->state->instances.find(call));
  if (!pinned.instance) return call_new(op, call, arguments);
  ++op->state->hits;
  return run_instance(op, pinned.instance, call, arguments);
}

PyObject *call_operator_object(OperatorObject *op, PyObject *const *args, size_t count, PyObject *keyword_names) {
  Arguments arguments{args, count, keyword_names};
  if (op->native) {
    PyObject *result = op->native(args, arguments.count, keyword_names);
    if (result || PyErr_Occurred()) return result;
  }
  try {
    return call_keyed(op, arguments);
  } catch (const Failure &) {
    return nullptr;
  } catch (const std::bad_alloc &) {
    return PyErr_NoMemory();
  }
}

PyObject *operator_vectorcall(PyObject *self, PyObject *const *args, size_t flags, PyObject *keyword_names) {
  OperatorObject *op = as_operator(self);
  const size_t count = size_t(PyVectorcall_NARGS(flags));
  if (!profiling) return call_operator_object(op, args, count, keyword_names);
  ProfiledRange range(RangeKind::Operator, op->name, args, count);
  return call_operator_object(op, args, count, keyword_names);
}

// ---------------------------------------------------------------- the type

PyObject *operator_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"name", "parameters", "planner", "fallback", "native", nullptr};
  PyObject *name, *parameters, *planner, *fallback;
  const char *native = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "UOOO|z:Operator", const_cast<char **>(names), &name, &parameters,
                                   &planner, &fallback, &native)) {
    return nullptr;
  }
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) return nullptr;
  if (!PyCallable_Check(planner) || (fallback != Py_None && !PyCallable_Check(fallback))) {
    return PyErr_Format(PyExc_TypeError, "Operator %s: planner and fallback must be callable", text);
  }
  NativeFunction function = native ? native_function(native) : nullptr;
  if (native && !function) return PyErr_Format(PyExc_ValueError, "Operator %s: no native function %s", text, native);
  auto state = std::make_unique<OperatorState>();
  try {
    state->signature.parse(parameters);
  } catch (const Failure &) {
    return nullptr;
  }
  PyObject *object = type->tp_alloc(type, 0);
  if (!object) return nullptr;
  OperatorObject *op = as_operator(object);
  op->vectorcall = operator_vectorcall;
  op->name = Py_NewRef(name);
  op->planner = Py_NewRef(planner);
  op->fallback = Py_NewRef(fallback);
  op->text = text;
  op->native = function;
  op->state = state.release();
  return object;
}

int operator_traverse(PyObject *object, visitproc visit, void *arg) {
  OperatorObject *op = as_operator(object);
  Py_VISIT(op->planner);
  Py_VISIT(op->fallback);
  Py_VISIT(op->dict);
  if (!op->state) return 0;
  int result = 0;
  auto visit_one = [&](PyObject *referred) {
    if (!result) result = visit(referred, arg);
  };
  op->state->plans.each(visit_one);
  op->state->instances.each([&](Instance *instance) {
    if (instance->references == 1) visit_one(instance->target);  // else a running call holds it
  });
  return result;
}

int operator_clear(PyObject *object) {
  OperatorObject *op = as_operator(object);
  Py_CLEAR(op->planner);
  Py_CLEAR(op->fallback);
  Py_CLEAR(op->dict);
  if (op->state) {
    op->state->instances.clear();
    op->state->plans.clear();
  }
  return 0;
}

void operator_dealloc(PyObject *object) {
  OperatorObject *op = as_operator(object);
  PyObject_GC_UnTrack(object);
  if (op->weakrefs) PyObject_ClearWeakRefs(object);
  operator_clear(object);
  delete op->state;
  Py_XDECREF(op->name);
  Py_TYPE(object)->tp_free(object);
}

PyObject *operator_repr(PyObject *object) { return PyUnicode_FromFormat("<operator %U>", as_operator(object)->name); }

// In a class, an operator becomes a method as a function does.
PyObject *operator_get(PyObject *self, PyObject *object, PyObject *) {
  if (!object || object == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, object);
}

PyObject *operator_reduce(PyObject *self, PyObject *) { return Py_NewRef(as_operator(self)->name); }

PyObject *operator_plans(PyObject *self, PyObject *) {
  PyObject *list = PyList_New(0);
  if (!list) return nullptr;
  bool good = true;
  as_operator(self)->state->plans.each([&](PyObject *target) { good = good && PyList_Append(list, target) == 0; });
  if (!good) Py_CLEAR(list);
  return list;
}

PyObject *operator_forget(PyObject *self, PyObject *) {
  as_operator(self)->state->instances.clear();
  as_operator(self)->state->plans.clear();
  Py_RETURN_NONE;
}

PyObject *operator_statistics(PyObject *self, PyObject *) {
  const OperatorState &state = *as_operator(self)->state;
  return Py_BuildValue("{s:L,s:L,s:L,s:n,s:n}", "hits", static_cast<long long>(state.hits), "structural_hits",
                       static_cast<long long>(state.structural_hits), "misses", static_cast<long long>(state.misses),
                       "instances", Py_ssize_t(state.instances.size()), "plans", Py_ssize_t(state.plans.size()));
}

PyObject *operator_get_name(PyObject *self, void *) { return Py_NewRef(as_operator(self)->name); }

PyObject *operator_get_parameters(PyObject *self, void *) {
  const Signature &signature = as_operator(self)->state->signature;
  PyObject *tuple = PyTuple_New(Py_ssize_t(signature.parameters.size()));
  for (size_t i = 0; tuple && i < signature.parameters.size(); ++i) {
    const Parameter &parameter = signature.parameters[i];
    std::string mode(1, parameter.mode);
    if (parameter.mutated) mode += '!';
    if (int(i) == signature.variadic) mode += '*';
    PyObject *pair = Py_BuildValue("(Os)", parameter.name, mode.c_str());
    if (pair) PyTuple_SET_ITEM(tuple, Py_ssize_t(i), pair);
    else Py_CLEAR(tuple);
  }
  return tuple;
}

// ---------------------------------------------------------------- modes

PyObject *get_mode_bits(PyObject *, PyObject *) { return PyLong_FromUnsignedLong(thread_state.mode_bits); }

// Grad and inference mode (the low bits) have setters of their own.
PyObject *set_mode_bits(PyObject *, PyObject *argument) {
  unsigned long bits = PyLong_AsUnsignedLong(argument);
  if (PyErr_Occurred()) return nullptr;
  thread_state.mode_bits = (uint32_t(bits) & ~3u) | (thread_state.mode_bits & 3u);
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"get_mode_bits", get_mode_bits, METH_NOARGS, "This thread's modes as far as they are part of every key."},
    {"set_mode_bits", set_mode_bits, METH_O, "Set this thread's mode bits, except those of grad and inference mode."},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef methods[] = {
    {"plans", operator_plans, METH_NOARGS, "The plans (and Direct objects) known so far."},
    {"clear", operator_forget, METH_NOARGS, "Forget all plans."},
    {"statistics", operator_statistics, METH_NOARGS,
     "Counts of hits (exact layouts), structural_hits and misses (planned), and of instances and plans held."},
    {"__reduce__", operator_reduce, METH_NOARGS, "Operators are pickled by name."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef getset[] = {
    {"name", operator_get_name, nullptr, "The operator's name.", nullptr},
    {"__name__", operator_get_name, nullptr, "The operator's name.", nullptr},
    {"__qualname__", operator_get_name, nullptr, "The operator's name.", nullptr},
    {"parameters", operator_get_parameters, nullptr, "(name, mode) of each parameter.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

uint32_t global_mode_bits = 0;

PyTypeObject OperatorType = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyObject *operator_call(PyObject *op, PyObject *const *args, size_t count) {
  if (Py_IS_TYPE(op, &OperatorType)) return operator_vectorcall(op, args, count, nullptr);
  return PyObject_Vectorcall(op, args, count, nullptr);
}

int init_operator(PyObject *module) {
  OperatorType.tp_name = "rushlight._core.Operator";
  OperatorType.tp_doc =
      "Operator(name, parameters, planner, fallback, native=None)\n\n"
      "parameters: (name, mode) each, mode T, T!, S or Z, with * where any number of positional arguments may follow.\n"
      "planner(operator, args, kwargs, aliases) returns a Plan or Direct for a call of a new structure; aliases are\n"
      "(written tensor, other tensor, relation), relation 1: the same elements, 2: some overlap.\n"
      "fallback(operator, args, kwargs) takes the calls whose arguments have no key.";
  OperatorType.tp_basicsize = sizeof(OperatorObject);
  OperatorType.tp_flags =
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
  OperatorType.tp_vectorcall_offset = offsetof(OperatorObject, vectorcall);
  OperatorType.tp_dictoffset = offsetof(OperatorObject, dict);
  OperatorType.tp_weaklistoffset = offsetof(OperatorObject, weakrefs);
  OperatorType.tp_call = PyVectorcall_Call;
  OperatorType.tp_new = operator_new;
  OperatorType.tp_traverse = operator_traverse;
  OperatorType.tp_clear = operator_clear;
  OperatorType.tp_dealloc = operator_dealloc;
  OperatorType.tp_repr = operator_repr;
  OperatorType.tp_descr_get = operator_get;
  OperatorType.tp_methods = methods;
  OperatorType.tp_getset = getset;
  if (PyModule_AddFunctions(module, functions) < 0) return -1;
  return PyModule_AddType(module, &OperatorType);
}

}  // namespace rushlight
