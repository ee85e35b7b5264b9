// Values that a node keeps for the backward pass.
#include "tape.h"

namespace rushlight {
namespace {

std::string describe(const Meta *meta) {
  return std::string("torch.") + dtype_scalar_name(meta->dtype) + "Tensor " + format_ints(meta->sizes(), meta->ndim);
}

PyObject *raise_modified(Node *node, const SavedValue &value, const Meta *meta, uint32_t version) {
  std::string origin;
  if (value.kind != SavedValue::Input) {
    origin = ", which is output " + std::to_string(value.output_index) + " of " + node_name(node);
  } else if (value.tensor && value.tensor->autograd && value.tensor->autograd->grad_fn) {
    const Autograd *a = value.tensor->autograd;
    origin = ", which is output " + std::to_string(a->output_index) + " of " + node_name(a->grad_fn);
  }
  PyErr_Format(PyExc_RuntimeError,
               "a tensor that the backward pass needs has been modified by an inplace operation: [%s]%s, is at version "
               "%u; expected version %u. It was saved by %s. To see the line of that call, run the program with "
               "torch.autograd.set_detect_anomaly(True).",
               describe(meta).c_str(), origin.c_str(), version, value.version, node_name(node));
  return nullptr;
}

PyObject *raise_detached(Node *node, const Meta *meta) {
  if (PyErr_Occurred()) return nullptr;  // a view whose history cannot be told any more
  PyErr_Format(PyExc_RuntimeError,
               "a saved tensor has been detached in-place, with .detach_(): [%s], saved by %s. Its history is lost; "
               "use `.detach()`, which leaves the tensor as it is", describe(meta).c_str(),
               node_name(node));
  return nullptr;
}

// A new tensor over the saved memory; under create_graph it carries the edge to the node that made it.
PyObject *rebuild(Node *node, const SavedValue &value) {
  meta_incref(value.meta);
  storage_incref(value.storage);
  TensorRef t(tensor_new(value.meta, value.storage, value.data));
  if (!t) return nullptr;
  const Edge edge = value.kind == SavedValue::Input ? Edge{} : saved_edge(node, value.output_index);
  if (edge.node && thread_state.grad_enabled && is_differentiable(value.meta->dtype) &&
      tape_set_history(t.get(), edge.node, edge.index) < 0) {
    return nullptr;
  }
  return as_object(t.release());
}

}  // namespace

const char kFreed[] =
    "Trying to backward through the graph a second time: what it saved went when it was first used, and tensors cannot "
    "be read after they have already been freed. Pass retain_graph=True to the first backward() or grad().";

Edge saved_edge(Node *node, uint32_t index) {
  if (index < node->input_count) return {node, index};
  const uint32_t copied = index - node->input_count;
  return copied < node->edges.count ? node->edges[copied] : Edge{};
}

void saved_release(SavedValue &value) {
  Py_CLEAR(value.tensor);
  Py_CLEAR(value.object);
  if (value.meta) meta_decref(value.meta);
  if (value.storage) storage_decref(value.storage);
  value.meta = nullptr;
  value.storage = nullptr;
}

bool saved_pack_check(const SavedValue &value) {
  const Storage *storage = value.tensor ? value.tensor->storage : nullptr;
  if (value.kind != SavedValue::Input || !storage || !storage->inference) return true;
  PyErr_SetString(PyExc_RuntimeError,
                  "Inference tensors cannot be saved for backward: nothing notes when they change. Use a clone(), or "
                  "make the tensor under torch.no_grad().");
  return false;
}

PyObject *saved_unpack(Node *node, const SavedValue &value) {
  if (value.kind == SavedValue::Object) return Py_NewRef(value.object ? value.object : Py_None);
  if (value.object) return saved_unpack_hooked(node, value);
  if (value.tensor) {
    const uint32_t version = value.tensor->storage->version;
    if (version != value.version) return raise_modified(node, value, value.tensor->meta, version);
    // A function of the user's gets it as it is now.
    if (value.computed && !node->custom && !tape_grad_fn(value.tensor)) {
      return raise_detached(node, value.tensor->meta);
    }
    return Py_NewRef(as_object(value.tensor));
  }
  if (!value.meta) Py_RETURN_NONE;
  if (value.storage->version != value.version) return raise_modified(node, value, value.meta, value.storage->version);
  return rebuild(node, value);
}

}  // namespace rushlight
