// FunctionNode: the base of the classes that are both the node and the ctx of a user's autograd.Function.
#include "tape.h"

namespace rushlight {
namespace {

PyTypeObject FunctionNodeType = {PyVarObject_HEAD_INIT(nullptr, 0)};

Node *as_node(PyObject *self) { return reinterpret_cast<Node *>(self); }

PyObject *function_new(PyTypeObject *type, PyObject *, PyObject *) {
  PyObject *self = type->tp_alloc(type, 0);  // zeroed
  if (!self) return nullptr;
  node_initialize(as_node(self), NodeKind::Python, 0);
  as_node(self)->custom = true;
  if (anomaly_mode && !anomaly_record(as_node(self))) {
    Py_DECREF(self);
    return nullptr;
  }
  return self;
}

// subtype_dealloc() gives up its reference to the type when this returns, and the node may wait to be destroyed.
void function_dealloc(PyObject *self) {
  Py_INCREF(reinterpret_cast<PyObject *>(Py_TYPE(self)));
  NodeType.tp_dealloc(self);
}

bool expect_tuple(PyObject *object) {
  if (PyTuple_Check(object)) return true;
  PyErr_Format(PyExc_TypeError, "expected a tuple, got '%s'", Py_TYPE(object)->tp_name);
  return false;
}

PyObject *connect(PyObject *self, PyObject *inputs) {
  Node *node = as_node(self);
  if (!expect_tuple(inputs)) return nullptr;
  const uint32_t count = uint32_t(PyTuple_GET_SIZE(inputs));
  if (node->edges.count || !node->edges.allocate(count)) return PyErr_NoMemory();
  for (uint32_t i = 0; i < count; ++i) {
    PyObject *item = PyTuple_GET_ITEM(inputs, i);
    if (!edge_of(tensor_check(item) ? as_tensor(item) : nullptr, &node->edges[i])) return nullptr;
  }
  Py_RETURN_NONE;
}

PyObject *describe_outputs(PyObject *self, PyObject *outputs) {
  Node *node = as_node(self);
  if (!expect_tuple(outputs)) return nullptr;
  const uint32_t count = uint32_t(PyTuple_GET_SIZE(outputs));
  if (node->metas.count || !node->metas.allocate(count)) return PyErr_NoMemory();
  node->input_count = count;
  for (uint32_t j = 0; j < count; ++j) {
    PyObject *item = PyTuple_GET_ITEM(outputs, j);
    if (!tensor_check(item)) continue;
    meta_incref(as_tensor(item)->meta);
    node->metas[j] = as_tensor(item)->meta;
  }
  Py_RETURN_NONE;
}

// attach(tensor, index, written, edge): the tensor is output `index`; `written`: an input that was changed in place,
// to whose former value edge number `edge` leads.
PyObject *attach(PyObject *self, PyObject *args) {
  PyObject *tensor;
  unsigned index;
  int written, edge;
  if (!PyArg_ParseTuple(args, "O!Ipi:attach", &TensorType, &tensor, &index, &written, &edge)) return nullptr;
  Node *node = as_node(self);
  Tensor *t = as_tensor(tensor);
  if (index >= node->input_count || edge >= int(node->edges.count)) {
    PyErr_SetString(PyExc_IndexError, "attach(): the function has fewer inputs or outputs");
    return nullptr;
  }
  if (written && t->autograd && t->autograd->requires_grad && !t->autograd->grad_fn) {
    PyErr_SetString(PyExc_RuntimeError, "a leaf Variable that requires grad cannot be written in place by a Function: "
                    "it has no history that could hold the change. Pass a copy, as x.clone().");
    return nullptr;
  }
  if (written && t->autograd && t->autograd->grad_fn) {  // of the former value; also if the write is refused
    Py_CLEAR(t->autograd->grad);
    Py_CLEAR(t->autograd->hooks);
  }
  if (written && tape_check_inplace(t, node_name(node), true) < 0) return nullptr;
  if ((written ? tape_write_history(t, node, index, edge) : tape_set_history(t, node, index)) < 0) return nullptr;
  if (!written && t->autograd->base) {
    uint32_t outputs = 0;
    for (const Meta *meta : node->metas) outputs += meta && is_differentiable(meta->dtype);
    t->autograd->origin = outputs > 1 ? ViewOrigin::SeveralViews : ViewOrigin::Function;
  }
  Py_RETURN_NONE;
}

bool save_one(Node *node, PyObject *item, SavedValue &value) {
  value.kind = SavedValue::Input;
  if (item == Py_None) return true;
  Tensor *t = as_tensor(item);
  value.version = t->storage->version;
  if (t->autograd && t->autograd->grad_fn == node) {  // keeping the tensor itself would be a cycle
    value.kind = SavedValue::Output;
    value.output_index = t->autograd->output_index;
    value.meta = t->meta;
    value.storage = t->storage;
    value.data = t->data;
    meta_incref(value.meta);
    storage_incref(value.storage);
  } else {
    value.tensor = t;
    value.computed = t->autograd && t->autograd->grad_fn;
    Py_INCREF(item);
  }
  if (!saved_pack_check(value)) return false;
  if (!saved_hooks) return true;
  Edge edge{};
  if (value.kind == SavedValue::Input && !edge_of(t, &edge)) return false;
  Ref<Node> owned(edge.node);
  return saved_pack(value, t, &edge, saved_hooks);
}

PyObject *save(PyObject *self, PyObject *tensors) {
  Node *node = as_node(self);
  if (!expect_tuple(tensors)) return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors); ++i) {
    PyObject *item = PyTuple_GET_ITEM(tensors, i);
    if (item != Py_None && !tensor_check(item)) {
      PyErr_Format(PyExc_TypeError, "save_for_backward can only save variables, but argument %zd is of type %s", i,
                   Py_TYPE(item)->tp_name);
      return nullptr;
    }
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors); ++i) {
    SavedValue value{};
    const bool good = save_one(node, PyTuple_GET_ITEM(tensors, i), value);
    if (good) {
      try {
        node->saved.push_back(value);
        continue;
      } catch (const std::bad_alloc &) {
        PyErr_NoMemory();
      }
    }
    saved_release(value);
    return nullptr;
  }
  Py_RETURN_NONE;
}

