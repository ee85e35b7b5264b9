// The backward pass: nodes run in reverse order of their making, each when all gradients it waits for have arrived.
#include <algorithm>
#include <queue>

#include "tape.h"

namespace rushlight {
namespace {

constexpr uint32_t kAbsent = UINT32_MAX;
uint64_t runs = 0;

// Which task a node has: open addressing, since a run looks every edge up.
class NodeMap {
 public:
  NodeMap() : entries_(64) {}

  uint32_t find(const Node *node) const { return entries_[place(node)].task; }

  // The node's task, or `task` from now on.
  uint32_t find_or_insert(const Node *node, uint32_t task) {
    Entry &entry = entries_[place(node)];
    if (entry.node) return entry.task;
    entry = {node, task};
    if (++count_ * 2 > entries_.size()) grow();
    return task;
  }

 private:
  struct Entry {
    const Node *node = nullptr;
    uint32_t task = kAbsent;
  };

  size_t place(const Node *node) const {
    const size_t mask = entries_.size() - 1;
    size_t at = (reinterpret_cast<uintptr_t>(node) >> 4) * 0x9e3779b97f4a7c15u >> 20 & mask;
    while (entries_[at].node && entries_[at].node != node) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry &entry : old) {
      if (entry.node) entries_[place(entry.node)] = entry;
    }
  }

  std::vector<Entry> entries_;
  size_t count_ = 0;
};

struct Task {
  Node *node;                 // strong until it has run
  uint32_t waiting = 0;       // edges whose gradient has not arrived
  size_t first = 0;           // its gradients in Run::buffers_
  bool needed = false;        // runs; otherwise it may still be a place where gradients are captured
  bool captured = false;
};

bool can_expand(const Meta *from, const Meta *to) {
  if (from->ndim > to->ndim) return false;
  const int lead = to->ndim - from->ndim;
  for (int d = 0; d < from->ndim; ++d) {
    if (from->sizes()[d] != 1 && from->sizes()[d] != to->sizes()[lead + d]) return false;
  }
  return true;
}

std::string shape(const Meta *m) { return format_ints(m->sizes(), m->ndim); }

// What gradients must look like that arrive at (node, index); null if unknown.
const Meta *expected_meta(const Node *node, uint32_t index) {
  if (node->kind == NodeKind::Accumulate) return node->leaf ? node->leaf->meta : nullptr;
  return index < node->metas.count ? node->metas.items[index] : nullptr;
}

// Brings a gradient into the shape and dtype of what it is the gradient of.
bool conform(TensorRef &gradient, const Meta *expected, const char *from, size_t index) {
  if (!expected || gradient->meta == expected) return true;
  if (!same_sizes(gradient->meta, expected)) {
    if (!can_expand(expected, gradient->meta)) {
      PyErr_Format(PyExc_RuntimeError,
                   "Function %s returned an invalid gradient at index %zu - got %s but expected shape compatible "
                   "with %s", from, index, shape(gradient->meta).c_str(), shape(expected).c_str());
      return false;
    }
    ObjectRef sizes(int_tuple(expected->sizes(), expected->ndim));
    gradient = sizes ? call_operator("sum_to_size", {as_object(gradient.get()), sizes.get()}) : TensorRef();
    if (!gradient) return false;
  }
  if (gradient->meta->device != expected->device) {
    PyErr_Format(PyExc_RuntimeError, "Function %s returned an invalid gradient at index %zu - its device is not that "
                 "of the value it is the gradient of", from, index);
    return false;
  }
  if (is_complex(gradient->meta->dtype) && !is_complex(expected->dtype)) {
    gradient = call_operator("real", {as_object(gradient.get())});
  }
  if (gradient && gradient->meta->dtype != expected->dtype) {
    gradient = call_operator("to", {as_object(gradient.get()), dtype_object(expected->dtype)});
  }
  return bool(gradient);
}

// A GradientEdge: a tuple that starts with a node and a number.
bool given_edge(PyObject *object, Node **node, uint32_t *index) {
  if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) < 2 || !node_check(PyTuple_GET_ITEM(object, 0))) return false;
  const unsigned long number = PyLong_AsUnsignedLong(PyTuple_GET_ITEM(object, 1));
  *node = reinterpret_cast<Node *>(PyTuple_GET_ITEM(object, 0));
  if (PyErr_Occurred() || number >= (*node)->input_count) {
    PyErr_Clear();
    return false;
  }
  *index = uint32_t(number);
  return true;
}

