// The backward pass: nodes run in reverse order of their making, each when all gradients it waits for have arrived.
#include <algorithm>

#include "engine.h"

#include "profiler.h"

namespace rushlight {

// Adds a gradient to those that have arrived: in place if nobody else can see the sum so far.
bool Run::deliver(uint32_t task, uint32_t index, TensorRef gradient) {
  Tensor *&buffer = buffers_[tasks_[task].first + index];
  if (!buffer) {
    buffer = gradient.release();
    return true;
  }
  const bool in_place = native_arithmetic(buffer) && exclusively_owned(buffer);
  TensorRef sum = call_operator(in_place ? "add_" : "add", {as_object(buffer), as_object(gradient.get())});
  if (!sum) return false;
  Py_DECREF(as_object(buffer));
  buffer = sum.release();
  return true;
}

void Run::arrived(uint32_t task) {
  if (--tasks_[task].waiting == 0) make_ready(task);
}

void Run::capture(const Task &task, Tensor *const *given) {
  for (Target &target : targets_) {
    if (target.node.get() == task.node) target.gradient = TensorRef::borrow(given[target.index]);
  }
}

// Drops the gradients a node was given.
void Run::clear(Task &task) {
  for (uint32_t i = 0; i < task.node->input_count; ++i) {
    Tensor *gradient = buffers_[task.first + i];
    buffers_[task.first + i] = nullptr;
    Py_XDECREF(as_object(gradient));
  }
}

// A slice's gradient goes straight into an existing sum for its base, instead of through zeros of the base's size.
bool Run::add_to_slice(Task &task, Tensor **given, bool *done) {
  Node *node = task.node;
  *done = false;
  const bool slice = node->kind == NodeKind::View &&
                     (node->view_kind == ViewKind::Slice || node->view_kind == ViewKind::Select);
  if (!slice || node->extras || !given[0] || !native_arithmetic(given[0])) return true;
  const Edge edge = node->edges[0];
  const uint32_t next = edge.node ? map_.find(edge.node) : kAbsent;
  if (next == kAbsent || !wanted(tasks_[next])) return true;
  Tensor *buffer = buffers_[tasks_[next].first + edge.index];
  if (!buffer || !native_arithmetic(buffer) || !exclusively_owned(buffer) ||
      !same_sizes(buffer->meta, node->base_meta) || buffer->meta->dtype != given[0]->meta->dtype) {
    return true;
  }
  *done = true;
  if (!accumulate_slice(node, given[0], buffer)) return false;
  clear(task);
  arrived(next);
  return true;
}

Wanted Run::wanted_edges(Node *node) const {
  if (!limited_) return kAllEdges;
  Wanted result = 0;
  bool all = true;
  uint32_t k = 0;
  for (const Edge &edge : node->edges) {
    const bool chosen = edge.node && wanted(tasks_[map_.find(edge.node)]);
    if (chosen) result |= Wanted(1) << edge_bit(k);
    all = all && (chosen || !edge.node);
    ++k;
  }
  return all ? kAllEdges : result;
}

// Have gradients arrived of hidden values only, such as the mean inside of a variance? To users such a value is part of
// the operators that use it, and the node does not run: its hooks stay silent, and what it saved stays.
bool only_hidden(Node *node, Tensor *const *given) {
  const uint32_t outputs = node_outputs(node);
  auto absent = [](Tensor *t) { return !t; };
  return outputs < node->input_count && std::all_of(given, given + outputs, absent) &&
         !std::all_of(given + outputs, given + node->input_count, absent);
}

bool Run::run_node(Task &task, Tensor **given) {
  Node *node = task.node;
  const bool seen = !only_hidden(node, given), hooks = node->extras && seen;
  if (hooks && (!run_tensor_hooks(node, given) || !run_node_prehooks(node, given))) return false;
  bool done;
  if (!add_to_slice(task, given, &done)) return false;
  if (done) return true;
  Gradients results(node->edges.count);
  // A node whose operands have no history (views made without recording) has nothing to compute or to free.
  const bool idle = node->kind == NodeKind::Recipe &&
                    std::all_of(node->edges.begin(), node->edges.end(), [](const Edge &edge) { return !edge.node; });
  if (!idle && !node_apply(node, given, results, wanted_edges(node))) return false;
  if (!options_.keep_graph && seen) node_release(node);
  if (hooks && !run_node_hooks(node, results, given)) return false;
  if (anomaly_mode && !anomaly_check(node, results)) return false;
  clear(task);
  for (uint32_t k = 0; k < node->edges.count; ++k) {
    const Edge edge = node->edges[k];
    if (!edge.node) continue;
    const uint32_t next = map_.find(edge.node);
    if (results[k]) {  // a user's gradient must be right also where nobody wants it
      if (node->custom && !check_user_gradient(results[k].get(), expected_meta(edge.node, edge.index))) return false;
      if (!conform(results[k], edge.node, edge.index, node_name(node), k)) return false;
    }
    if (!wanted(tasks_[next])) continue;
    if (results[k] && !deliver(next, edge.index, std::move(results[k]))) return false;
    arrived(next);
  }
  return true;
}

bool Run::run_leaf(Task &task, Tensor **given) {
  Node *node = task.node;
  if (!run_tensor_hooks(node, given) || !run_node_prehooks(node, given)) return false;
  const bool watched = node->extras && node->extras->after;
  TensorRef gradient = watched ? TensorRef::borrow(given[0]) : TensorRef(given[0]);
  if (!watched) given[0] = nullptr;
  if (!accumulate_leaf(node, std::move(gradient))) return false;
  TensorRef leaf = TensorRef::borrow(node->leaf);
  if (leaf && !run_post_accumulate_hooks(leaf.get())) return false;
  Gradients none;
  if (watched && !run_node_hooks(node, none, given)) return false;
  clear(task);
  return true;
}

bool Run::step(uint32_t index) {
  if (!profiling) return run_task(index);
  ProfiledRange range(RangeKind::Backward, node_name(tasks_[index].node));
  return run_task(index);
}

bool Run::run_task(uint32_t index) {
  Task &task = tasks_[index];
  Tensor **given = buffers_.data() + task.first;
  if (limited_ && !task.needed) {
    if (!run_tensor_hooks(task.node, given)) return false;
    capture(task, given);
    clear(task);
  } else {
    if (task.captured) capture(task, given);
    const bool leaf = task.node->kind == NodeKind::Accumulate;
    Node *outer = running_node;
    running_node = task.node;
    const bool good = leaf ? run_leaf(task, given) : run_node(task, given);
    running_node = outer;
    if (!good) {
      if (anomaly_mode) anomaly_report(task.node);
      return false;
    }
  }
  Node *node = task.node;
  task.node = nullptr;
  Py_DECREF(as_object(node));
  return true;
}

bool Run::execute() {
  for (uint32_t count = 0; !ready_.empty(); ++count) {
    const uint32_t task = ready_.top().second;
    ready_.pop();
    if (!step(task)) return false;
    if (count % 64 == 63 && PyErr_CheckSignals() < 0) return false;
  }
  return true;
}

// What hooks asked to be called at the end; that may add more.
bool Run::run_callbacks() {
  for (size_t i = 0; i < callbacks_.size(); ++i) {
    ObjectRef function = ObjectRef::borrow(callbacks_[i].get());
    ObjectRef done(PyObject_CallNoArgs(function.get()));
    if (!done) return false;
  }
  return true;
}

PyObject *Run::captured() {
  ObjectRef result(PyTuple_New(Py_ssize_t(targets_.size())));
  for (size_t i = 0; result && i < targets_.size(); ++i) {
    Tensor *gradient = targets_[i].gradient.release();
    if (!gradient && !options_.allow_unreachable) {
      PyErr_Format(PyExc_RuntimeError, "grad(): input %zu appears to not have been used for the outputs. With "
                   "allow_unused=True its gradient is None.", i);
      return nullptr;
    }
    PyTuple_SET_ITEM(result.get(), Py_ssize_t(i), gradient ? as_object(gradient) : Py_NewRef(Py_None));
  }
  return result.release();
}

namespace {

constinit thread_local Run *current_run = nullptr;

class CurrentRun {
 public:
  explicit CurrentRun(Run *run) : previous_(current_run) { current_run = run; }
  ~CurrentRun() { current_run = previous_; }
  CurrentRun(const CurrentRun &) = delete;

