// What a node does in the backward pass: gradients of outputs in, gradients of inputs out.
//
// With grad mode off (the usual case) views and copies are layout arithmetic; with grad mode on (create_graph)
// everything is a call of a registered operator, so that the result can be differentiated again.
#include <algorithm>
#include <thread>

#include "engine.h"
#include "small_vector.h"

namespace rushlight {
namespace {

using Arguments = SmallVector<PyObject *, 16>;

bool raise_twice() {
  PyErr_SetString(PyExc_RuntimeError, kFreed);
  return false;
}

PyObject *or_none(Tensor *t) { return t ? as_object(t) : Py_None; }

TensorRef reshape(Tensor *t, const std::vector<int64_t> &sizes) {
  if (native_arithmetic(t)) {
    Layout layout = layout_of(t->meta);
    if (layout_reshape(layout, sizes.data(), int(sizes.size()))) return tensor_alias(t, layout);
  }
  ObjectRef shape(int_tuple(sizes.data(), int(sizes.size())));
  return shape ? call_operator("reshape", {as_object(t), shape.get()}) : TensorRef();
}

std::vector<int64_t> sizes_of(const Meta *m) { return {m->sizes(), m->sizes() + m->ndim}; }

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

// ---------------------------------------------------------------- views

// The slices that a Slice or Select view takes of its base, each of `arguments` as (dim, start, step, length).
struct Quadruple {
  int64_t dim, start, step, length;
};

std::vector<Quadruple> quadruples(const Node *node) {
  std::vector<Quadruple> result;
  for (size_t i = 0; i + 3 < node->arguments.size(); i += 4) {
    const int64_t *a = node->arguments.data() + i;
    result.push_back({a[0], a[1], a[2], a[3]});
  }
  return result;
}

// The base's sizes with every sliced dim replaced by its length.
std::vector<int64_t> sliced_sizes(const Node *node) {
  std::vector<int64_t> sizes = sizes_of(node->base_meta);
  for (const Quadruple &q : quadruples(node)) sizes[q.dim] = q.length;
  return sizes;
}

// The sliced region of a tensor that has the base's shape.
TensorRef sliced_region(const Node *node, Tensor *whole) {
  Layout layout = layout_of(whole->meta);
  for (const Quadruple &q : quadruples(node)) {
    layout.offset += q.start * layout.strides[q.dim];
    layout.strides[q.dim] *= q.step;
    layout.sizes[q.dim] = q.length;
  }
  return tensor_alias(whole, layout);
}

TensorRef slice_gradient(Node *node, Tensor *g) {
  TensorRef part = reshape(g, sliced_sizes(node));
  if (!part) return {};
  if (native_arithmetic(g)) {
    TensorRef whole = tensor_shaped(g->meta->dtype, node->base_meta, true);
    TensorRef region = whole ? sliced_region(node, whole.get()) : TensorRef();
    if (!region) return {};
    copy_into(region.get(), part.get());
    return whole;
  }
  std::vector<int64_t> sizes = sliced_sizes(node);
  const std::vector<Quadruple> slices = quadruples(node);
  for (auto q = slices.rbegin(); q != slices.rend(); ++q) {
    sizes[q->dim] = node->base_meta->sizes()[q->dim];
    const int64_t numbers[] = {q->dim, q->start, q->step, q->length};
    ObjectRef shape(int_tuple(sizes.data(), int(sizes.size()))), slice(int_tuple(numbers, 4));
    if (!shape || !slice) return {};
    auto number = [&slice](int i) { return PyTuple_GET_ITEM(slice.get(), i); };
    part = call_operator("slice_backward",
                         {as_object(part.get()), shape.get(), number(0), number(1), number(2), number(3)});
    if (!part) return {};
  }
  return part;
}

TensorRef permute_gradient(Node *node, Tensor *g) {
  std::vector<int64_t> inverse(node->arguments.size());
  for (size_t i = 0; i < inverse.size(); ++i) inverse[node->arguments[i]] = int64_t(i);
  if (native_arithmetic(g)) {
    Layout layout;
    for (int64_t d : inverse) {
      layout.sizes.push_back(g->meta->sizes()[d]);
      layout.strides.push_back(g->meta->strides()[d]);
    }
    return tensor_alias(g, layout);
  }
  ObjectRef dims(int_tuple(inverse.data(), int(inverse.size())));
  return dims ? call_operator("permute", {as_object(g), dims.get()}) : TensorRef();
}

Layout layout_at(const Meta *m, int64_t offset) {
  Layout layout = layout_of(m);
  layout.offset = offset;
  return layout;
}

// Does a view at this offset stay within the memory of a tensor laid out like `base`?
bool within(const Meta *base, const Meta *view, int64_t offset) {
  int64_t base_low, base_high, low, high;
  meta_extent(base, &base_low, &base_high);
  meta_extent(view, &low, &high);
  const int64_t shift = offset * itemsize(base->dtype);
  return view->numel == 0 || (low + shift >= base_low && high + shift <= base_high);
}

// A tensor's metadata, with complex numbers as pairs of real ones if `pairs`; empty with an error set.
MetaRef meta_in(Meta *meta, bool pairs) {
  if (pairs && is_complex(meta->dtype)) return MetaRef(meta_of_pairs(meta));
  meta_incref(meta);
  return MetaRef(meta);
}

// Is one of a base and its view complex and the other real?
bool mixes_parts(const Meta *base, const Meta *view) { return is_complex(base->dtype) != is_complex(view->dtype); }

TensorRef strided_gradient(const Meta *base, const Meta *view, int64_t offset, Tensor *g) {
  if (native_arithmetic(g) && g->meta->dtype == base->dtype && never_overlaps(base) && never_overlaps(view) &&
      within(base, view, offset)) {
    TensorRef whole = tensor_strided(base, true);
    TensorRef region = whole ? tensor_alias(whole.get(), layout_at(view, offset)) : TensorRef();
    if (!region) return {};
    copy_into(region.get(), g);
    return whole;
  }
  // One element more than the base has takes the gradients of what the view reads outside of it.
  TensorRef positions = tensor_positions(base, view, offset, base->numel);
  TensorRef flat = positions ? reshape(g, {view->numel}) : TensorRef();
  TensorRef zeros = flat ? tensor_contiguous(g->meta->dtype, g->meta->device, {base->numel + 1}, true) : TensorRef();
  ObjectRef dim(PyLong_FromLong(0)), end(PyLong_FromLongLong(base->numel));
  ObjectRef elements(end ? PySlice_New(nullptr, end.get(), nullptr) : nullptr);
  if (!zeros || !dim || !elements) return {};
  TensorRef sum = call_operator("scatter_add", {as_object(zeros.get()), dim.get(), as_object(positions.get()),
                                                as_object(flat.get())});
  ObjectRef part(sum ? PyObject_GetItem(as_object(sum.get()), elements.get()) : nullptr);
  return part ? reshape(as_tensor(part.get()), sizes_of(base)) : TensorRef();
}

TensorRef as_strided_gradient(Node *node, Tensor *g) {
  const bool pairs = mixes_parts(node->base_meta, node->metas[0]);
  if (!pairs) return strided_gradient(node->base_meta, node->metas[0], node->arguments[0], g);
  const MetaRef base = meta_in(node->base_meta, true), view = meta_in(node->metas[0], true);
  TensorRef given = base && view ? tensor_as_real(g) : TensorRef();
  TensorRef whole = given ? strided_gradient(base.get(), view.get(), node->arguments[0], given.get()) : TensorRef();
  return whole && is_complex(node->base_meta->dtype) ? tensor_as_complex(whole.get()) : std::move(whole);
}

// The gradients of all views of an unbind(), one of which is defined, as one of the base.
TensorRef unbind_gradient(Node *node, Tensor *const *given) {
  const size_t dim = size_t(node->arguments[0]);
  Tensor *const *end = given + node->input_count;
  Tensor *first = *std::find_if(given, end, [](Tensor *t) { return t != nullptr; });
  const bool complete = std::find(given, end, nullptr) == end;
  if (std::all_of(given, end, [](Tensor *t) { return !t || native_arithmetic(t); })) {
    TensorRef whole = tensor_shaped(first->meta->dtype, node->base_meta, !complete);
    if (!whole) return {};
    Layout layout = layout_of(whole->meta);
    const int64_t step = layout.strides[dim];
    layout.sizes.erase(layout.sizes.begin() + int64_t(dim));
    layout.strides.erase(layout.strides.begin() + int64_t(dim));
    for (uint32_t i = 0; i < node->input_count; ++i) {
      layout.offset = int64_t(i) * step;
      TensorRef region = given[i] ? tensor_alias(whole.get(), layout) : TensorRef();
      if (region) copy_into(region.get(), given[i]);
      else if (given[i]) return {};
    }
    return whole;
  }
  ObjectRef list(PyList_New(Py_ssize_t(node->input_count))), number(PyLong_FromSize_t(dim));
  if (!list || !number) return {};
  TensorRef zeros;
  if (!complete && !(zeros = tensor_shaped(first->meta->dtype, first->meta, true))) return {};
  for (uint32_t i = 0; i < node->input_count; ++i) {
    Tensor *item = given[i] ? given[i] : zeros.get();
    PyList_SET_ITEM(list.get(), Py_ssize_t(i), Py_NewRef(as_object(item)));
  }
  return call_operator("stack", {list.get(), number.get()});
}

TensorRef view_gradient(Node *node, Tensor *const *given) {
  Tensor *g = given[0];
  switch (node->view_kind) {
    case ViewKind::Reshape:
    case ViewKind::Unsqueeze:
    case ViewKind::Squeeze: return reshape(g, sizes_of(node->base_meta));
    case ViewKind::Permute:
    case ViewKind::Transpose:
    case ViewKind::T: return permute_gradient(node, g);
    case ViewKind::Expand: {
      ObjectRef sizes(int_tuple(node->base_meta->sizes(), node->base_meta->ndim));
      return sizes ? call_operator("sum_to_size", {as_object(g), sizes.get()}) : TensorRef();
    }
    case ViewKind::Slice:
    case ViewKind::Select: return slice_gradient(node, g);
    case ViewKind::AsStrided: return as_strided_gradient(node, g);
    case ViewKind::Real: return call_operator("from_real", {as_object(g)});
    case ViewKind::Imag: return call_operator("from_imag", {as_object(g)});
    case ViewKind::AsReal: return tensor_as_complex(g);
    case ViewKind::AsComplex: return tensor_as_real(g);
    case ViewKind::Unbind: return unbind_gradient(node, given);
    case ViewKind::Detach:
    case ViewKind::Alias: break;
  }
  return TensorRef::borrow(g);
}

// ---------------------------------------------------------------- writes into views

bool check_part(Node *node, const Tensor *part, const Meta *view) {
  if (same_sizes(part->meta, view) && part->meta->dtype == view->dtype) return true;
  PyErr_Format(PyExc_RuntimeError, "Function %s returned an invalid gradient at index 0 - got %s but expected shape %s",
               node_name(node), format_ints(part->meta->sizes(), part->meta->ndim).c_str(),
               format_ints(view->sizes(), view->ndim).c_str());
  return false;
}

// A write into a view while gradients arrive, with complex numbers as pairs if only one of base and view is complex.
struct WrittenView {
  CopySlices *slices;
  const Meta *base, *view;
  bool pairs;
  Wanted wanted;  // of the node's edges
};

// Which edges of the written operator are wanted: the view's former value goes to the base, the others follow it.
Wanted wanted_inside(const WrittenView &written) {
  if (written.wanted == kAllEdges) return kAllEdges;
  Wanted inside = 0;
  uint32_t next = 1;
  for (uint32_t k = 0; k < written.slices->function->edges.count; ++k) {
    const uint32_t outer = int32_t(k) == written.slices->self_edge ? 0 : next++;
    if (written.wanted >> edge_bit(outer) & 1) inside |= Wanted(1) << edge_bit(k);
  }
  return inside;
}

// Runs the operator that wrote. `former` becomes the gradient of the view's former value, null if it has none.
bool apply_written(const WrittenView &written, TensorRef part, Gradients &results, TensorRef *former) {
  CopySlices *slices = written.slices;
  Ref<Node> function = Ref<Node>::borrow(slices->function);
  if (is_complex(slices->view_meta->dtype)) part = tensor_as_complex(part.get());
  if (!part) return false;
  SmallVector<Tensor *, 8> given(function->input_count);
  std::fill(given.begin(), given.end(), nullptr);
  given[slices->output] = part.get();
  results = Gradients(function->edges.count);
  if (!node_apply(function.get(), given.data(), results, wanted_inside(written))) return false;
  Tensor *own = slices->self_edge >= 0 ? results[slices->self_edge].get() : nullptr;
  if (!own) return true;
  if (!check_part(function.get(), own, slices->view_meta)) return false;
  *former = written.pairs ? tensor_as_real(own) : TensorRef::borrow(own);
  return bool(*former);
}

// Hands the gradients of the written operator on, except the one of the view's former value.
void forward_others(CopySlices *slices, Gradients &from, Gradients &to) {
  size_t next = 1;
  for (size_t k = 0; k < from.size(); ++k) {
    if (int32_t(k) != slices->self_edge) to[next++] = std::move(from[k]);
  }
}

bool copy_slices_natively(const WrittenView &written, Tensor *g, Gradients &inner, TensorRef *whole) {
  *whole = tensor_strided(written.base, false);
  if (!*whole) return false;
  copy_into(whole->get(), g);
  TensorRef region = tensor_alias(whole->get(), layout_at(written.view, written.slices->offset));
  TensorRef part = region ? tensor_copy(region.get(), written.view) : TensorRef(), former;
  if (!part || !apply_written(written, std::move(part), inner, &former)) return false;
  if (former) copy_into(region.get(), former.get());
  else fill_zero(region.get());
  return true;
}

bool copy_slices_by_operators(const WrittenView &written, Tensor *g, Gradients &inner, TensorRef *whole) {
  const Meta *base = written.base, *view = written.view;
  TensorRef positions = tensor_positions(base, view, written.slices->offset);
  TensorRef flat = positions ? reshape(g, {base->numel}) : TensorRef();
  ObjectRef dim(PyLong_FromLong(0));
  if (!flat || !dim) return false;
  TensorRef gathered = call_operator("gather", {as_object(flat.get()), dim.get(), as_object(positions.get())});
  TensorRef part = gathered ? reshape(gathered.get(), sizes_of(view)) : TensorRef(), former;
  if (!part || !apply_written(written, std::move(part), inner, &former)) return false;
  TensorRef source = former ? reshape(former.get(), {view->numel})
                            : tensor_contiguous(g->meta->dtype, g->meta->device, {view->numel}, true);
  if (!source) return false;
  TensorRef sum = call_operator("scatter", {as_object(flat.get()), dim.get(), as_object(positions.get()),
                                            as_object(source.get())});
  return sum && (*whole = reshape(sum.get(), sizes_of(base)));
}

bool apply_copy_slices(Node *node, Tensor *given, Gradients &results, Wanted wanted) {
  CopySlices *slices = node->slices;
  if (!slices || !slices->function) return raise_twice();
  const bool pairs = mixes_parts(node->metas[0], slices->view_meta);
  const MetaRef base = meta_in(node->metas[0], pairs), view = meta_in(slices->view_meta, pairs);
  TensorRef g = !base || !view ? TensorRef() : pairs ? tensor_as_real(given) : TensorRef::borrow(given);
  if (!g) return false;
  const WrittenView written{slices, base.get(), view.get(), pairs, wanted};
  const bool native = native_arithmetic(g.get()) && g->meta->dtype == base->dtype && same_sizes(g->meta, base.get()) &&
                      never_overlaps(base.get()) && within(base.get(), view.get(), slices->offset);
  Gradients inner;
  TensorRef whole;
  const bool done = native ? copy_slices_natively(written, g.get(), inner, &whole)
                           : copy_slices_by_operators(written, g.get(), inner, &whole);
  if (!done) return false;
  forward_others(slices, inner, results);
  results[0] = is_complex(node->metas[0]->dtype) ? tensor_as_complex(whole.get()) : std::move(whole);
  return bool(results[0]);
}

// ---------------------------------------------------------------- leaves

// One thread at a time adds to a leaf: operators release the GIL. A forked child does not wait for a thread that it
// lacks.
class LeafLock {
 public:
  explicit LeafLock(Node *node) : node_(node) {
    const unsigned long me = PyThread_get_thread_ident();
    if (node_->accumulating_forks != fork_count()) node_->accumulating = 0;
    while (node_->accumulating && node_->accumulating != me) {  // a finalizer may come back to a leaf of this thread
      Py_BEGIN_ALLOW_THREADS
      std::this_thread::yield();
      Py_END_ALLOW_THREADS
    }
    previous_ = node_->accumulating;
    node_->accumulating = me;
    node_->accumulating_forks = fork_count();
  }
  ~LeafLock() { node_->accumulating = previous_; }
  LeafLock(const LeafLock &) = delete;