// What operators return for a real value may be complex, its real part counts; users must not rely on it.
bool check_user_gradient(const Tensor *gradient, const Meta *expected) {
  if (!expected || !is_complex(gradient->meta->dtype) || is_complex(expected->dtype)) return true;
  PyErr_Format(PyExc_RuntimeError,
               "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but "
               "got false: a gradient of dtype torch.%s was returned for a value of dtype torch.%s; return its .real",
               dtype_name(gradient->meta->dtype), dtype_name(expected->dtype));
  return false;
}

class Run {
 public:
  explicit Run(BackwardOptions options) : options_(options) {}
  Run(const Run &) = delete;
  ~Run() {
    for (Tensor *gradient : buffers_) Py_XDECREF(as_object(gradient));
    for (Task &task : tasks_) Py_XDECREF(as_object(task.node));
  }

  bool add_root(size_t i, PyObject *object, PyObject *gradient);
  bool add_target(PyObject *object);
  void limit() { limited_ = true; }
  bool limited() const { return limited_; }
  bool discover();
  bool execute();
  PyObject *captured();
  uint64_t number() const { return number_; }
  bool will_run(const Node *node) const {
    const uint32_t task = map_.find(node);
    return task != kAbsent && wanted(tasks_[task]);
  }

 private:
  struct Root {
    uint32_t task, index;
    TensorRef gradient;
  };
  struct Target {
    Ref<Node> node;           // null: cannot be reached
    uint32_t index;
    TensorRef gradient;
  };
  struct Earlier {
    bool operator()(const std::pair<uint64_t, uint32_t> &a, const std::pair<uint64_t, uint32_t> &b) const {
      return a.first < b.first;
    }
  };

  uint32_t task_of(Node *node);
  void count_edges();
  void find_needed();
  bool wanted(const Task &task) const { return !limited_ || task.needed || task.captured; }
  void make_ready(uint32_t task) { ready_.emplace(tasks_[task].node->sequence, task); }
  bool deliver(uint32_t task, uint32_t index, TensorRef gradient);
  bool step(uint32_t index);
  bool run_leaf(Task &task, Tensor **given);
  bool run_node(Task &task, Tensor **given);
  bool add_to_slice(Task &task, Tensor **given, bool *done);
  void arrived(uint32_t task);
  void capture(const Task &task, Tensor *const *given);
  void clear(Task &task);

  BackwardOptions options_;
  uint64_t number_ = ++runs;
  bool limited_ = false;      // only what the targets need runs
  std::vector<Task> tasks_;
  NodeMap map_;
  std::vector<Tensor *> buffers_;  // owned
  std::vector<Root> roots_;
  std::vector<Target> targets_;
  std::priority_queue<std::pair<uint64_t, uint32_t>, std::vector<std::pair<uint64_t, uint32_t>>, Earlier> ready_;
};

// ---------------------------------------------------------------- what to run

uint32_t Run::task_of(Node *node) {
  const uint32_t task = map_.find_or_insert(node, uint32_t(tasks_.size()));
  if (task == tasks_.size()) {
    tasks_.push_back(Task{node});
    Py_INCREF(as_object(node));
  }
  return task;
}

