// The tape's interface to Python: the backward pass, grad and inference mode, nodes made of Python functions.
#include "tape.h"

namespace rushlight {
namespace {

bool expect_tuple(PyObject *object, const char *name) {
  if (PyTuple_Check(object)) return true;
  PyErr_Format(PyExc_TypeError, "run_backward(): %s must be a tuple, not '%s'", name, Py_TYPE(object)->tp_name);
  return false;
}

PyObject *core_run_backward(PyObject *, PyObject *args) {
  PyObject *tensors, *gradients, *inputs;
  int keep_graph, create_graph, allow_unreachable, accumulate;
  if (!PyArg_ParseTuple(args, "OOppOpp:run_backward", &tensors, &gradients, &keep_graph, &create_graph, &inputs,
                        &allow_unreachable, &accumulate)) {
    return nullptr;
  }
  if (!expect_tuple(tensors, "tensors") || !expect_tuple(gradients, "grad_tensors")) return nullptr;
  if (inputs != Py_None && !expect_tuple(inputs, "inputs")) return nullptr;
  if (PyTuple_GET_SIZE(tensors) != PyTuple_GET_SIZE(gradients)) {
    PyErr_Format(PyExc_RuntimeError, "got %zd tensors and %zd gradients", PyTuple_GET_SIZE(tensors),
                 PyTuple_GET_SIZE(gradients));
    return nullptr;
  }
  return run_backward(tensors, gradients, inputs == Py_None ? nullptr : inputs,
                      {bool(keep_graph), bool(create_graph), bool(allow_unreachable), bool(accumulate)});
}

// ---------------------------------------------------------------- modes

PyObject *core_set_grad_enabled(PyObject *, PyObject *value) {
  const int enabled = PyObject_IsTrue(value);
  if (enabled < 0) return nullptr;
  const bool previous = thread_state.grad_mode;
  set_grad_enabled(enabled);
  return PyBool_FromLong(previous);
}

PyObject *core_is_grad_enabled(PyObject *, PyObject *) { return PyBool_FromLong(thread_state.grad_mode); }

PyObject *core_set_inference_mode(PyObject *, PyObject *value) {
  const int enabled = PyObject_IsTrue(value);
  if (enabled < 0) return nullptr;
  const bool previous = thread_state.inference;
  set_inference_mode(enabled);
  return PyBool_FromLong(previous);
}

PyObject *core_is_inference_mode_enabled(PyObject *, PyObject *) { return PyBool_FromLong(thread_state.inference); }

PyObject *core_is_inference(PyObject *, PyObject *object) {
  if (tensor_check(object)) return PyBool_FromLong(as_tensor(object)->storage->inference);
  PyErr_Format(PyExc_TypeError, "is_inference(): expected a tensor, got '%s'", Py_TYPE(object)->tp_name);
  return nullptr;
}

// ---------------------------------------------------------------- Python nodes

bool expect_tensors(PyObject *tuple, const char *name) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    PyObject *item = PyTuple_GET_ITEM(tuple, i);
    if (item == Py_None || tensor_check(item)) continue;
    PyErr_Format(PyExc_TypeError, "attach_node(): %s must be tensors or None, but one is of type '%s'", name,
                 Py_TYPE(item)->tp_name);
    return false;
  }
  return true;
}

Tensor *item_or_null(PyObject *tuple, Py_ssize_t i) {
  PyObject *item = PyTuple_GET_ITEM(tuple, i);
  return item == Py_None ? nullptr : as_tensor(item);
}

PyObject *attach_node(PyObject *, PyObject *args) {
  PyObject *callable, *inputs, *outputs;
  const char *name;
  if (!PyArg_ParseTuple(args, "OsO!O!:attach_node", &callable, &name, &PyTuple_Type, &inputs, &PyTuple_Type,
                        &outputs)) {
    return nullptr;
  }
  if (!PyCallable_Check(callable)) {
    PyErr_SetString(PyExc_TypeError, "attach_node(): the backward function must be callable");
    return nullptr;
  }
  if (!expect_tensors(inputs, "inputs") || !expect_tensors(outputs, "outputs")) return nullptr;
  if (!thread_state.grad_enabled) Py_RETURN_NONE;
  PyTypeObject *type = node_type(name);
  const uint32_t input_count = uint32_t(PyTuple_GET_SIZE(inputs)), output_count = uint32_t(PyTuple_GET_SIZE(outputs));
  Ref<Node> node(type ? node_new(NodeKind::Python, type, input_count, output_count) : nullptr);
  if (!node) return nullptr;
  node->callable = Py_NewRef(callable);
  bool wanted = false;
  for (uint32_t i = 0; i < input_count; ++i) {
    if (!edge_of(item_or_null(inputs, i), &node->edges[i])) return nullptr;
    wanted |= node->edges[i].node != nullptr;
  }
  if (!wanted) Py_RETURN_NONE;
  if (!node->metas.allocate(output_count)) return PyErr_NoMemory();
  for (uint32_t j = 0; j < output_count; ++j) {
    Tensor *output = item_or_null(outputs, j);
    if (!output) continue;
    meta_incref(output->meta);
    node->metas[j] = output->meta;
    if (is_differentiable(output->meta->dtype) && tape_set_history(output, node.get(), j) < 0) return nullptr;
  }
  return as_object(node.release());
}

