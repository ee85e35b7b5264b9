// Recording: nodes for operators and views, and what a write in place does to the history of tensors.
#include "tape.h"

namespace rushlight {

constinit thread_local ThreadState thread_state;

void set_grad_enabled(bool enabled) {
  thread_state.grad_enabled = enabled;
  thread_state.mode_bits = (thread_state.mode_bits & ~1u) | uint32_t(enabled);
}

GradMode::GradMode(bool enabled) : previous_(thread_state.grad_enabled) { set_grad_enabled(enabled); }
GradMode::~GradMode() { set_grad_enabled(previous_); }

namespace {

const char kNoGradView[] =
    "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case "
    "is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace "
    "either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want "
    "the inplace to be tracked).";

// A view that a user's Function returned is being written, or (indirectly) its base was.
void raise_function_view(const Node *node, uint32_t output, bool indirectly) {
  std::string name = node_name(node);
  if (name.ends_with("Backward")) name.resize(name.size() - std::string("Backward").size());
  uint32_t outputs = 0;
  for (uint32_t i = 0; i < node->metas.count; ++i) {
    const Meta *meta = node->metas.items[i];
    outputs += meta && is_differentiable(meta->dtype);
  }
  const char *why =
      outputs > 1 ? "This view is the output of a function that returns multiple views. Such functions do not allow "
                    "the output views to be modified inplace. You should replace the inplace operation by an "
                    "out-of-place one."
                  : "This view was created inside a custom Function (or because an input was returned as-is) and the "
                    "autograd logic to handle view+inplace would override the custom backward associated with the "
                    "custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by "
                    "cloning the output of the custom Function.";
  PyErr_Format(PyExc_RuntimeError, "Output %u of %s is a view and %s modified inplace. %s", output, name.c_str(),
               indirectly ? "its base or another view of its base has been" : "is being", why);
}

void release_all(std::vector<SavedValue> &saved) {
  for (SavedValue &value : saved) saved_release(value);
  saved.clear();
}

bool set_metas(Node *node, std::initializer_list<Meta *> metas) {
  if (!node->metas.allocate(uint32_t(metas.size()))) {
    PyErr_NoMemory();
    return false;
  }
  uint32_t i = 0;
  for (Meta *meta : metas) {
    meta_incref(meta);
    node->metas[i++] = meta;
  }
  return true;
}

// Does the view still show its base's memory, element for element? (Not after base.data = ... or view(dtype).)
bool shows_base(const Tensor *view) {
  const Tensor *base = view->autograd->base;
  return view->storage == base->storage && view->meta->dtype == base->meta->dtype;
}

int64_t offset_from_base(const Tensor *view) {
  return (view->data - view->autograd->base->data) / itemsize(view->meta->dtype);
}

Tensor *weakly_held(PyObject *weak) {  // borrowed; the GIL keeps it alive long enough to compare
#if PY_VERSION_HEX >= 0x030D0000
  PyObject *object = nullptr;
  if (PyWeakref_GetRef(weak, &object) < 0) PyErr_Clear();
  Py_XDECREF(object);
#else
  PyObject *object = PyWeakref_GetObject(weak);
#endif
  return reinterpret_cast<Tensor *>(object);
}

// What retain_grad() asked for follows the tensor to its new history.
int move_retained(Tensor *t, Node *to, uint32_t index) {
  Autograd *a = t->autograd;
  if (!a->retains_grad || !a->grad_fn || !a->grad_fn->extras) return 0;
  for (auto &entry : a->grad_fn->extras->tensors) {
    if (entry.index != a->output_index || !entry.retained || weakly_held(entry.retained) != t) continue;
    PyObject *weak = entry.retained;
    entry.retained = nullptr;
    auto *target = tensor_hooks(to, index);
    if (target) {
      Py_XSETREF(target->retained, weak);
    } else {
      Py_DECREF(weak);
      return -1;
    }
    return 0;
  }
  return 0;
}

// A new grad_fn for a view whose base was written since: the base's history, then the view as an as_strided of it.
int regenerate_view(Tensor *view) {
  Autograd *a = view->autograd;
  Edge edge{};
  if (!edge_of(a->base, &edge)) return -1;
  Ref<Node> owned_next(edge.node);
  Ref<Node> node;
  if (edge.node) {
    PyTypeObject *type = node_type("AsStridedBackward0");
    if (!type) return -1;
    node = Ref<Node>(node_new(NodeKind::View, type, 1, 1));
    if (!node || !set_metas(node.get(), {view->meta})) return -1;
    node->view_kind = ViewKind::AsStrided;
    node->arguments.assign(1, offset_from_base(view));
    node->base_meta = a->base->meta;
    meta_incref(node->base_meta);
    node->edges[0] = {owned_next.release(), edge.index};
    if (move_retained(view, node.get(), 0) < 0) return -1;
  }
  Node *old = a->grad_fn;
  a->grad_fn = node.release();
  a->output_index = 0;
  a->view_version = view->storage->version;
  Py_XDECREF(as_object(old));
  return 0;
}

// Output `output` of `node` was written into a view, to whose former value the node's edge `self_edge` leads (-1: none).
// The base gets a new history that runs through the node.
int rebase_view(Node *node, uint32_t output, Tensor *view, int32_t self_edge) {
  Tensor *base = view->autograd->base;
  if (const Autograd *a = view->autograd; a->no_grad_view) {
    if (a->grad_fn && a->grad_fn->custom) {
      raise_function_view(a->grad_fn, a->output_index, false);
    } else {
      PyErr_SetString(PyExc_RuntimeError, kNoGradView);
    }
    return -1;
  }
  PyTypeObject *type = node_type("CopySlices");
  if (!type) return -1;
  // Edges: the base's former history, then those of the node except its own.
  const uint32_t kept = node->edges.count - (self_edge >= 0 ? 1 : 0);
  Ref<Node> copy(node_new(NodeKind::CopySlices, type, 1 + kept, 1));
  if (!copy || !set_metas(copy.get(), {base->meta}) || !edge_of(base, &copy->edges[0])) return -1;
  uint32_t next = 1;
  for (uint32_t k = 0; k < node->edges.count; ++k) {
    if (int32_t(k) == self_edge) continue;
    Py_XINCREF(as_object(node->edges[k].node));
    copy->edges[next++] = node->edges[k];
  }
  copy->slices = new (std::nothrow) CopySlices{node, output, self_edge, view->meta, offset_from_base(view)};
  if (!copy->slices) {
    PyErr_NoMemory();
    return -1;
  }
  Py_INCREF(as_object(node));
  node->shared = true;
  meta_incref(view->meta);
  if (tape_set_history(base, copy.get(), 0) < 0) return -1;
  view->autograd->view_version = view->storage->version - 1;  // stale: tape_grad_fn makes its history when asked
  return view->autograd->retains_grad ? regenerate_view(view) : 0;
}

const char *view_name(ViewKind kind) {
  switch (kind) {
    case ViewKind::Reshape: return "ViewBackward0";
    case ViewKind::Permute: return "PermuteBackward0";
    case ViewKind::Expand: return "ExpandBackward0";
    case ViewKind::Slice: return "SliceBackward0";
    case ViewKind::Select: return "SelectBackward0";
    case ViewKind::Unsqueeze: return "UnsqueezeBackward0";
    case ViewKind::Squeeze: return "SqueezeBackward0";
    case ViewKind::AsStrided: return "AsStridedBackward0";
    case ViewKind::Detach: return "DetachBackward0";
    case ViewKind::Alias: return "AliasBackward0";
  }
  return "ViewBackward0";
}

// Indices under which consumers of saved values report gradients: outputs first, then hidden values.
void number_saved(const Recipe *recipe, Node *node) {
  uint32_t hidden = uint32_t(recipe->grad_outputs.size());
  for (size_t k = 0; k < node->saved.size(); ++k) {
    SavedValue &value = node->saved[k];
    if (value.kind == SavedValue::Hidden) {
      value.output_index = hidden++;
    } else if (value.kind == SavedValue::Output) {
      value.output_index = UINT32_MAX;  // not differentiable
      for (size_t j = 0; j < recipe->grad_outputs.size(); ++j) {
        if (recipe->grad_outputs[j] == recipe->saved[k].index) value.output_index = uint32_t(j);
      }
    }
  }
}

int32_t edge_to(const Tensor *t, const Recipe *recipe, Tensor *const *inputs) {
  for (size_t k = 0; k < recipe->grad_inputs.size(); ++k) {
    if (inputs[recipe->grad_inputs[k]] == t) return int32_t(k);
  }
  return -1;
}

int attach_output(Recipe *recipe, Node *node, uint32_t output, Tensor *t, Tensor *const *inputs) {
  Autograd *a = tensor_autograd(t);
  if (!a) return -1;
  if (a->base && shows_base(t)) return rebase_view(node, output, t, edge_to(t, recipe, inputs));
  if (tape_set_history(t, node, output) < 0) return -1;
  if (t->storage->references > 1) {
    for (int i : recipe->grad_inputs) {
      Tensor *input = inputs[i];
      if (input && input != t && input->storage == t->storage) return tape_mark_view(input, t);
    }
  }
  return 0;
}

// Hands all that the node saved to the hooks that are in force. These may run anything, the node itself included.
int pack_saved(Recipe *recipe, Node *node, Tensor *const *inputs, Tensor *const *outputs) {
  std::vector<SavedValue> saved;
  saved.swap(node->saved);
  bool good = true;
  for (size_t k = 0; good && saved_hooks && k < saved.size(); ++k) {
    const int index = recipe->saved[k].index;
    Tensor *t = nullptr;
    const Edge *edge = nullptr;
    if (saved[k].kind == SavedValue::Input) {
      t = inputs[index];
      for (size_t i = 0; i < recipe->grad_inputs.size(); ++i) {
        if (recipe->grad_inputs[i] == index) edge = &node->edges[i];
      }
    } else if (saved[k].kind == SavedValue::Output) {
      t = outputs[index];
    }
    good = saved_pack(saved[k], t, edge);
  }
  saved.swap(node->saved);
  return good ? 0 : -1;
}

}  // namespace

// ---------------------------------------------------------------- history of tensors

int tape_write_history(Tensor *t, Node *node, uint32_t index, int32_t self_edge) {
  if (!tensor_autograd(t)) return -1;
  if (t->autograd->base && shows_base(t)) return rebase_view(node, index, t, self_edge);
  return tape_set_history(t, node, index);
}

int tape_set_history(Tensor *t, Node *node, uint32_t index) {
  Autograd *a = tensor_autograd(t);
  if (!a || move_retained(t, node, index) < 0) return -1;
  Node *old = a->grad_fn;
  Py_INCREF(as_object(node));
  a->grad_fn = node;
  a->output_index = index;
  a->requires_grad = false;
  if (a->base) a->view_version = t->storage->version;
  Py_XDECREF(as_object(old));
  return 0;
}

bool tape_view_requires_grad(const Tensor *view) {
  const Autograd *a = view->autograd;
  return a->view_version != view->storage->version && !a->no_grad_view && requires_grad(a->base) && shows_base(view);
}

Node *tape_grad_fn(Tensor *t) {
  Autograd *a = t->autograd;
  if (!a) return nullptr;
  if (!a->base || a->requires_grad || a->view_version == t->storage->version) return a->grad_fn;
  if (a->no_grad_view && a->grad_fn && a->grad_fn->custom && shows_base(t)) {
    raise_function_view(a->grad_fn, a->output_index, true);
    return nullptr;
  }
  if (a->no_grad_view || !shows_base(t) || (!a->grad_fn && !requires_grad(a->base))) return a->grad_fn;
  return regenerate_view(t) < 0 ? nullptr : a->grad_fn;
}

Node *accumulator_of(Tensor *leaf) {
  Autograd *a = leaf->autograd;
  if (a->accumulator) {
    Py_INCREF(as_object(a->accumulator));
    return a->accumulator;
  }
  static PyTypeObject *type = nullptr;
  if (!type && !(type = node_type("AccumulateGrad"))) return nullptr;
  Node *node = node_new(NodeKind::Accumulate, type, 0, 1);
  if (!node) return nullptr;
  Py_INCREF(as_object(leaf));
  node->leaf = leaf;
  a->accumulator = node;
  return node;
}

bool edge_of(Tensor *t, Edge *edge) {
  *edge = {nullptr, 0};
  if (!t || !t->autograd) return true;
  Node *node = tape_grad_fn(t);
  if (node) {
    Py_INCREF(as_object(node));
    *edge = {node, t->autograd->output_index};
    return true;
  }
  if (t->autograd->base && PyErr_Occurred()) return false;
  if (!t->autograd->requires_grad) return true;
  edge->node = accumulator_of(t);
  return edge->node != nullptr;
}

NodeExtras::TensorHooks *tensor_hooks(Node *node, uint32_t index) {
  NodeExtras *extras = node_extras(node);
  if (!extras) return nullptr;
  for (auto &entry : extras->tensors) {
    if (entry.index == index) return &entry;
  }
  try {
    extras->tensors.push_back({index, nullptr, nullptr});
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
    return nullptr;
  }
  return &extras->tensors.back();
}

// ---------------------------------------------------------------- recording

int tape_record(Recipe *recipe, Tensor *const *inputs, Tensor *const *outputs, std::vector<SavedValue> &&given) {
  std::vector<SavedValue> saved = std::move(given);
  if (!recipe->node_type && !(recipe->node_type = node_type(recipe->name.c_str()))) {
    release_all(saved);
    return -1;
  }
  const size_t output_count = recipe->grad_outputs.size();
  Ref<Node> node(node_new(NodeKind::Recipe, recipe->node_type, uint32_t(recipe->grad_inputs.size()),
                          uint32_t(output_count) + recipe->hidden));
  if (!node) {
    release_all(saved);
    return -1;
  }
  node->saved = std::move(saved);
  node->recipe = recipe;
  ++recipe->references;
  for (const SavedValue &value : node->saved) {
    if (!saved_pack_check(value)) return -1;
  }
  bool wanted = false;
  for (size_t k = 0; k < recipe->grad_inputs.size(); ++k) {
    if (!edge_of(inputs[recipe->grad_inputs[k]], &node->edges[k])) return -1;
    wanted |= node->edges[k].node != nullptr;
  }
  if (!wanted) return 0;
  if (!node->metas.allocate(uint32_t(output_count))) {
    PyErr_NoMemory();
    return -1;
  }
  number_saved(recipe, node.get());
  for (size_t j = 0; j < output_count; ++j) {
    Tensor *output = outputs[recipe->grad_outputs[j]];
    if (!output) continue;
    meta_incref(output->meta);
    node->metas[j] = output->meta;
    if (attach_output(recipe, node.get(), uint32_t(j), output, inputs) < 0) return -1;
  }
  return saved_hooks ? pack_saved(recipe, node.get(), inputs, outputs) : 0;
}

int tape_check_inplace(Tensor *t, const char *name) {
  if (t->storage->inference && !thread_state.inference) {
    PyErr_Format(PyExc_RuntimeError,
                 "Inplace update to inference tensor outside InferenceMode is not allowed (%s). You can make a clone "
                 "to get a normal tensor before doing inplace update.",
                 name);
    return -1;
  }
  if (!thread_state.grad_enabled || !t->autograd || !requires_grad(t)) return 0;
  const char *what = nullptr;
  const Autograd *a = t->autograd;
  if (a->requires_grad && !a->grad_fn) {
    what = "a leaf Variable that requires grad";
  } else if (a->base && a->base->autograd && a->base->autograd->requires_grad && !a->base->autograd->grad_fn) {
    what = "a view of a leaf Variable that requires grad";
  }
  if (!what) return 0;
  PyErr_Format(PyExc_RuntimeError,
               "%s is being used in an in-place operation. (%s on a tensor of shape %s: use the out-of-place form, or "
               "write under no_grad() if the change is not to be differentiated.)",
               what, name, format_ints(t->meta->sizes(), t->meta->ndim).c_str());
  return -1;
}

int tape_overwrite(Tensor *t, const char *name) {
  if (!thread_state.grad_enabled || !requires_grad(t)) return 0;
  PyTypeObject *type = node_type(name);
  Ref<Node> node(type ? node_new(NodeKind::Overwrite, type, 1, 1) : nullptr);
  if (!node || !set_metas(node.get(), {t->meta}) || !edge_of(t, &node->edges[0])) return -1;
  if (t->autograd->base && shows_base(t)) return rebase_view(node.get(), 0, t, 0);
  return tape_set_history(t, node.get(), 0);
}

int tape_mark_view(Tensor *base, Tensor *view) {
  if (!is_differentiable(view->meta->dtype) || thread_state.inference || base->storage->inference) return 0;
  Autograd *a = tensor_autograd(view);
  if (!a) return -1;
  if (a->base) return 0;
  const Autograd *from = base->autograd;
  a->no_grad_view = !thread_state.grad_enabled || (from && from->base && from->no_grad_view);
  Tensor *root = from && from->base ? from->base : base;
  Py_INCREF(as_object(root));
  a->base = root;
  a->view_version = view->storage->version;
  return 0;
}

int tape_record_view(ViewKind kind, Tensor *base, Tensor *view, const std::vector<int64_t> &arguments) {
  if (kind == ViewKind::Detach) return 0;
  if (tape_mark_view(base, view) < 0) return -1;
  if (!thread_state.grad_enabled || !is_differentiable(view->meta->dtype) || !requires_grad(base)) return 0;
  static PyTypeObject *types[size_t(ViewKind::Alias) + 1];
  PyTypeObject *&type = types[size_t(kind)];
  if (!type && !(type = node_type(view_name(kind)))) return -1;
  Ref<Node> node(node_new(NodeKind::View, type, 1, 1));
  if (!node || !set_metas(node.get(), {view->meta}) || !edge_of(base, &node->edges[0])) return -1;
  node->view_kind = kind;
  try {
    node->arguments = arguments;
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
    return -1;
  }
  node->base_meta = base->meta;
  meta_incref(base->meta);
  return tape_set_history(view, node.get(), 0);
}

}  // namespace rushlight
