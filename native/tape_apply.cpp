// What a node does in the backward pass: gradients of outputs in, gradients of inputs out.
//
// With grad mode off (the usual case) views and copies are layout arithmetic; with grad mode on (create_graph)
// everything is a call of a registered operator, so that the result can be differentiated again.
#include "tape_apply.h"

#include <algorithm>

#include "small_vector.h"

namespace rushlight {
namespace {

using Arguments = SmallVector<PyObject *, 16>;

PyObject *or_none(Tensor *t) { return t ? as_object(t) : Py_None; }

// ---------------------------------------------------------------- results of operators and Python functions

bool take_gradient(Node *node, size_t i, PyObject *item, Gradients &results) {
  if (item == Py_None) return true;
  if (!tensor_check(item)) {
    PyErr_Format(PyExc_TypeError, "%s: gradient %zu must be a tensor or None, but is of type '%s'", node_name(node), i,
                 Py_TYPE(item)->tp_name);
    return false;
  }
  results[i] = TensorRef::borrow(as_tensor(item));
  return true;
}

// A tuple or list with one entry per edge, or the only entry itself. Takes the object over, so that afterwards
// `results` holds the only references.
bool take_gradients(Node *node, ObjectRef object, Gradients &results) {
  if (!object) return false;
  const size_t count = node->edges.count;
  const bool sequence = PyTuple_Check(object.get()) || PyList_Check(object.get());
  if (!sequence && count == 1) return take_gradient(node, 0, object.get(), results);
  const size_t given = sequence ? size_t(PySequence_Fast_GET_SIZE(object.get())) : 1;
  bool surplus = false;  // entries beyond the edges may only be None
  for (size_t i = count; sequence && i < given; ++i) {
    surplus |= PySequence_Fast_GET_ITEM(object.get(), Py_ssize_t(i)) != Py_None;
  }
  if (!sequence || given < count || surplus) {
    PyErr_Format(PyExc_RuntimeError, "function %s returned an incorrect number of gradients (expected %zu, got %zu)",
                 node_name(node), count, given);
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    if (!take_gradient(node, i, PySequence_Fast_GET_ITEM(object.get(), Py_ssize_t(i)), results)) return false;
  }
  return true;
}

// The operator for the gradients of the wanted edges. Borrowed.
PyObject *backward_operator(Recipe *recipe, Wanted wanted) {
  for (auto &[edges, op] : recipe->operators) {
    if (edges == wanted) return op;
  }
  ObjectRef indices = ObjectRef::borrow(Py_None);
  if (wanted != kAllEdges) {
    std::vector<int64_t> chosen;
    for (uint32_t k = 0; k < recipe->grad_inputs.size(); ++k) {
      if (wanted >> edge_bit(k) & 1) chosen.push_back(k);
    }
    indices = ObjectRef(int_tuple(chosen.data(), int(chosen.size())));
  }
  ObjectRef op(indices ? PyObject_CallOneArg(recipe->make, indices.get()) : nullptr);
  if (!op) return nullptr;
  recipe->operators.emplace_back(wanted, op.get());
  return op.release();
}

bool apply_recipe(Node *node, Tensor *const *given, Gradients &results, Wanted wanted) {
  const size_t saved = node->saved.size();
  // Values are missing after a run that freed them, and while hooks are given them one by one.
  if (node->released || saved != node->recipe->saved.size()) return raise_twice();
  Arguments arguments(saved + node->input_count);
  size_t unpacked = 0;
  while (unpacked < node->saved.size() && (arguments[unpacked] = saved_unpack(node, node->saved[unpacked]))) ++unpacked;
  if (unpacked < saved && !PyErr_Occurred()) raise_twice();  // an unpack hook ran the graph
  ObjectRef object;
  if (unpacked == saved && wanted) {
    for (uint32_t i = 0; i < node->input_count; ++i) arguments[saved + i] = or_none(given[i]);
    PyObject *op = backward_operator(node->recipe, wanted);
    if (op) object = ObjectRef(operator_call(op, arguments.data(), arguments.size()));
  }
  for (size_t i = 0; i < unpacked; ++i) Py_DECREF(arguments[i]);
  if (unpacked == saved && !wanted) return true;  // all could be read, and nobody asks for more
  return take_gradients(node, std::move(object), results);
}

// Can all that the node saved still be read?
bool check_saved(Node *node) {
  if (node->kind != NodeKind::Recipe) return true;
  if (node->released || node->saved.size() != node->recipe->saved.size()) return raise_twice();
  for (size_t k = 0; k < node->saved.size(); ++k) {
    ObjectRef value(saved_unpack(node, node->saved[k]));
    if (!value) return false;
  }
  return true;
}

// Zeros for the former values and for what the new ones depend on without a gradient.
bool overwrite_gradients(Node *node, Tensor *g, Gradients &results) {
  for (uint32_t k = 0; k < node->edges.count; ++k) {
    const Edge &edge = node->edges[k];
    const Meta *meta = k == 0 ? g->meta : edge.node ? expected_meta(edge.node, edge.index) : nullptr;
    if (meta && edge.node && !(results[k] = tensor_shaped(meta->dtype, meta, true))) return false;
  }
  return true;
}

// A FunctionNode class computes its gradients itself.
bool apply_function(Node *node, Tensor *const *given, Gradients &results) {
  static PyObject *name = PyUnicode_InternFromString("_backward");
  if (!name) return false;
  Arguments arguments(size_t(node->input_count) + 1);
  arguments[0] = as_object(node);
  for (uint32_t i = 0; i < node->input_count; ++i) arguments[i + 1] = or_none(given[i]);
  ObjectRef object(PyObject_VectorcallMethod(name, arguments.data(), arguments.size(), nullptr));
  return take_gradients(node, std::move(object), results);
}

bool apply_python(Node *node, Tensor *const *given, Gradients &results) {
  if (node->custom) return apply_function(node, given, results);
  if (!node->callable) return raise_twice();
  Arguments arguments(node->input_count);
  for (uint32_t i = 0; i < node->input_count; ++i) arguments[i] = or_none(given[i]);
  ObjectRef callable = ObjectRef::borrow(node->callable);
  ObjectRef object(PyObject_Vectorcall(callable.get(), arguments.data(), arguments.size(), nullptr));
  return take_gradients(node, std::move(object), results);
}

}  // namespace

bool raise_twice() {
  PyErr_SetString(PyExc_RuntimeError, kFreed);
  return false;
}

TensorRef reshape(Tensor *t, const std::vector<int64_t> &sizes) {
  if (native_arithmetic(t)) {
    Layout layout = layout_of(t->meta);
    if (layout_reshape(layout, sizes.data(), int(sizes.size()))) return tensor_alias(t, layout);
  }
  ObjectRef shape(int_tuple(sizes.data(), int(sizes.size())));
  return shape ? call_operator("reshape", {as_object(t), shape.get()}) : TensorRef();
}

TensorRef call_operator(const char *name, std::initializer_list<PyObject *> arguments) {
  ObjectRef result(call_registered(name, arguments.begin(), arguments.size()));
  if (!result) return {};
  if (!tensor_check(result.get())) {
    PyErr_Format(PyExc_TypeError, "the operator '%s' returned an object of type '%s', not a tensor", name,
                 Py_TYPE(result.get())->tp_name);
    return {};
  }
  return TensorRef(as_tensor(result.release()));
}

bool node_apply(Node *node, Tensor *const *given, Gradients &results, Wanted wanted) {
  if (node->kind == NodeKind::Python) return apply_python(node, given, results);
  // The gradient of nothing is nothing, but what was freed or written is an error all the same.
  if (std::all_of(given, given + node->input_count, [](Tensor *t) { return !t; })) return check_saved(node);
  switch (node->kind) {
    case NodeKind::Recipe: return apply_recipe(node, given, results, wanted);
    case NodeKind::CopySlices: return apply_copy_slices(node, given[0], results, wanted);
    case NodeKind::View: return bool(results[0] = view_gradient(node, given));
    case NodeKind::Overwrite: return overwrite_gradients(node, given[0], results);
    default: return true;
  }
}

void node_release(Node *node) {
  if (!node->shared && node_holds_tensors(node)) node_release_saved(node);
  if (node->custom && !node->shared) node->released = true;  // ctx.saved_tensors must not be read any more
  if (node->kind == NodeKind::CopySlices && node->slices) {
    Node *function = node->slices->function;
    node->slices->function = nullptr;
    Py_XDECREF(as_object(function));
  }
  if (node->kind != NodeKind::Python || !node->callable) return;
  // A function object frees what it saved, if it has a way to.
  ObjectRef callable = ObjectRef::borrow(node->callable);
  ObjectRef method(PyObject_GetAttrString(callable.get(), "release"));
  if (!method) return PyErr_Clear();
  ObjectRef done(PyObject_CallNoArgs(method.get()));
  if (!done) PyErr_WriteUnraisable(method.get());
}

}  // namespace rushlight