// ---------------------------------------------------------------- tensors changed in place

PyObject *detach_in_place(PyObject *, PyObject *object) {
  if (!tensor_check(object)) {
    PyErr_Format(PyExc_TypeError, "detach_(): expected a tensor, got '%s'", Py_TYPE(object)->tp_name);
    return nullptr;
  }
  return tensor_detach_in_place(as_tensor(object)) < 0 ? nullptr : Py_NewRef(object);
}

PyObject *check_inplace(PyObject *, PyObject *args) {
  PyObject *tensor;
  const char *name;
  if (!PyArg_ParseTuple(args, "O!s:check_inplace", &TensorType, &tensor, &name)) return nullptr;
  if (tape_check_inplace(as_tensor(tensor), name, requires_grad(as_tensor(tensor))) < 0) return nullptr;
  Py_RETURN_NONE;
}

PyObject *take_view(PyObject *, PyObject *args) {
  PyObject *tensor, *view;
  const char *name;
  if (!PyArg_ParseTuple(args, "O!O!s:take_view", &TensorType, &tensor, &TensorType, &view, &name)) return nullptr;
  if (tensor_take_view(as_tensor(tensor), as_tensor(view), name) < 0) return nullptr;
  Py_RETURN_NONE;
}

PyObject *observe_writes(PyObject *, PyObject *observer) {
  ObjectRef previous = ObjectRef::borrow(write_observer ? write_observer : Py_None);
  Py_XSETREF(write_observer, observer == Py_None ? nullptr : Py_NewRef(observer));
  return previous.release();
}

PyMethodDef functions[] = {
    {"detach_in_place", detach_in_place, METH_O, "detach_in_place(tensor): cut the tensor off from its history."},
    {"check_inplace", check_inplace, METH_VARARGS, "check_inplace(tensor, name): raise if the tensor may not be written."},
    {"take_view", take_view, METH_VARARGS,
     "take_view(tensor, view, name): give the tensor the layout and history of a view of it, under another name."},
    {"observe_writes", observe_writes, METH_O,
     "observe_writes(function): in this thread, call it with each tensor that is about to be written; None: no more. "
     "The former function."},
    {"run_backward", core_run_backward, METH_VARARGS,
     "run_backward(tensors, grad_tensors, keep_graph, create_graph, inputs, allow_unreachable, accumulate_grad): "
     "the gradients of inputs, or () when they are accumulated into leaves."},
    {"set_grad_enabled", core_set_grad_enabled, METH_O, "Switch recording on or off in this thread; the former state."},
    {"is_grad_enabled", core_is_grad_enabled, METH_NOARGS, "Are operators recorded for the backward pass?"},
    {"set_inference_mode", core_set_inference_mode, METH_O, "Switch inference mode in this thread; the former state."},
    {"is_inference_mode_enabled", core_is_inference_mode_enabled, METH_NOARGS, "Is inference mode on?"},
    {"is_inference", core_is_inference, METH_O, "Was this tensor made in inference mode?"},
    {"attach_node", attach_node, METH_VARARGS,
     "attach_node(backward, name, inputs, outputs): make outputs depend on inputs through backward(*gradients of "
     "outputs), which returns a tuple with one gradient or None per input. The node, or None if nothing was recorded. "
     "backward.release(), if there is one, is called when the graph is not kept."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

int init_tape(PyObject *module) {
  if (init_node(module) < 0 || init_function(module) < 0 || init_hooks(module) < 0 || init_tools(module) < 0 ||
      init_attributes(module) < 0 || init_engine(module) < 0) {
    return -1;
  }
  return PyModule_AddFunctions(module, functions);
}

}  // namespace rushlight
