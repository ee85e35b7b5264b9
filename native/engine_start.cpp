// What a backward pass starts from, what it is to reach, and so what is to run.
#include "engine.h"

namespace rushlight {
namespace {

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

TensorRef root_gradient(size_t i, const Meta *m, PyObject *gradient) {
  if (gradient == Py_None) {
    if (m->numel != 1) {
      PyErr_Format(PyExc_RuntimeError, "grad can be implicitly created only for scalar tensors, but output %zu has "
                   "shape %s; pass its gradient, or reduce it to one number", i, shape_of(m).c_str());
      return {};
    }
    if (!is_floating(m->dtype)) {
      PyErr_Format(PyExc_RuntimeError, "a gradient of 1 is assumed only for real scalar outputs, but output %zu has "
                   "dtype torch.%s; pass its gradient", i, dtype_name(m->dtype));
      return {};
    }
    return tensor_ones(m);
  }
  if (!tensor_check(gradient)) {
    PyErr_Format(PyExc_TypeError, "gradients of outputs are Tensors or None, not '%s'", Py_TYPE(gradient)->tp_name);
    return {};
  }
  const Meta *given = as_tensor(gradient)->meta;
  if (!same_sizes(given, m)) {
    PyErr_Format(PyExc_RuntimeError, "Mismatch in shape: grad_output[%zu] has a shape of torch.Size(%s) and "
                 "output[%zu] has a shape of torch.Size(%s).", i, shape_of(given).c_str(), i, shape_of(m).c_str());
    return {};
  }
  if (is_complex(given->dtype) != is_complex(m->dtype)) {
    PyErr_Format(PyExc_RuntimeError, "output[%zu] is torch.%s and grad_output[%zu] is torch.%s; where one of them is "
                 "complex, both must have the same dtype.", i, dtype_name(m->dtype), i, dtype_name(given->dtype));
    return {};
  }
  return TensorRef::borrow(as_tensor(gradient));
}

}  // namespace

uint32_t Run::task_of(Node *node) {
  const uint32_t task = map_.find_or_insert(node, uint32_t(tasks_.size()));
  if (task == tasks_.size()) {
    tasks_.push_back(Task{node});
    Py_INCREF(as_object(node));
  }
  return task;
}

bool Run::add_root(size_t i, PyObject *object, PyObject *given) {
  Node *from;
  uint32_t from_index;
  if (given_edge(object, &from, &from_index)) {
    const Meta *expected = expected_meta(from, from_index);
    TensorRef gradient = expected ? root_gradient(i, expected, given) : TensorRef();
    if (!expected) PyErr_Format(PyExc_RuntimeError, "element %zu of tensors is an edge that no gradient can take", i);
    if (!gradient || !conform(gradient, from, from_index, "backward", i)) return false;
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
    PyErr_Format(PyExc_RuntimeError, "element %zu of tensors does not require grad: it does not have a grad_fn, and "
                 "so leads to no leaf", i);
    return false;
  }
  TensorRef gradient = root_gradient(i, root->meta, given);
  if (!gradient || !conform(gradient, node.get(), edge.index, "backward", i)) return false;
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
    PyErr_SetString(PyExc_RuntimeError, options_.accumulate
                                            ? "can't retain_grad on Tensor that has requires_grad=False"
                                            : "an input of grad() does not require grad; call requires_grad_() on it "
                                              "before the outputs are computed");
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

// Gradients of hidden values pass a node, but do not arrive at the tensors that are its outputs.
bool Run::reaches_target(const Edge &edge) const {
  if (!edge.node) return false;
  const Task &task = tasks_[map_.find(edge.node)];
  return edge.index < node_outputs(edge.node) ? wanted(task) : task.leads;
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
    for (const Edge &edge : task.node->edges) task.leads = task.leads || reaches_target(edge);
    task.needed = task.needed || task.leads;
    if (wanted(task)) continue;
    for (const Edge &edge : task.node->edges) {  // nothing will arrive from here
      if (edge.node) --tasks_[map_.find(edge.node)].waiting;
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
  const uint32_t only_root = roots_.size() == 1 ? roots_[0].task : kAbsent;  // its hooks run, wanted or not
  for (uint32_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].waiting == 0 && (wanted(tasks_[i]) || i == only_root)) make_ready(i);
  }
  roots_.clear();
  return true;
}

// ---------------------------------------------------------------- running

}  // namespace rushlight
