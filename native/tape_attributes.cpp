// What nodes show of the values that they saved: node._saved_self, node._saved_result, and under _raw_saved_self a handle
// with register_hooks(pack, unpack). The names are those of the operator's arguments; the first is called self.
#include <cstring>

#include "tape.h"

namespace rushlight {
namespace {

struct SavedTensor {
  PyObject_HEAD
  Node *node;    // strong
  size_t place;  // among what it saved
};

void handle_dealloc(PyObject *self) {
  PyObject_GC_UnTrack(self);
  Py_XDECREF(as_object(reinterpret_cast<SavedTensor *>(self)->node));
  PyObject_GC_Del(self);
}

int handle_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(as_object(reinterpret_cast<SavedTensor *>(self)->node));
  return 0;
}

int handle_clear(PyObject *self) {
  Node *node = reinterpret_cast<SavedTensor *>(self)->node;
  reinterpret_cast<SavedTensor *>(self)->node = nullptr;
  Py_XDECREF(as_object(node));
  return 0;
}

// Where gradients of a saved input go.
bool edge_of_saved(const Node *node, size_t place, Edge *edge) {
  const SavedValue &value = node->saved[place];
  if (node->kind == NodeKind::Python) return edge_of(value.tensor, edge);
  const Recipe *recipe = node->recipe;
  for (size_t k = 0; k < recipe->grad_inputs.size(); ++k) {
    if (recipe->grad_inputs[k] != recipe->saved[place].index) continue;
    *edge = node->edges.items[k];
    Py_XINCREF(as_object(edge->node));
  }
  return true;
}

PyObject *register_hooks(PyObject *self, PyObject *args) {
  PyObject *pack, *unpack;
  if (!PyArg_ParseTuple(args, "OO:register_hooks", &pack, &unpack)) return nullptr;
  if (!PyCallable_Check(pack) || !PyCallable_Check(unpack)) {
    PyErr_SetString(PyExc_TypeError, "register_hooks(): incompatible function arguments: pack_hook and unpack_hook "
                                     "must be callable");
    return nullptr;
  }
  const auto *handle = reinterpret_cast<SavedTensor *>(self);
  Ref<Node> node = Ref<Node>::borrow(handle->node);
  if (!node || handle->place >= node->saved.size()) {
    PyErr_Format(PyExc_RuntimeError, "register_hooks() on a saved tensor after it has been freed: %s", kFreed);
    return nullptr;
  }
  SavedValue value = node->saved[handle->place];
  if (value.object) {
    PyErr_SetString(PyExc_RuntimeError,
                    "register_hooks(): hooks have already been set here, and a saved tensor takes only one pair of "
                    "hooks.");
    return nullptr;
  }
  if (!value.tensor && !value.meta) {
    PyErr_SetString(PyExc_RuntimeError, "register_hooks() on a saved value None: only tensors are packed");
    return nullptr;
  }
  Edge edge{};
  if (value.kind == SavedValue::Input && !edge_of_saved(node.get(), handle->place, &edge)) return nullptr;
  Ref<Node> owned(edge.node);
  ObjectRef hooks(PyTuple_Pack(2, pack, unpack));
  if (!hooks) return nullptr;
  // The pack hook may run the graph: meanwhile what was saved is out of its reach.
  node->saved[handle->place] = SavedValue{value.kind};
  const bool good = saved_pack(value, value.tensor, &edge, hooks.get());
  if (handle->place < node->saved.size()) {
    saved_release(node->saved[handle->place]);
    node->saved[handle->place] = value;
  } else {
    saved_release(value);
  }
  if (!good) return nullptr;
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"register_hooks", register_hooks, METH_VARARGS,
     "register_hooks(pack, unpack): keep what pack(tensor) returns; unpack() of that is the tensor again."},
    {nullptr, nullptr, 0, nullptr}};

PyTypeObject SavedTensorType = {PyVarObject_HEAD_INIT(nullptr, 0)};

// The place of the saved value with this name; -1 if there is none.
int64_t place_of(const Node *node, const char *name) {
  if (node->kind != NodeKind::Recipe || !node->recipe) return -1;
  const std::vector<std::string> &names = node->recipe->saved_names;
  for (size_t k = 0; k < names.size(); ++k) {
    if (names[k] == name && *name) return int64_t(k);
  }
  return -1;
}

}  // namespace

PyObject *raw_saved_tensor(Node *node, size_t place) {
  auto *handle = PyObject_GC_New(SavedTensor, &SavedTensorType);
  if (!handle) return nullptr;
  Py_INCREF(as_object(node));
  handle->node = node;
  handle->place = place;
  PyObject_GC_Track(handle);
  return reinterpret_cast<PyObject *>(handle);
}

PyObject *node_attribute(PyObject *self, PyObject *name) {
  PyObject *found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  const char *text = PyUnicode_AsUTF8(name);
  const bool raw = text && std::strncmp(text, "_raw_saved_", 11) == 0;
  if (!raw && (!text || std::strncmp(text, "_saved_", 7) != 0)) return nullptr;
  Node *node = reinterpret_cast<Node *>(self);
  const int64_t place = place_of(node, text + (raw ? 11 : 7));
  if (place < 0) return nullptr;
  PyErr_Clear();
  if (raw) return raw_saved_tensor(node, size_t(place));
  if (node->released || size_t(place) >= node->saved.size()) {
    PyErr_SetString(PyExc_RuntimeError, kFreed);
    return nullptr;
  }
  return saved_unpack(node, node->saved[size_t(place)]);
}

int init_attributes(PyObject *module) {
  SavedTensorType.tp_name = "rushlight._core.SavedTensor";
  SavedTensorType.tp_doc = "A value that a node keeps for the backward pass.";
  SavedTensorType.tp_basicsize = sizeof(SavedTensor);
  SavedTensorType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  SavedTensorType.tp_dealloc = handle_dealloc;
  SavedTensorType.tp_traverse = handle_traverse;
  SavedTensorType.tp_clear = handle_clear;
  SavedTensorType.tp_methods = methods;
  if (PyType_Ready(&SavedTensorType) < 0) return -1;
  return PyModule_AddObjectRef(module, "SavedTensor", reinterpret_cast<PyObject *>(&SavedTensorType));
}

}  // namespace rushlight