 private:
  Node *node_;
  unsigned long previous_;
};

// May a gradient in this layout become the leaf's .grad? Strides must be the leaf's if the leaf is dense.
bool suits_leaf(const Meta *gradient, const Meta *leaf) {
  if (!(leaf->flags & kDense)) return gradient->contiguous();
  if (!(gradient->flags & kDense)) return false;
  for (int d = 0; d < leaf->ndim; ++d) {
    if (leaf->sizes()[d] > 1 && leaf->strides()[d] != gradient->strides()[d]) return false;
  }
  return true;
}

TensorRef first_gradient(Tensor *leaf, TensorRef g) {
  if (native_arithmetic(g.get())) {
    if (exclusively_owned(g.get()) && suits_leaf(g->meta, leaf->meta)) return g;
    return tensor_copy(g.get(), leaf->meta);
  }
  return call_operator("clone", {as_object(g.get())});
}

}  // namespace

bool exclusively_owned(const Tensor *t) {
  return Py_REFCNT(t) == 1 && t->storage->references == 1 && !t->storage->owner && !t->storage->readonly &&
         !t->autograd && !t->weakrefs && !t->dict && t->meta->flags & kDense;
}

bool accumulate_leaf(Node *node, TensorRef g) {
  if (!node->leaf || !g) return true;
  TensorRef leaf = TensorRef::borrow(node->leaf);
  if (tape_grad_fn(leaf.get())) {
    PyErr_Format(PyExc_RuntimeError,
                 "leaf variable has been moved into the graph interior: the tensor of shape %s was written with the "
                 "result of an operator after it had been used; write under no_grad()",
                 format_ints(leaf->meta->sizes(), leaf->meta->ndim).c_str());
  }
  if (PyErr_Occurred()) return false;
  if (!requires_grad(leaf.get())) return true;  // requires_grad_(False) since
  LeafLock lock(node);
  Autograd *a = leaf->autograd;
  if (!a->grad) {
    TensorRef first = first_gradient(leaf.get(), std::move(g));
    if (!first) return false;
    Py_XSETREF(a->grad, as_object(first.release()));
    return true;
  }
  ObjectRef present = ObjectRef::borrow(a->grad);
  const bool in_place = !thread_state.grad_enabled;
  TensorRef sum = call_operator(in_place ? "add_" : "add", {present.get(), as_object(g.get())});
  if (!sum) return false;
  if (!in_place) Py_XSETREF(a->grad, as_object(sum.release()));
  return true;
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

bool accumulate_slice(Node *node, Tensor *g, Tensor *buffer) {
  TensorRef part = reshape(g, sliced_sizes(node));
  TensorRef region = part ? sliced_region(node, buffer) : TensorRef();
  return region && call_operator("add_", {as_object(region.get()), as_object(part.get())});
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