 private:
  Run *previous_;
};

PyObject *backward_number(PyObject *, PyObject *) {
  if (!current_run) return PyLong_FromLong(-1);
  return PyLong_FromUnsignedLongLong(current_run->number());
}

PyObject *will_run(PyObject *, PyObject *node) {
  if (node_check(node)) {
    return PyBool_FromLong(current_run && current_run->will_run(reinterpret_cast<Node *>(node)));
  }
  PyErr_Format(PyExc_TypeError, "will_run(): expected a node, got '%s'", Py_TYPE(node)->tp_name);
  return nullptr;
}

PyObject *accumulates(PyObject *, PyObject *) { return PyBool_FromLong(current_run && !current_run->limited()); }

PyObject *queue_callback(PyObject *, PyObject *function) {
  if (!current_run) {
    PyErr_SetString(PyExc_RuntimeError, "queue_callback() works during backward pass only, and none is running");
    return nullptr;
  }
  current_run->add_callback(function);
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"queue_callback", queue_callback, METH_O, "queue_callback(function): call it when the running pass has ended."},
    {"accumulates", accumulates, METH_NOARGS, "Does the running backward pass add to the .grad of all leaves?"},
    {"backward_number", backward_number, METH_NOARGS, "A number of this thread's running backward pass; -1: none."},
    {"will_run", will_run, METH_O, "Is this node among those that the running backward pass runs?"},
    {nullptr, nullptr, 0, nullptr}};

PyObject *run(PyObject *tensors, PyObject *gradients, PyObject *inputs, BackwardOptions options) {
  Run run(options);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors); ++i) {
    if (!run.add_root(size_t(i), PyTuple_GET_ITEM(tensors, i), PyTuple_GET_ITEM(gradients, i))) return nullptr;
  }
  if (inputs) {
    run.limit();
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(inputs); ++i) {
      if (!run.add_target(PyTuple_GET_ITEM(inputs, i))) return nullptr;
    }
  }
  GradMode mode(options.create_graph);
  CurrentRun current(&run);
  if (!run.discover() || !run.execute() || !run.run_callbacks()) return nullptr;
  if (inputs && !options.accumulate) return run.captured();
  return PyTuple_New(0);
}

}  // namespace

int init_engine(PyObject *module) { return PyModule_AddFunctions(module, functions); }

PyObject *run_backward(PyObject *tensors, PyObject *gradients, PyObject *inputs, BackwardOptions options) {
  if (Py_EnterRecursiveCall(" in a backward pass started by a hook")) return nullptr;
  PyObject *result = nullptr;
  try {
    result = run(tensors, gradients, inputs, options);
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
  }
  Py_LeaveRecursiveCall();
  return result;
}

}  // namespace rushlight
