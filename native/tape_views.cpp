// Views: which tensor's history they share, and what a write in place does to it.
#include <algorithm>
#include <iterator>
#include <utility>

#include "tape.h"

namespace rushlight {
namespace {

const char kSeveralViews[] =
    " Of a function that returns multiple views none may be written, as their changes would have to be told apart. Use "
    "the out-of-place form, or write a clone().";
const char kFunctionView[] =
    " It was created inside a custom Function, whose backward would not know of the change and return wrong gradients. "
    "Write a clone() of it.";

// The operator of a node: "Unbind" for UnbindBackward0.
std::string operator_name(const Node *node) {
  std::string name = node_name(node);
  const size_t end = name.rfind("Backward");
  return end == std::string::npos || end == 0 ? name : name.substr(0, end);
}

// A view that must not be written (or, indirectly, whose base must not be) was.
int raise_view(const Tensor *view, bool indirectly) {
  const Autograd *a = view->autograd;
  const Node *node = a->grad_fn;
  const bool several = a->origin == ViewOrigin::SeveralViews, function = a->origin == ViewOrigin::Function;
  const char *mode = a->origin == ViewOrigin::Inference ? "inference_mode" : "no_grad";
  const char *written = indirectly ? "another view of its base or that base itself has been" : "is being";
  const bool inference = a->origin == ViewOrigin::Inference;
  std::string text;
  if (node) {
    text = "Output " + std::to_string(a->output_index) + " of " + operator_name(node) + " is a view" +
           (several || function ? "" : std::string(" of a view that was made in ") + mode + " mode") + " and " +
           written + " modified inplace.";
  } else {
    text = std::string("A view was made in ") + (inference ? "inference" : "no_grad") + " mode and " + written +
           " modified inplace " + (inference ? "outside of it." : "while gradients are recorded.");
  }
  const std::string block = std::string(mode) + " block";
  text += several    ? kSeveralViews
          : function ? kFunctionView
                     : " Whether the change shall be differentiated cannot be told. Make the view and write it both in "
                       "the " + block + ", and it is not, or both outside, and it is.";
  PyErr_SetString(PyExc_RuntimeError, text.c_str());
  return -1;
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
  return view->storage == base->storage && real_of(view->meta->dtype) == real_of(base->meta->dtype);
}

// In elements of the view's dtype, or in real numbers if one of the two is complex.
int64_t offset_from_base(const Tensor *view) {
  const Tensor *base = view->autograd->base;
  return (view->data - base->data) / std::min(itemsize(view->meta->dtype), itemsize(base->meta->dtype));
}

// A new grad_fn for a view whose base was written since: the base's history, then the view as an as_strided of it.
int regenerate_view(Tensor *view) {
  Autograd *a = view->autograd;
  Edge edge{};
  if (!edge_of(a->base, &edge)) return -1;
  Ref<Node> owned_next(edge.node);
  PyTypeObject *type = node_type("AsStridedBackward0");
  Ref<Node> node(type ? node_new(NodeKind::View, type, 1, 1) : nullptr);
  if (!node || !set_metas(node.get(), {view->meta})) return -1;
  node->view_kind = ViewKind::AsStrided;
  node->arguments.assign(1, offset_from_base(view));
  node->base_meta = a->base->meta;
  meta_incref(node->base_meta);
  node->edges[0] = {owned_next.release(), edge.index};  // null: the base was detached in place
  if (move_retained(view, node.get(), 0) < 0) return -1;
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
  std::vector<uint32_t> places;
  for (uint32_t k = 0; k < node->edges.count; ++k) {
    if (int32_t(k) != self_edge) places.push_back(operand_of(node, k));
  }
  const uint32_t operands = std::max(operand_count(node), 1 + kept);
  copy->slices = new (std::nothrow)
      CopySlices{node, std::move(places), operands, output, self_edge, view->meta, offset_from_base(view)};
  if (!copy->slices) {
    PyErr_NoMemory();
    return -1;
  }
  Py_INCREF(as_object(node));
  node->shared = true;
  meta_incref(view->meta);
  if (tape_set_history(base, copy.get(), 0) < 0) return -1;
  return regenerate_view(view);  // the other views make theirs when asked, from what the base has then
}

const char *view_name(ViewKind kind) {
  switch (kind) {
    case ViewKind::Reshape: return "ViewBackward0";
    case ViewKind::Permute: return "PermuteBackward0";
    case ViewKind::Transpose: return "TransposeBackward0";
    case ViewKind::T: return "TBackward0";
    case ViewKind::Expand: return "ExpandBackward0";
    case ViewKind::Slice: return "SliceBackward0";
    case ViewKind::Select: return "SelectBackward0";
    case ViewKind::Unsqueeze: return "UnsqueezeBackward0";
    case ViewKind::Squeeze: return "SqueezeBackward0";
    case ViewKind::AsStrided: return "AsStridedBackward0";
    case ViewKind::Real: return "RealBackward0";
    case ViewKind::Imag: return "ImagBackward0";
    case ViewKind::AsReal: return "ViewAsRealBackward0";
    case ViewKind::AsComplex: return "ViewAsComplexBackward0";
    case ViewKind::Unbind: return "UnbindBackward0";
    case ViewKind::Detach: return "DetachBackward0";
    case ViewKind::Alias: return "AliasBackward0";
  }
  return "ViewBackward0";
}

// Calls what watches writes (allow_mutation_on_saved_tensors) before the tensor changes.
int observe_write(Tensor *t) {
  ObjectRef observer = ObjectRef::borrow(write_observer);
  ObjectRef done(PyObject_CallOneArg(observer.get(), as_object(t)));
  return done ? 0 : -1;
}

int raise_leaf(const Tensor *t, const char *name, const char *what) {
  PyErr_Format(PyExc_RuntimeError,
               "%sa leaf Variable that requires grad must not be written in place (%s on a tensor of shape %s): use "
               "the "
               "out-of-place form, or write under no_grad() if the change is not to be differentiated.",
               what, name, format_ints(t->meta->sizes(), t->meta->ndim).c_str());
  return -1;
}

// May the history of t be changed? `recorded`: as of tape_check_inplace().
int check_history(Tensor *t, const char *name, bool recorded) {
  const Autograd *a = t->autograd;
  if (!thread_state.grad_enabled || !recorded || !a) return 0;
  if (a->base && a->origin != ViewOrigin::Plain && shows_base(t)) return raise_view(t, false);
  if (!requires_grad(t)) return 0;
  if (a->base && shows_base(t) && !(a->base->autograd && a->base->autograd->grad_fn)) {
    return raise_leaf(t, name, "a view of ");
  }
  if (a->grad_fn) return 0;
  return raise_leaf(t, name, "");
}

}  // namespace

constinit thread_local PyObject *write_observer = nullptr;

// ---------------------------------------------------------------- history of views

Node *tape_grad_fn(Tensor *t) {
  Autograd *a = t->autograd;
  if (!a) return nullptr;
  if (!a->base || a->view_version == t->storage->version) return a->grad_fn;
  if (!a->grad_fn && !requires_grad(a->base)) return a->grad_fn;
  if (!shows_base(t)) return a->grad_fn;
  if (a->origin != ViewOrigin::Plain) {
    raise_view(t, true);
    return nullptr;
  }
  return regenerate_view(t) < 0 ? nullptr : a->grad_fn;
}

int tape_write_history(Tensor *t, Node *node, uint32_t index, int32_t self_edge) {
  if (!tensor_autograd(t)) return -1;
  if (t->autograd->base && shows_base(t)) return rebase_view(node, index, t, self_edge);
  return tape_set_history(t, node, index);
}

int tape_check_inplace(Tensor *t, const char *name, bool recorded) {
  if (write_observer && observe_write(t) < 0) return -1;
  if (t->storage->inference && !thread_state.inference) {
    PyErr_Format(PyExc_RuntimeError,
                 "%s: Inplace update to inference tensor outside of inference mode: clone() it, and write the clone.",
                 name);
    return -1;
  }
  return check_history(t, name, recorded);
}

int tape_overwrite(Tensor *t, const char *name, Tensor *const *others, size_t count) {
  if (!thread_state.grad_enabled || !is_differentiable(t->meta->dtype)) return 0;
  std::vector<Tensor *> sources{t};
  std::copy_if(others, others + count, std::back_inserter(sources),
               [t](Tensor *other) { return other != t && requires_grad(other); });
  if (sources.size() == 1 && !requires_grad(t)) return 0;
  PyTypeObject *type = node_type(name);
  Ref<Node> node(type ? node_new(NodeKind::Overwrite, type, uint32_t(sources.size()), 1) : nullptr);
  if (!node || !set_metas(node.get(), {t->meta}) || !tensor_autograd(t)) return -1;
  for (size_t k = 0; k < sources.size(); ++k) {
    if (!edge_of(sources[k], &node->edges[k])) return -1;
  }
  if (t->autograd->base && shows_base(t)) return rebase_view(node.get(), 0, t, 0);
  return tape_set_history(t, node.get(), 0);
}

// ---------------------------------------------------------------- making views

int tape_mark_view(Tensor *base, Tensor *view, bool several) {
  const bool differentiable = is_differentiable(view->meta->dtype);
  if (base->storage->inference || (!differentiable && is_differentiable(base->meta->dtype))) return 0;
  Autograd *a = tensor_autograd(view);
  if (!a) return -1;
  if (a->base) return 0;
  const Autograd *from = base->autograd;
  a->origin = thread_state.inference     ? ViewOrigin::Inference
              : !thread_state.grad_mode  ? ViewOrigin::NoGrad
              : several                  ? ViewOrigin::SeveralViews
              : from && from->base       ? from->origin
                                         : ViewOrigin::Plain;
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

int tape_record_unbind(Tensor *base, PyObject *views, int64_t dim) {
  const Py_ssize_t count = PyTuple_GET_SIZE(views);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (tape_mark_view(base, as_tensor(PyTuple_GET_ITEM(views, i)), true) < 0) return -1;
  }
  if (!count || !requires_grad_now(base) || !is_differentiable(base->meta->dtype)) return 0;
  PyTypeObject *type = node_type(view_name(ViewKind::Unbind));
  Ref<Node> node(type ? node_new(NodeKind::View, type, 1, uint32_t(count)) : nullptr);
  if (!node || !edge_of(base, &node->edges[0])) return -1;
  if (!node->metas.allocate(uint32_t(count))) {
    PyErr_NoMemory();
    return -1;
  }
  node->view_kind = ViewKind::Unbind;
  node->arguments.assign(1, dim);
  node->base_meta = base->meta;
  meta_incref(base->meta);
  for (Py_ssize_t i = 0; i < count; ++i) {
    Tensor *view = as_tensor(PyTuple_GET_ITEM(views, i));
    meta_incref(view->meta);
    node->metas[size_t(i)] = view->meta;
    if (tape_set_history(view, node.get(), uint32_t(i)) < 0) return -1;
  }
  return 0;
}

// ---------------------------------------------------------------- tensors that change what they are

int tensor_detach_in_place(Tensor *t) {
  Autograd *a = t->autograd;
  if (!a) return 0;
  if (a->base) {
    PyErr_SetString(PyExc_RuntimeError,
                    "Can't detach views in-place: detach_() would leave their base with a history that no longer "
                    "holds. Use detach() instead");
    return -1;
  }
  if (keep_hooks(t) < 0) return -1;
  Node *old = a->grad_fn;
  a->grad_fn = nullptr;
  a->output_index = 0;
  a->requires_grad = false;
  Py_XDECREF(as_object(old));
  return 0;
}

int tensor_take_view(Tensor *t, Tensor *view, const char *name) {
  if (t->storage != view->storage) {
    PyErr_SetString(PyExc_RuntimeError, "take_view(): the other tensor must be a view of this one");
    return -1;
  }
  Ref<Node> node = Ref<Node>::borrow(view->autograd ? view->autograd->grad_fn : nullptr);
  const uint32_t index = node ? view->autograd->output_index : 0;
  ++t->storage->version;
  meta_incref(view->meta);
  meta_decref(std::exchange(t->meta, view->meta));
  t->data = view->data;
  Autograd *a = t->autograd;
  if (a && a->base && !node) a->view_version = t->storage->version;
  if (!node) return 0;
  PyTypeObject *type = node_type(name);
  if (!type) return -1;
  Py_INCREF(type);
  Py_DECREF(Py_TYPE(as_object(node.get())));
  Py_SET_TYPE(as_object(node.get()), type);
  // What retain_grad() asked for stays with the former layout: gradients of two shapes do not add up.
  const bool retains = t->autograd->retains_grad;
  t->autograd->retains_grad = false;
  const int status = tape_set_history(t, node.get(), index);
  t->autograd->retains_grad = retains;
  return status;
}

}  // namespace rushlight
