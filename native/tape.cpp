// Recording: nodes for operators, and the history of tensors.
#include <utility>

#include "tape.h"

namespace rushlight {

constinit thread_local ThreadState thread_state;

namespace {

void set_modes(bool grad, bool inference) {
  thread_state.grad_mode = grad;
  thread_state.inference = inference;
  thread_state.grad_enabled = grad && !inference;
  thread_state.mode_bits =
      (thread_state.mode_bits & ~3u) | uint32_t(thread_state.grad_enabled) | uint32_t(inference) << 1;
}

}  // namespace

void set_grad_enabled(bool enabled) { set_modes(enabled, thread_state.inference); }
void set_inference_mode(bool enabled) { set_modes(thread_state.grad_mode, enabled); }

GradMode::GradMode(bool enabled) : previous_(thread_state.grad_mode) { set_grad_enabled(enabled); }
GradMode::~GradMode() { set_grad_enabled(previous_); }

namespace {

void release_all(std::vector<SavedValue> &saved) {
  for (SavedValue &value : saved) saved_release(value);
  saved.clear();
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

// Indices under which consumers of saved values report gradients: outputs first, then hidden values. What comes after
// these stands for an edge of the node: the value is a copy of that input.
void number_saved(const Recipe *recipe, Node *node) {
  uint32_t hidden = uint32_t(recipe->grad_outputs.size());
  for (size_t k = 0; k < node->saved.size(); ++k) {
    SavedValue &value = node->saved[k];
    if (value.kind == SavedValue::Hidden) {
      const Recipe::Saved &source = recipe->saved[k];
      value.output_index = source.kind == 2   ? hidden++
                           : source.kind == 6 ? node->input_count + uint32_t(source.edge)
                                              : UINT32_MAX;
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
  return tape_write_history(t, node, output, a->base ? edge_to(t, recipe, inputs) : -1);
}

// Hands all that the node saved to the hooks that are in force. These may run anything, the node itself included.
int pack_saved(Recipe *recipe, Node *node, Tensor *const *inputs, Tensor *const *outputs) {
  std::vector<SavedValue> saved;
  saved.swap(node->saved);
  bool good = true;
  for (size_t k = 0; good && saved_hooks && k < saved.size(); ++k) {
    if (saved[k].kind == SavedValue::Input && saved[k].object) continue;  // before it was written
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
    good = saved_pack(saved[k], t, edge, saved_hooks);
  }
  saved.swap(node->saved);
  return good ? 0 : -1;
}

}  // namespace

// ---------------------------------------------------------------- history of tensors

// What retain_grad() asked for follows the tensor to its new history.
int move_retained(Tensor *t, Node *to, uint32_t index) {
  Autograd *a = t->autograd;
  if (!a->retains_grad) return 0;
  if (!a->grad_fn) {  // it was detached in place
    a->retains_grad = false;
    return retain_gradient_at(t, to, index);
  }
  if (!a->grad_fn->extras) return 0;
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

int tape_record(Recipe *recipe, Tensor *const *inputs, Tensor *const *outputs, std::vector<SavedValue> &&given,
                std::vector<Edge> &edges) {
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
    Tensor *input = inputs[recipe->grad_inputs[k]];
    if (!edges.empty()) {
      node->edges[k] = std::exchange(edges[k], {nullptr, 0});
    } else if (!edge_of(input, &node->edges[k])) {
      return -1;
    }
    wanted |= input && requires_grad(input);  // a view of a base that has come to need gradients has no edge
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

}  // namespace rushlight
