// Tools around the tape: hooks for saved tensors, anomaly mode, calling a node by hand.
#include "tape.h"

namespace rushlight {

constinit thread_local PyObject *saved_hooks = nullptr;
bool anomaly_mode = false;
constinit thread_local Node *running_node = nullptr;

namespace {

// What hooks made of a saved tensor: SavedValue::object of a value that is not an Object.
enum PackedItem : Py_ssize_t { kUnpack, kPacked, kNode, kIndex };

const char kPackWrites[] =
    "The pack hook is modifying its input in place, which is the tensor of the program and not a copy. Let the hook "
    "work on a clone() of it.";

TensorRef plain_alias(const SavedValue &value) {
  meta_incref(value.meta);
  storage_incref(value.storage);
  return TensorRef(tensor_new(value.meta, value.storage, value.data));
}

// A tensor over the memory of `t` whose gradients go to (node, index).
PyObject *connected_alias(Tensor *t, Node *node, uint32_t index) {
  meta_incref(t->meta);
  storage_incref(t->storage);
  TensorRef alias(tensor_new(t->meta, t->storage, t->data));
  if (!alias) return nullptr;
  if (node && thread_state.grad_enabled && is_differentiable(t->meta->dtype) &&
      tape_set_history(alias.get(), node, index) < 0) {
    return nullptr;
  }
  return as_object(alias.release());
}

// ---------------------------------------------------------------- Python functions

PyObject *push_saved_hooks(PyObject *, PyObject *args) {
  PyObject *pack, *unpack;
  if (!PyArg_ParseTuple(args, "OO:push_saved_hooks", &pack, &unpack)) return nullptr;
  PyObject *top = PyTuple_Pack(3, pack, unpack, saved_hooks ? saved_hooks : Py_None);
  if (!top) return nullptr;
  Py_XSETREF(saved_hooks, top);
  Py_RETURN_NONE;
}

PyObject *pop_saved_hooks(PyObject *, PyObject *) {
  if (!saved_hooks) {
    PyErr_SetString(PyExc_RuntimeError, "pop_saved_hooks(): this thread has no hooks for saved tensors");
    return nullptr;
  }
  PyObject *below = PyTuple_GET_ITEM(saved_hooks, 2);
  Py_XSETREF(saved_hooks, below == Py_None ? nullptr : Py_NewRef(below));
  Py_RETURN_NONE;
}

PyObject *has_saved_hooks(PyObject *, PyObject *) { return PyBool_FromLong(saved_hooks != nullptr); }

PyObject *set_anomaly_mode(PyObject *, PyObject *value) {
  const int enabled = PyObject_IsTrue(value);
  if (enabled < 0) return nullptr;
  const bool previous = anomaly_mode;
  anomaly_mode = enabled;
  return PyBool_FromLong(previous);
}

PyObject *current_node(PyObject *, PyObject *) {
  return Py_NewRef(running_node ? as_object(running_node) : Py_None);
}

PyObject *increment_version(PyObject *, PyObject *object) {
  if (!tensor_check(object)) {
    PyErr_Format(PyExc_TypeError, "increment_version(): expected a tensor, got '%s'", Py_TYPE(object)->tp_name);
    return nullptr;
  }
  if (as_tensor(object)->storage->inference) {
    PyErr_SetString(PyExc_RuntimeError,
                    "Inference tensors do not track version counter: increment_version() needs a normal tensor");
    return nullptr;
  }
  ++as_tensor(object)->storage->version;
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"increment_version", increment_version, METH_O, "increment_version(tensor): count a write that was not seen."},
    {"push_saved_hooks", push_saved_hooks, METH_VARARGS,
     "push_saved_hooks(pack, unpack): what operators of this thread save from now on goes through these functions."},
    {"pop_saved_hooks", pop_saved_hooks, METH_NOARGS, "Undo the last push_saved_hooks() of this thread."},
    {"has_saved_hooks", has_saved_hooks, METH_NOARGS, "Does this thread have hooks for saved tensors?"},
    {"set_anomaly_mode", set_anomaly_mode, METH_O,
     "Switch on or off that nodes note the stack at which they were made; the former state."},
    {"current_node", current_node, METH_NOARGS, "The node that a backward pass of this thread is running, or None."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

// ---------------------------------------------------------------- saved tensors

bool saved_pack(SavedValue &value, Tensor *t, const Edge *edge, PyObject *given) {
  if (value.kind == SavedValue::Object || (!t && !value.meta)) return true;
  TensorRef tensor = t ? TensorRef::borrow(t) : plain_alias(value);
  if (!tensor) return false;
  ObjectRef hooks = ObjectRef::borrow(given);
  ObjectRef packed;
  {
    GradMode mode(false);
    const uint32_t version = tensor->storage->version;
    packed = ObjectRef(PyObject_CallOneArg(PyTuple_GET_ITEM(hooks.get(), 0), as_object(tensor.get())));
    if (!packed) return false;
    if (tensor->storage->version != version) {
      PyErr_SetString(PyExc_RuntimeError, kPackWrites);
      return false;
    }
  }
  PyObject *node = edge && edge->node ? as_object(edge->node) : Py_None;
  // A view of a leaf that was made without recording needs a gradient, but has no node: 1 says so.
  const uint32_t place = node != Py_None ? edge->index : uint32_t(edge && t && requires_grad(t));
  ObjectRef index(PyLong_FromUnsignedLong(place));
  PyObject *object =
      index ? PyTuple_Pack(4, PyTuple_GET_ITEM(hooks.get(), 1), packed.get(), node, index.get()) : nullptr;
  if (!object) return false;
  saved_release(value);
  value.object = object;
  return true;
}

PyObject *saved_unpack_hooked(Node *node, const SavedValue &value) {
  ObjectRef packed = ObjectRef::borrow(value.object);
  const bool is_input = value.kind == SavedValue::Input;  // the hook may free what the node saved
  const uint32_t output = value.output_index;
  auto item = [&packed](PackedItem i) { return PyTuple_GET_ITEM(packed.get(), i); };
  ObjectRef result(PyObject_CallOneArg(item(kUnpack), item(kPacked)));
  if (!result) return nullptr;
  if (!tensor_check(result.get())) {
    PyErr_Format(PyExc_TypeError,
                 "the value that unpack_hook returns has to be a Tensor, not %R",
                 reinterpret_cast<PyObject *>(Py_TYPE(result.get())));
    return nullptr;
  }
  Tensor *t = as_tensor(result.get());
  if (!is_input) {
    const Edge edge = saved_edge(node, output);
    return connected_alias(t, edge.node, edge.index);
  }
  Node *from = item(kNode) == Py_None ? nullptr : reinterpret_cast<Node *>(item(kNode));
  const uint32_t place = uint32_t(PyLong_AsUnsignedLong(item(kIndex)));
  if (!from && !t->autograd && !place) return result.release();
  ObjectRef alias(connected_alias(t, from, place));
  if (alias && !from && place && tensor_set_requires_grad(as_tensor(alias.get()), true) < 0) return nullptr;
  return alias.release();
}

// ---------------------------------------------------------------- anomaly mode

bool anomaly_record(Node *node) {
  NodeExtras *extras = node_extras(node);
  if (!extras || (!extras->metadata && !(extras->metadata = PyDict_New()))) return false;
  ObjectRef metadata = ObjectRef::borrow(extras->metadata);
  ObjectRef stack(call_registered("anomaly_stack", nullptr, 0));
  if (!stack || PyDict_SetItemString(metadata.get(), "traceback_", stack.get()) < 0) return false;
  return !running_node || PyDict_SetItemString(metadata.get(), "parent_", as_object(running_node)) == 0;
}

// Tells with a warning where the forward pass made the node whose run has just failed; the error stays.
void anomaly_report(Node *node) {
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  PyObject *arguments[] = {as_object(node)};
  ObjectRef done(call_registered("anomaly_report", arguments, 1));
  if (!done) PyErr_Clear();
  PyErr_Restore(type, error, traceback);
}

bool anomaly_check(Node *node, const Gradients &results) {
  GradMode mode(false);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) continue;
    PyObject *arguments[] = {as_object(results[i].get())};
    ObjectRef answer(call_registered("anomaly_has_nan", arguments, 1));
    const int has_nan = answer ? PyObject_IsTrue(answer.get()) : -1;
    if (has_nan < 0) return false;
    if (!has_nan) continue;
    PyErr_Format(PyExc_RuntimeError, "Function '%s' returned nan values in its %zuth output.", node_name(node), i);
    return false;
  }
  return true;
}

// ---------------------------------------------------------------- node(*gradients)

PyObject *node_call(PyObject *self, PyObject *args, PyObject *keywords) {
  Node *node = reinterpret_cast<Node *>(self);
  if (keywords && PyDict_GET_SIZE(keywords)) {
    PyErr_Format(PyExc_TypeError, "%s takes no keyword arguments", node_name(node));
    return nullptr;
  }
  const Py_ssize_t count = PyTuple_GET_SIZE(args);
  if (count != Py_ssize_t(node_outputs(node))) {
    PyErr_Format(PyExc_TypeError, "expected %u gradients for %s, but got %zd", node_outputs(node), node_name(node),
                 count);
    return nullptr;
  }
  std::vector<Tensor *> given(node->input_count, nullptr);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *item = PyTuple_GET_ITEM(args, i);
    if (item != Py_None && !tensor_check(item)) {
      PyErr_Format(PyExc_TypeError, "expected Variable argument %zd, but got %s", i, Py_TYPE(item)->tp_name);
      return nullptr;
    }
    if (item == Py_None) continue;
    const Meta *expected = size_t(i) < node->metas.count ? node->metas[size_t(i)] : nullptr;
    if (node->kind == NodeKind::Accumulate && node->leaf) expected = node->leaf->meta;
    const Meta *own = as_tensor(item)->meta;
    if (expected && !same_sizes(own, expected)) {
      PyErr_Format(PyExc_RuntimeError, "%s: gradient %zd has shape %s, but the output it belongs to has shape %s",
                   node_name(node), i, format_ints(own->sizes(), own->ndim).c_str(),
                   format_ints(expected->sizes(), expected->ndim).c_str());
      return nullptr;
    }
    given[size_t(i)] = as_tensor(item);
  }
  if (node->kind == NodeKind::Accumulate) {
    if (!accumulate_leaf(node, TensorRef::borrow(given[0]))) return nullptr;
    return PyTuple_New(0);
  }
  Gradients results(node->edges.count);
  if (!node_apply(node, given.data(), results)) return nullptr;
  std::vector<Tensor *> shown(operand_count(node), nullptr);  // borrowed
  for (uint32_t k = 0; k < results.size(); ++k) shown[operand_of(node, k)] = results[k].get();
  auto object = [](Tensor *t) { return Py_NewRef(t ? as_object(t) : Py_None); };
  if (shown.size() == 1) return object(shown[0]);
  ObjectRef tuple(PyTuple_New(Py_ssize_t(shown.size())));
  for (size_t i = 0; tuple && i < shown.size(); ++i) PyTuple_SET_ITEM(tuple.get(), Py_ssize_t(i), object(shown[i]));
  return tuple.release();
}

int init_tools(PyObject *module) { return PyModule_AddFunctions(module, functions); }

}  // namespace rushlight