TensorRef root_gradient(size_t i, const Meta *m, PyObject *gradient) {
  if (gradient == Py_None) {
    if (m->numel != 1) {
      PyErr_Format(PyExc_RuntimeError, "grad can be implicitly created only for scalar outputs (output %zu has shape "
                   "%s; pass its gradient, or reduce it to one number)", i, shape(m).c_str());
      return {};
    }
    if (!is_floating(m->dtype)) {
      PyErr_Format(PyExc_RuntimeError, "grad can be implicitly created only for real scalar outputs but got torch.%s",
                   dtype_name(m->dtype));
      return {};
    }
    return tensor_ones(m);
  }
  if (!tensor_check(gradient)) {
    PyErr_Format(PyExc_TypeError, "gradients can be either Tensors or None, but got '%s'", Py_TYPE(gradient)->tp_name);
    return {};
  }
  const Meta *given = as_tensor(gradient)->meta;
  if (!same_sizes(given, m)) {
    PyErr_Format(PyExc_RuntimeError, "Mismatch in shape: grad_output[%zu] has a shape of torch.Size(%s) and "
                 "output[%zu] has a shape of torch.Size(%s).", i, shape(given).c_str(), i, shape(m).c_str());
    return {};
  }
  if (is_complex(given->dtype) != is_complex(m->dtype)) {
    PyErr_Format(PyExc_RuntimeError, "For complex Tensors, both grad_output and output are required to have the same "
                 "dtype. Mismatch in dtype: grad_output[%zu] has a dtype of torch.%s and output[%zu] has a dtype of "
                 "torch.%s.", i, dtype_name(given->dtype), i, dtype_name(m->dtype));
    return {};
  }
  return TensorRef::borrow(as_tensor(gradient));
}

bool Run::add_root(size_t i, PyObject *object, PyObject *given) {
  Node *from;
  uint32_t from_index;
  if (given_edge(object, &from, &from_index)) {
    const Meta *expected = expected_meta(from, from_index);
    TensorRef gradient = expected ? root_gradient(i, expected, given) : TensorRef();
    if (!expected) PyErr_Format(PyExc_RuntimeError, "element %zu of tensors is an edge that no gradient can take", i);
    if (!gradient || !conform(gradient, expected, "backward", i)) return false;
    roots_.push_back({task_of(from), from_index, std::move(gradient)});
    return true;
  }
  if (!tensor_check(object)) {
    PyErr_Format(PyExc_TypeError, "element %zu of tensors is of type '%s', not a tensor", i, Py_TYPE(object)->tp_name);
    return false;
  }
  Tensor *root = as_tensor(object);
  Edge edge;
  if (!edge_of(root, &edge)) return false;
  Ref<Node> node(edge.node);
  if (!node) {
    PyErr_Format(PyExc_RuntimeError, "element %zu of tensors does not require grad and does not have a grad_fn", i);
    return false;
  }
  TensorRef gradient = root_gradient(i, root->meta, given);
  if (!gradient || !conform(gradient, root->meta, "backward", i)) return false;
  roots_.push_back({task_of(node.get()), edge.index, std::move(gradient)});
  return true;
}

bool Run::add_target(PyObject *object) {
  Node *from;
  uint32_t from_index;
  if (given_edge(object, &from, &from_index)) {
    targets_.push_back({Ref<Node>::borrow(from), from_index, {}});
    return true;
  }
  if (!tensor_check(object)) {
    PyErr_Format(PyExc_TypeError, "inputs must be tensors, but got '%s'", Py_TYPE(object)->tp_name);
    return false;
  }
  Tensor *t = as_tensor(object);
  if (!requires_grad(t)) {
    PyErr_SetString(PyExc_RuntimeError, "One of the differentiated Tensors does not require grad");
    return false;
  }
  Node *node = tape_grad_fn(t);
  if (!node && PyErr_Occurred()) return false;
  uint32_t index = t->autograd->output_index;
  if (node && options_.accumulate && retain_gradient(t) < 0) return false;
  if (!node) {
    node = t->autograd->accumulator;  // null: nothing was computed from this leaf
    index = 0;
  }
  targets_.push_back({Ref<Node>::borrow(node), index, {}});
  return true;
}

// Finds all nodes that can be reached and how many gradients each waits for.
void Run::count_edges() {
  for (size_t i = 0; i < tasks_.size(); ++i) {
    Node *node = tasks_[i].node;
    for (const Edge &edge : node->edges) {
      if (!edge.node) continue;
      const uint32_t next = task_of(edge.node);
      ++tasks_[next].waiting;
    }
  }
}