PyObject *get_saved_tensors(PyObject *self, void *) {
  Node *node = as_node(self);
  if (node->released) {
    PyErr_SetString(PyExc_RuntimeError, kFreed);
    return nullptr;
  }
  const size_t count = node->saved.size();
  ObjectRef result(PyTuple_New(Py_ssize_t(count)));
  for (size_t i = 0; result && i < count; ++i) {
    if (i >= node->saved.size()) {  // an unpack hook ran a backward pass that freed them
      PyErr_SetString(PyExc_RuntimeError, kFreed);
      return nullptr;
    }
    PyObject *item = saved_unpack(node, node->saved[i]);
    if (!item) return nullptr;
    PyTuple_SET_ITEM(result.get(), Py_ssize_t(i), item);
  }
  return result.release();
}

PyObject *get_raw_saved_tensors(PyObject *self, void *) {
  Node *node = as_node(self);
  if (node->released) {
    PyErr_SetString(PyExc_RuntimeError, kFreed);
    return nullptr;
  }
  const size_t count = node->saved.size();
  ObjectRef result(PyTuple_New(Py_ssize_t(count)));
  for (size_t i = 0; result && i < count; ++i) {
    PyObject *item = raw_saved_tensor(node, i);
    if (!item) return nullptr;
    PyTuple_SET_ITEM(result.get(), Py_ssize_t(i), item);
  }
  return result.release();
}

PyObject *zeros(PyObject *self, PyObject *number) {
  Node *node = as_node(self);
  const unsigned long index = PyLong_AsUnsignedLong(number);
  if (PyErr_Occurred()) return nullptr;
  const Meta *meta = index < node->metas.count ? node->metas[index] : nullptr;
  if (!meta) Py_RETURN_NONE;
  TensorRef t = tensor_contiguous(meta->dtype, meta->device, {meta->sizes(), meta->sizes() + meta->ndim}, true);
  return t ? as_object(t.release()) : nullptr;
}

PyObject *is_view(PyObject *, PyObject *object) {
  const Autograd *a = tensor_check(object) ? as_tensor(object)->autograd : nullptr;
  return PyBool_FromLong(a && a->base);
}

PyMethodDef functions[] = {
    {"is_differentiable_view", is_view, METH_O, "Is the tensor a view whose writes reach another tensor's history?"},
    {nullptr, nullptr, 0, nullptr}};

PyObject *drop_saved(PyObject *self, PyObject *) {
  std::vector<SavedValue> saved;
  saved.swap(as_node(self)->saved);
  for (SavedValue &value : saved) saved_release(value);
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"_drop_saved", drop_saved, METH_NOARGS, "_drop_saved(): keep nothing of what was saved."},
    {"_connect", connect, METH_O, "_connect(inputs): gradients go to these tensors."},
    {"_describe_outputs", describe_outputs, METH_O, "_describe_outputs(outputs): what gradients must look like."},
    {"_attach", attach, METH_VARARGS, "_attach(tensor, index, written, edge): the tensor is output number index."},
    {"_save", save, METH_O, "_save(tensors): keep these tensors for the backward pass."},
    {"_zeros", zeros, METH_O, "_zeros(index): zeros for an output that has no gradient; None if it is no tensor."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
    {"saved_tensors", get_saved_tensors, nullptr, "What save_for_backward() was given.", nullptr},
    {"_raw_saved_tensors", get_raw_saved_tensors, nullptr, "Handles on these: register_hooks(pack, unpack).", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

int init_function(PyObject *module) {
  FunctionNodeType.tp_name = "rushlight._core.FunctionNode";
  FunctionNodeType.tp_doc = "A node whose gradients a Python class computes: its method _backward(*gradients).";
  FunctionNodeType.tp_basicsize = sizeof(Node);
  FunctionNodeType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  FunctionNodeType.tp_base = &NodeType;
  FunctionNodeType.tp_new = function_new;
  FunctionNodeType.tp_dealloc = function_dealloc;
  FunctionNodeType.tp_traverse = NodeType.tp_traverse;
  FunctionNodeType.tp_clear = NodeType.tp_clear;
  FunctionNodeType.tp_getattro = PyObject_GenericGetAttr;  // which the interpreter knows to speed up
  FunctionNodeType.tp_methods = methods;
  FunctionNodeType.tp_getset = properties;
  if (PyType_Ready(&FunctionNodeType) < 0 || PyModule_AddFunctions(module, functions) < 0) return -1;
  return PyModule_AddObjectRef(module, "FunctionNode", reinterpret_cast<PyObject *>(&FunctionNodeType));
}

}  // namespace rushlight
