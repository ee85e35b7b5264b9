// The gradient of a base from those of its views.
#include <algorithm>

#include "tape_apply.h"

namespace rushlight {
namespace {

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
    layout.offset = wrapping_sum(layout.offset, wrapping_product(q.start, layout.strides[q.dim]));
    layout.strides[q.dim] = wrapping_product(layout.strides[q.dim], q.step);
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

// Elements of the base that lie in one place share its gradient evenly.
TensorRef overlapping_gradient(const Meta *base, const Meta *view, int64_t offset, Tensor *g) {
  int64_t size = 0;
  for (const Meta *m : {base, view}) {
    int64_t low, high;
    meta_extent(m, &low, &high);
    size = std::max(size, high / itemsize(m->dtype) + (m == view ? offset : 0) + 1);
  }
  TensorRef to = tensor_places(base, 0), from = to ? tensor_places(view, offset) : TensorRef();
  TensorRef flat = from ? reshape(g, {view->numel}) : TensorRef();
  TensorRef zeros = flat ? tensor_contiguous(g->meta->dtype, g->meta->device, {size}, true) : TensorRef();
  TensorRef one = zeros ? call_operator("ones_like", {as_object(to.get())}) : TensorRef();
  TensorRef none = one ? tensor_contiguous(DType::Int64, 0, {size}, true) : TensorRef();
  ObjectRef dim(PyLong_FromLong(0));
  if (!none || !dim) return {};
  auto call = [&dim](const char *name, Tensor *t, Tensor *places, Tensor *source) {
    if (!t) return TensorRef();
    if (!source) return call_operator(name, {as_object(t), dim.get(), as_object(places)});
    return call_operator(name, {as_object(t), dim.get(), as_object(places), as_object(source)});
  };
  TensorRef counts = call("scatter_add", none.get(), to.get(), one.get());
  TensorRef count = call("gather", counts.get(), to.get(), nullptr);
  TensorRef sums = count ? call("scatter_add", zeros.get(), from.get(), flat.get()) : TensorRef();
  TensorRef sum = call("gather", sums.get(), to.get(), nullptr);
  TensorRef share = sum ? call_operator("div", {as_object(sum.get()), as_object(count.get())}) : TensorRef();
  return share ? reshape(share.get(), sizes_of(base)) : TensorRef();
}

TensorRef strided_gradient(const Meta *base, const Meta *view, int64_t offset, Tensor *g) {
  if (native_arithmetic(g) && g->meta->dtype == base->dtype && never_overlaps(base) && never_overlaps(view) &&
      within(base, view, offset)) {
    TensorRef whole = tensor_strided(base, true);
    TensorRef region = whole ? tensor_alias(whole.get(), layout_at(view, offset)) : TensorRef();
    if (!region) return {};
    copy_into(region.get(), g);
    return whole;
  }
  if (!never_overlaps(base)) return overlapping_gradient(base, view, offset, g);
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
      layout.offset = wrapping_product(int64_t(i), step);
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

}  // namespace

Layout layout_at(const Meta *m, int64_t offset) {
  Layout layout = layout_of(m);
  layout.offset = offset;
  return layout;
}

bool within(const Meta *base, const Meta *view, int64_t offset) {
  int64_t base_low, base_high, low, high;
  meta_extent(base, &base_low, &base_high);
  meta_extent(view, &low, &high);
  const int64_t shift = wrapping_product(offset, itemsize(base->dtype));
  return view->numel == 0 || (low + shift >= base_low && high + shift <= base_high);
}

MetaRef meta_in(Meta *meta, bool pairs) {
  if (pairs && is_complex(meta->dtype)) return MetaRef(meta_of_pairs(meta));
  meta_incref(meta);
  return MetaRef(meta);
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

bool accumulate_slice(Node *node, Tensor *g, Tensor *buffer) {
  TensorRef part = reshape(g, sliced_sizes(node));
  TensorRef region = part ? sliced_region(node, buffer) : TensorRef();
  return region && call_operator("add_", {as_object(region.get()), as_object(part.get())});
}

}  // namespace rushlight