// With targets, only nodes run from which a target can be reached.
void Run::find_needed() {
  for (Target &target : targets_) {
    const uint32_t task = target.node ? map_.find(target.node.get()) : kAbsent;
    if (task == kAbsent) continue;
    (options_.accumulate ? tasks_[task].needed : tasks_[task].captured) = true;
  }
  std::vector<uint32_t> waiting, order;
  for (const Task &task : tasks_) waiting.push_back(task.waiting);
  for (uint32_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i] == 0) order.push_back(i);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const Edge &edge : tasks_[order[i]].node->edges) {
      if (!edge.node) continue;
      const uint32_t next = map_.find(edge.node);
      if (--waiting[next] == 0) order.push_back(next);
    }
  }
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    Task &task = tasks_[*i];
    for (const Edge &edge : task.node->edges) {
      if (edge.node && wanted(tasks_[map_.find(edge.node)])) task.needed = true;
    }
  }
}

bool Run::discover() {
  count_edges();
  if (limited_) find_needed();
  size_t total = 0;
  for (Task &task : tasks_) {
    task.first = total;
    total += task.node->input_count;
  }
  buffers_.assign(total, nullptr);
  for (Root &root : roots_) {
    if (!deliver(root.task, root.index, std::move(root.gradient))) return false;
  }
  for (uint32_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].waiting == 0 && wanted(tasks_[i])) make_ready(i);
  }
  roots_.clear();
  return true;
}

// ---------------------------------------------------------------- running

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

bool Run::run_node(Task &task, Tensor **given) {
  Node *node = task.node;
  if (node->extras && (!run_tensor_hooks(node, given) || !run_node_prehooks(node, given))) return false;
  bool done;
  if (!add_to_slice(task, given, &done)) return false;
  if (done) return true;
  Gradients results(node->edges.count);
  if (!node_apply(node, given, results)) return false;
  if (!options_.keep_graph) node_release(node);
  if (node->extras && !run_node_hooks(node, results, given)) return false;
  if (anomaly_mode && !anomaly_check(node, results)) return false;
  clear(task);
  for (uint32_t k = 0; k < node->edges.count; ++k) {
    const Edge edge = node->edges[k];
    if (!edge.node) continue;
    const uint32_t next = map_.find(edge.node);
    if (!wanted(tasks_[next])) continue;
    if (results[k]) {
      if (node->custom && !check_user_gradient(results[k].get(), expected_meta(edge.node, edge.index))) return false;
      if (!conform(results[k], expected_meta(edge.node, edge.index), node_name(node), k)) return false;
      if (!deliver(next, edge.index, std::move(results[k]))) return false;
    }
    arrived(next);
  }
  return true;
}

bool Run::run_leaf(Task &task, Tensor **given) {
  Node *node = task.node;
  if (!run_tensor_hooks(node, given) || !run_node_prehooks(node, given)) return false;
  const bool defined = given[0] != nullptr;
  const bool watched = node->extras && node->extras->after;
  TensorRef gradient = watched ? TensorRef::borrow(given[0]) : TensorRef(given[0]);
  if (!watched) given[0] = nullptr;
  if (!accumulate_leaf(node, std::move(gradient))) return false;
  TensorRef leaf = TensorRef::borrow(node->leaf);
  if (defined && leaf && !run_post_accumulate_hooks(leaf.get())) return false;
  Gradients none;
  if (watched && !run_node_hooks(node, none, given)) return false;
  clear(task);
  return true;
}

bool Run::step(uint32_t index) {
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

PyObject *Run::captured() {
  ObjectRef result(PyTuple_New(Py_ssize_t(targets_.size())));
  for (size_t i = 0; result && i < targets_.size(); ++i) {
    Tensor *gradient = targets_[i].gradient.release();
    if (!gradient && !options_.allow_unreachable) {
      PyErr_Format(PyExc_RuntimeError, "The differentiated Tensor at index %zu appears to not have been used in the "
                   "graph. Set allow_unused=True if this is the desired behavior.", i);
      return nullptr;
    }
    PyTuple_SET_ITEM(result.get(), Py_ssize_t(i), gradient ? as_object(gradient) : Py_NewRef(Py_None));
  }
  return result.release();
}

constinit thread_local const Run *current_run = nullptr;

class CurrentRun {
 public:
  explicit CurrentRun(const Run *run) : previous_(current_run) { current_run = run; }
  ~CurrentRun() { current_run = previous_; }
  CurrentRun(const CurrentRun &) = delete;

 private:
  const Run *previous_;
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

PyMethodDef functions[] = {
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
  if (!run.discover() || !run.execute()) return nullptr;
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
