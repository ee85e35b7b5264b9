// The Node type: pooled allocation, garbage collection, deallocation of long chains, attributes seen from Python.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>
#include <unordered_map>

#include "tape.h"

namespace rushlight {
namespace {

constexpr size_t kPoolSize = 8192;
Node *pool[kPoolSize];
size_t pooled = 0;
uint64_t next_sequence = 0;

void release_edges(Node *node) {
  for (Edge &edge : node->edges) {
    Node *next = edge.node;
    edge.node = nullptr;
    Py_XDECREF(as_object(next));
  }
}

void release_extras(Node *node) {
  NodeExtras *extras = node->extras;
  if (!extras) return;
  node->extras = nullptr;
  for (auto &entry : extras->tensors) {
    Py_XDECREF(entry.hooks);
    Py_XDECREF(entry.retained);
  }
  Py_XDECREF(extras->before);
  Py_XDECREF(extras->after);
  Py_XDECREF(extras->metadata);
  delete extras;
}

// A leaf knows its accumulator without owning it.
void forget_accumulator(Node *node) {
  if (node->kind != NodeKind::Accumulate || !node->leaf || !node->leaf->autograd) return;
  if (node->leaf->autograd->accumulator == node) node->leaf->autograd->accumulator = nullptr;
}

void release_saved(Node *node) {
  std::vector<SavedValue> saved;
  saved.swap(node->saved);
  for (SavedValue &value : saved) saved_release(value);
}

// References that can be part of a cycle.
void release_references(Node *node) {
  release_edges(node);
  release_saved(node);
  release_extras(node);
  if (node->kind == NodeKind::Accumulate) {
    Tensor *leaf = node->leaf;
    node->leaf = nullptr;
    Py_XDECREF(leaf);
  } else if (node->kind == NodeKind::Python) {
    Py_CLEAR(node->callable);
  } else if (node->kind == NodeKind::CopySlices && node->slices) {
    CopySlices *slices = node->slices;
    node->slices = nullptr;
    Py_XDECREF(as_object(slices->function));
    meta_decref(slices->view_meta);
    delete slices;
  }
}

void destroy(Node *node) {
  release_references(node);
  if (node->kind == NodeKind::Recipe && node->recipe) recipe_decref(node->recipe);
  if (node->kind == NodeKind::View && node->base_meta) meta_decref(node->base_meta);
  for (Meta *meta : node->metas) {
    if (meta) meta_decref(meta);
  }
  node->edges.release();
  node->metas.release();
  node->saved.~vector();
  node->arguments.~vector();
  PyTypeObject *type = Py_TYPE(as_object(node));
  if (node->custom) {
    PyObject_GC_Del(node);
  } else if (pooled < kPoolSize) {
    pool[pooled++] = node;
  } else {
    PyObject_GC_Del(node);
  }
  Py_DECREF(type);
}

// Nodes that die while another dies in the same thread wait in a list, so that freeing a long chain does not recurse.
// (Other threads may run meanwhile, and fork: what they let go must not wait for this one.)
constinit thread_local Node *dying = nullptr;
constinit thread_local bool destroying = false;

void node_dealloc(PyObject *self) {
  PyObject_GC_UnTrack(self);
  Node *node = reinterpret_cast<Node *>(self);
  forget_accumulator(node);
  node->next_dying = dying;
  dying = node;
  if (destroying) return;
  destroying = true;
  while (dying) {
    Node *next = dying;
    dying = next->next_dying;
    destroy(next);
  }
  destroying = false;
}

int node_traverse(PyObject *self, visitproc visit, void *arg) {
  Node *node = reinterpret_cast<Node *>(self);
  if (!node->custom) Py_VISIT(Py_TYPE(self));  // else subtype_traverse() visits it
  for (Edge &edge : node->edges) Py_VISIT(as_object(edge.node));
  for (SavedValue &value : node->saved) {
    Py_VISIT(as_object(value.tensor));
    Py_VISIT(value.object);
  }
  if (node->kind == NodeKind::Accumulate) Py_VISIT(as_object(node->leaf));
  if (node->kind == NodeKind::Python) Py_VISIT(node->callable);
  if (node->kind == NodeKind::CopySlices && node->slices) Py_VISIT(as_object(node->slices->function));
  if (NodeExtras *extras = node->extras) {
    for (auto &entry : extras->tensors) {
      Py_VISIT(entry.hooks);
      Py_VISIT(entry.retained);
    }
    Py_VISIT(extras->before);
    Py_VISIT(extras->after);
    Py_VISIT(extras->metadata);
  }
  return 0;
}

int node_clear(PyObject *self) {
  Node *node = reinterpret_cast<Node *>(self);
  forget_accumulator(node);
  release_references(node);
  return 0;
}

PyObject *node_repr(PyObject *self) {
  return PyUnicode_FromFormat("<%s object at %p>", node_name(reinterpret_cast<Node *>(self)), self);
}

// ---------------------------------------------------------------- attributes

PyObject *method_name(PyObject *self, PyObject *) {
  const Node *node = reinterpret_cast<Node *>(self);
  const bool of_engine = node->kind == NodeKind::Accumulate || node->kind == NodeKind::CopySlices;
  return PyUnicode_FromFormat("%s%s", of_engine ? "torch::autograd::" : "", node_name(node));  // as PyTorch says
}

PyObject *get_next_functions(PyObject *self, void *) {
  Node *node = reinterpret_cast<Node *>(self);
  const uint32_t count = operand_count(node);
  ObjectRef result(PyTuple_New(count));
  for (uint32_t k = 0; result && k < node->edges.count; ++k) {
    const Edge &edge = node->edges[k];
    PyObject *pair = Py_BuildValue("(OI)", edge.node ? as_object(edge.node) : Py_None, edge.index);
    if (!pair || PyTuple_SetItem(result.get(), Py_ssize_t(operand_of(node, k)), pair) < 0) return nullptr;
  }
  for (uint32_t i = 0; result && i < count; ++i) {
    if (PyTuple_GET_ITEM(result.get(), i)) continue;
    PyObject *pair = Py_BuildValue("(Oi)", Py_None, 0);
    if (!pair) return nullptr;
    PyTuple_SET_ITEM(result.get(), i, pair);
  }
  return result.release();
}

PyObject *get_metadata(PyObject *self, void *) {
  NodeExtras *extras = node_extras(reinterpret_cast<Node *>(self));
  if (!extras) return nullptr;
  if (!extras->metadata) extras->metadata = PyDict_New();
  return Py_XNewRef(extras->metadata);
}

PyObject *get_requires_grad(PyObject *, void *) { Py_RETURN_TRUE; }

PyObject *get_variable(PyObject *self, void *) {
  Node *node = reinterpret_cast<Node *>(self);
  if (node->kind != NodeKind::Accumulate) {
    PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute 'variable'", node_name(node));
    return nullptr;
  }
  return Py_NewRef(node->leaf ? as_object(node->leaf) : Py_None);
}

PyObject *method_sequence(PyObject *self, PyObject *) {
  return PyLong_FromUnsignedLongLong(reinterpret_cast<Node *>(self)->sequence);
}

PyObject *register_in(PyObject *NodeExtras::*slot, PyObject *self, PyObject *function) {
  NodeExtras *extras = node_extras(reinterpret_cast<Node *>(self));
  if (!extras) return nullptr;
  if (!(extras->*slot) && !(extras->*slot = new_hooks())) return nullptr;
  return add_hook(extras->*slot, function);
}

PyObject *method_register_hook(PyObject *self, PyObject *function) {
  return register_in(&NodeExtras::after, self, function);
}

PyObject *method_register_prehook(PyObject *self, PyObject *function) {
  return register_in(&NodeExtras::before, self, function);
}

PyMethodDef methods[] = {
    {"name", method_name, METH_NOARGS, "The name of the operation, such as AddBackward0."},
    {"register_hook", method_register_hook, METH_O,
     "Call function(grad_inputs, grad_outputs) after this node ran; it may return other grad_inputs."},
    {"register_prehook", method_register_prehook, METH_O,
     "Call function(grad_outputs) before this node runs; it may return other grad_outputs."},
    {"_sequence_nr", method_sequence, METH_NOARGS, "Nodes made later have higher numbers and run first."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
    {"next_functions", get_next_functions, nullptr, "Pairs (node, index) that take this node's results.", nullptr},
    {"metadata", get_metadata, nullptr, "A dictionary for the user's notes.", nullptr},
    {"requires_grad", get_requires_grad, nullptr, "Always true.", nullptr},
    {"variable", get_variable, nullptr, "The leaf tensor whose gradient an AccumulateGrad node adds to.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// Names are few: those of operators and of the user's autograd functions.
std::unordered_map<std::string, PyTypeObject *> &types() {
  static auto *table = new std::unordered_map<std::string, PyTypeObject *>();
  return *table;
}

}  // namespace

PyTypeObject NodeType = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyTypeObject *node_type(const char *name) {
  auto found = types().find(name);
  if (found != types().end()) return found->second;
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void *>(node_dealloc)},
                                {Py_tp_traverse, reinterpret_cast<void *>(node_traverse)},
                                {Py_tp_clear, reinterpret_cast<void *>(node_clear)},
                                {0, nullptr}};
  const std::string full = std::string("rushlight.autograd.") + name;
  PyType_Spec spec = {full.c_str(), sizeof(Node), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  PyObject *type = PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject *>(&NodeType));
  if (type) types().emplace(name, reinterpret_cast<PyTypeObject *>(type));
  return reinterpret_cast<PyTypeObject *>(type);
}

const char *node_name(const Node *node) {
  const char *full = Py_TYPE(as_object(node))->tp_name;
  const char *dot = std::strrchr(full, '.');
  return dot ? dot + 1 : full;
}

void node_initialize(Node *node, NodeKind kind, uint32_t inputs) {
  node->sequence = kind == NodeKind::Accumulate ? UINT64_MAX : next_sequence++;
  node->kind = kind;
  node->view_kind = ViewKind::Alias;
  node->released = node->shared = node->custom = false;
  node->accumulating = 0;
  node->accumulating_forks = 0;
  node->input_count = inputs;
  new (&node->saved) std::vector<SavedValue>();
  new (&node->arguments) std::vector<int64_t>();
  node->recipe = nullptr;
  node->extras = nullptr;
  node->edges.items = nullptr;
  node->edges.count = 0;
  node->metas.items = nullptr;
  node->metas.count = 0;
}

Node *node_new(NodeKind kind, PyTypeObject *type, uint32_t edges, uint32_t inputs) {
  Node *node;
  if (pooled) {
    node = pool[--pooled];
    PyObject_Init(as_object(node), type);
  } else {
    node = PyObject_GC_New(Node, type);
    if (!node) return nullptr;
  }
  node_initialize(node, kind, inputs);
  const bool allocated = node->edges.allocate(edges);
  PyObject_GC_Track(node);
  if (!allocated) {
    Py_DECREF(as_object(node));
    PyErr_NoMemory();
    return nullptr;
  }
  if (anomaly_mode && kind != NodeKind::Accumulate && !anomaly_record(node)) {
    Py_DECREF(as_object(node));
    return nullptr;
  }
  return node;
}

NodeExtras *node_extras(Node *node) {
  if (!node->extras) node->extras = new (std::nothrow) NodeExtras();
  if (!node->extras) PyErr_NoMemory();
  return node->extras;
}

bool node_holds_tensors(const Node *node) {
  // PyTorch keeps the number that a tensor is multiplied with as a tensor.
  static const std::string_view with_tensors[] = {"MulBackward0", "DivBackward0", "DivBackward1"};
  const bool recipe = node->kind == NodeKind::Recipe && node->recipe;
  if (recipe && std::find(std::begin(with_tensors), std::end(with_tensors), node->recipe->name) !=
                    std::end(with_tensors)) {
    return true;
  }
  return std::any_of(node->saved.begin(), node->saved.end(),
                     [](const SavedValue &value) { return value.kind != SavedValue::Object; });
}

void node_release_saved(Node *node) {
  node->released = true;
  release_saved(node);
}

void recipe_decref(Recipe *recipe) {
  if (--recipe->references > 0) return;
  Py_XDECREF(recipe->make);
  for (auto &[wanted, op] : recipe->operators) Py_DECREF(op);
  delete recipe;
}

int init_node(PyObject *module) {
  NodeType.tp_name = "rushlight._core.Node";
  NodeType.tp_doc = "A step of the backward pass.";
  NodeType.tp_basicsize = sizeof(Node);
  NodeType.tp_flags =
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  NodeType.tp_dealloc = node_dealloc;
  NodeType.tp_traverse = node_traverse;
  NodeType.tp_clear = node_clear;
  NodeType.tp_repr = node_repr;
  NodeType.tp_call = node_call;
  NodeType.tp_getattro = node_attribute;
  NodeType.tp_methods = methods;
  NodeType.tp_getset = properties;
  if (PyType_Ready(&NodeType) < 0) return -1;
  return PyModule_AddObjectRef(module, "Node", reinterpret_cast<PyObject *>(&NodeType));
}

}  // namespace rushlight
