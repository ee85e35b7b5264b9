// Native views and basic indexing: layout arithmetic on a tensor's metadata, with no plan.
//
// What tape_record_view(kind, base, view, arguments) receives. `base` is the tensor the view was taken of (itself
// possibly a view), `view` the new tensor; both shapes are in their metadata, `view->autograd` may be null. All dims are
// non-negative. "g" is the gradient of the view, the result is the gradient of `base`.
//
//   kind                 arguments                              gradient of base
//   Reshape              none                                   g.reshape(base sizes)        (view, reshape, flatten)
//   Unsqueeze, Squeeze   none                                   g.reshape(base sizes)
//   Permute              dims: view dim i is base dim dims[i]   g.permute(inverse of dims)
//   Expand               none: view rank >= base rank, aligned  sum g over new leading dims and over dims where the base
//                        at the last dim                        has size 1 and the view has not
//   Slice, Select        quadruples (dim, start, step, length), zeros(base sizes) whose listed slices hold
//                        at most one per base dim, ascending;   g.reshape(base sizes with each listed dim replaced by
//                        a dim not listed is taken whole        its length)
//   AsStrided            one: offset in elements of the view's  zeros(base sizes); add g at the positions the view
//                        first element from the base's first    (its sizes and strides, relative to that offset) reads
//   Alias                none                                   g
//   Detach               never recorded
//
// Slice covers narrow and every index expression of slices, ints, None and Ellipsis in one record: an int i is the
// quadruple (dim, i, 1, 1) whose dim is absent from the view, None a dim of size 1 absent from the base; the reshape in
// the table accounts for both. Select is the same with one quadruple of length 1 (select, unbind, x[i]).
//
// Every function here answers null without an error for arguments it does not handle (keywords it does not know,
// subclasses, symbolic ints, dtypes): the operator's Python definition answers then.
#include <algorithm>
#include <cstring>
#include <utility>

#include "tensor.h"

namespace rushlight {

// ---------------------------------------------------------------- making a view

bool ViewLayout::push(int64_t size, int64_t stride) {
  if (ndim == kMaxDims) {
    PyErr_Format(PyExc_RuntimeError, "a tensor has at most %d dimensions", kMaxDims);
    return false;
  }
  sizes[ndim] = size;
  strides[ndim++] = stride;
  return true;
}

bool wrap_dim(int64_t dim, int ndim, int *out) {
  const int64_t range = std::max(ndim, 1);
  if (dim < -range || dim >= range) {
    PyErr_Format(PyExc_IndexError, "Dimension out of range (expected to be in range of [%lld, %lld], but got %lld)",
                 static_cast<long long>(-range), static_cast<long long>(range - 1), static_cast<long long>(dim));
    return false;
  }
  *out = static_cast<int>(dim < 0 ? dim + range : dim);
  return true;
}

namespace {

// A view that shares base's elements from `offset` bytes on; takes the metadata over.
PyObject *view_with_meta(Tensor *base, Meta *meta, int64_t offset, ViewKind kind, const int64_t *arguments,
                         size_t count, PyTypeObject *type = &TensorType) {
  storage_incref(base->storage);
  char *data = reinterpret_cast<char *>(reinterpret_cast<intptr_t>(base->data) + offset);  // null on the meta device
  Tensor *view = tensor_new_of(type, meta, base->storage, data);
  if (!view || kind == ViewKind::Detach) return as_object(view);
  const int status = requires_grad_now(base) ? tape_record_view(kind, base, view, {arguments, arguments + count})
                                             : tape_mark_view(base, view);
  if (status < 0) {
    Py_DECREF(as_object(view));
    return nullptr;
  }
  return as_object(view);
}

}  // namespace

PyObject *view_new(Tensor *base, const ViewLayout &layout, ViewKind kind, const int64_t *arguments, size_t count,
                   PyTypeObject *type) {
  const Meta *old = base->meta;
  Meta *meta = meta_intern(old->dtype, old->device, layout.ndim, layout.sizes, layout.strides);
  if (!meta) return nullptr;
  return view_with_meta(base, meta, layout.offset * itemsize(old->dtype), kind, arguments, count, type);
}

PyObject *view_permute(Tensor *base, const int *dims) {
  ViewLayout layout;
  int64_t arguments[kMaxDims];
  for (int i = 0; i < base->meta->ndim; ++i) {
    layout.push(base->meta->sizes()[dims[i]], base->meta->strides()[dims[i]]);
    arguments[i] = dims[i];
  }
  return view_new(base, layout, ViewKind::Permute, arguments, static_cast<size_t>(layout.ndim));
}

namespace {

ViewLayout whole(const Meta *meta) {
  ViewLayout layout;
  layout.ndim = meta->ndim;
  std::copy(meta->sizes(), meta->sizes() + meta->ndim, layout.sizes);
  std::copy(meta->strides(), meta->strides() + meta->ndim, layout.strides);
  return layout;
}

void erase_dim(ViewLayout &layout, int dim) {
  --layout.ndim;
  std::copy(layout.sizes + dim + 1, layout.sizes + layout.ndim + 1, layout.sizes + dim);
  std::copy(layout.strides + dim + 1, layout.strides + layout.ndim + 1, layout.strides + dim);
}

PyObject *alias(Tensor *base, ViewKind kind) {
  meta_incref(base->meta);
  return view_with_meta(base, base->meta, 0, kind, nullptr, 0);
}

}  // namespace

PyObject *view_unbind(Tensor *base, int dim) {
  ViewLayout layout = whole(base->meta);
  const int64_t count = layout.sizes[dim], step = layout.strides[dim];
  erase_dim(layout, dim);
  Reference views(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (int64_t i = 0; views && i < count; ++i) {
    layout.offset = i * step;
    const int64_t arguments[] = {dim, i, 1, 1};
    PyObject *view = view_new(base, layout, ViewKind::Select, arguments, 4);
    if (!view) return nullptr;
    PyTuple_SET_ITEM(views.get(), i, view);
  }
  return views.release();
}

PyObject *view_drop_leading_ones(Tensor *base, int ndim) {
  const Meta *meta = base->meta;
  int drop = 0;
  while (meta->ndim - drop > ndim && meta->sizes()[drop] == 1) ++drop;
  if (drop == 0) return Py_NewRef(as_object(base));
  ViewLayout layout;
  for (int i = drop; i < meta->ndim; ++i) layout.push(meta->sizes()[i], meta->strides()[i]);
  return view_new(base, layout, ViewKind::Squeeze);
}

namespace {

// ---------------------------------------------------------------- arguments

// The arguments of one call: args[0] is an exact tensor.
class Call {
 public:
  Call(PyObject *const *args, size_t count, PyObject *keyword_names)
      : args_(args), count_(count), keyword_names_(keyword_names) {}

  bool has_tensor() const { return count_ > 0 && tensor_exact(args_[0]); }
  Tensor *tensor() const { return as_tensor(args_[0]); }
  const Meta *meta() const { return tensor()->meta; }

  // Arguments after the tensor under these names, null where absent. False if there are others.
  template <size_t n>
  bool bind(const char *const (&names)[n], PyObject *(&out)[n]) const {
    if (!has_tensor() || count_ > n + 1) return false;
    for (size_t i = 0; i < n; ++i) out[i] = i + 1 < count_ ? args_[i + 1] : nullptr;
    for (size_t k = 0; k < keywords(); ++k) {
      size_t i = 0;
      while (i < n && !keyword_is(k, names[i])) ++i;
      if (i == n || out[i]) return false;
      out[i] = args_[count_ + k];
    }
    return true;
  }

  bool no_arguments() const { return has_tensor() && count_ == 1 && keywords() == 0; }

  // Ints after the tensor: one by one, as one sequence, or as a sequence under a name.
  bool ints(const char *name, IntList *out) const {
    if (!has_tensor()) return false;
    if (keywords()) return count_ == 1 && keywords() == 1 && keyword_is(0, name) && parse_ints(args_[1], out);
    if (count_ == 1) return false;
    if (count_ == 2 && !PyLong_CheckExact(args_[1])) return parse_ints(args_[1], out);
    if (count_ - 1 > kMaxDims) return false;
    out->count = static_cast<int>(count_ - 1);
    for (size_t i = 1; i < count_; ++i) {
      if (!parse_int(args_[i], &out->values[i - 1])) return false;
    }
    return true;
  }

 private:
  size_t keywords() const { return keyword_names_ ? static_cast<size_t>(PyTuple_GET_SIZE(keyword_names_)) : 0; }
  bool keyword_is(size_t k, const char *name) const {
    return PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keyword_names_, k), name) == 0;
  }

  PyObject *const *args_;
  size_t count_;
  PyObject *keyword_names_;
};

// Required ints under their names.
template <size_t n>
bool bind_ints(const Call &call, const char *const (&names)[n], int64_t (&out)[n]) {
  PyObject *objects[n];
  if (!call.bind(names, objects)) return false;
  for (size_t i = 0; i < n; ++i) {
    if (!objects[i] || !parse_int(objects[i], &out[i])) return false;
  }
  return true;
}

// The other tensor of view_as and expand_as.
bool bind_other(const Call &call, const Meta **out) {
  static constexpr const char *names[] = {"other"};
  PyObject *other[1];
  if (!call.bind(names, other) || !other[0] || !tensor_exact(other[0])) return false;
  *out = as_tensor(other[0])->meta;
  return true;
}

// ---------------------------------------------------------------- view, reshape, flatten

// Replace a -1 among the sizes and check that they fit; false with RuntimeError set.
bool infer_sizes(int64_t numel, IntList &sizes) {
  int64_t known = 1;
  int inferred = -1;
  bool overflow = false, zero = false;
  for (int i = 0; i < sizes.count; ++i) {
    const int64_t size = sizes.values[i];
    if (size == -1 && inferred >= 0) {
      PyErr_SetString(PyExc_RuntimeError, "only one dimension can be inferred");
      return false;
    }
    if (size < -1) {
      PyErr_Format(PyExc_RuntimeError, "invalid shape dimension %lld at index %d of shape %s",
                   static_cast<long long>(size), i, format_ints(sizes.values, sizes.count).c_str());
      return false;
    }
    if (size == -1) inferred = i;
    else if (size == 0) zero = true;
    else overflow |= __builtin_mul_overflow(known, size, &known);
  }
  if (zero) known = 0, overflow = false;
  const bool fits = !overflow && (inferred < 0 ? known == numel : known ? numel % known == 0 : numel == 0);
  if (!fits) {
    PyErr_Format(PyExc_RuntimeError, "shape '%s' is invalid for input of size %lld",
                 format_ints(sizes.values, sizes.count).c_str(), static_cast<long long>(numel));
    return false;
  }
  if (inferred >= 0 && known == 0) {
    PyErr_Format(PyExc_RuntimeError,
                 "cannot reshape tensor of 0 elements into shape %s because the unspecified dimension size -1 can be "
                 "any value and is ambiguous",
                 format_ints(sizes.values, sizes.count).c_str());
    return false;
  }
  if (inferred >= 0) sizes.values[inferred] = numel / known;
  return true;
}

// The tensor with these sizes as a view; null without an error if only a copy can have them.
PyObject *reshaped(Tensor *base, const IntList &sizes) {
  const Meta *old = base->meta;
  if (old->contiguous() && old->numel) {
    Meta *meta = meta_contiguous(old->dtype, old->device, sizes.count, sizes.values);
    return meta ? view_with_meta(base, meta, 0, ViewKind::Reshape, nullptr, 0) : nullptr;
  }
  Layout layout = layout_of(old);
  if (!layout_reshape(layout, sizes.values, sizes.count)) return nullptr;
  Meta *meta = meta_intern(old->dtype, old->device, sizes.count, sizes.values, layout.strides.data());
  return meta ? view_with_meta(base, meta, 0, ViewKind::Reshape, nullptr, 0) : nullptr;
}

PyObject *view_as_sizes(Tensor *base, IntList &sizes) {
  if (!infer_sizes(base->meta->numel, sizes)) return nullptr;
  PyObject *view = reshaped(base, sizes);
  if (!view && !PyErr_Occurred()) {
    const Meta *meta = base->meta;
    PyErr_Format(PyExc_RuntimeError,
                 "view(): size %s is not compatible with the input tensor's size %s and stride %s (at least one "
                 "dimension spans across two contiguous subspaces). Use .reshape(...) instead.",
                 format_ints(sizes.values, sizes.count).c_str(), format_ints(meta->sizes(), meta->ndim).c_str(),
                 format_ints(meta->strides(), meta->ndim).c_str());
  }
  return view;
}

PyObject *native_view(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  IntList sizes;
  return call.ints("size", &sizes) ? view_as_sizes(call.tensor(), sizes) : nullptr;
}

PyObject *native_view_as(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  const Meta *other;
  if (!bind_other(call, &other)) return nullptr;
  IntList sizes;
  sizes.count = other->ndim;
  std::copy(other->sizes(), other->sizes() + other->ndim, sizes.values);
  return view_as_sizes(call.tensor(), sizes);
}

PyObject *native_reshape(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  IntList sizes;
  if (!call.ints("shape", &sizes) || !infer_sizes(call.meta()->numel, sizes)) return nullptr;
  return reshaped(call.tensor(), sizes);
}

PyObject *native_flatten(PyObject *const *args, size_t count, PyObject *keyword_names) {
  static constexpr const char *names[] = {"start_dim", "end_dim"};
  const Call call(args, count, keyword_names);
  PyObject *dims[2];
  int64_t start = 0, end = -1;
  if (!call.bind(names, dims) || (dims[0] && !parse_int(dims[0], &start)) || (dims[1] && !parse_int(dims[1], &end))) {
    return nullptr;
  }
  const Meta *meta = call.meta();
  int first, last;
  if (!wrap_dim(start, meta->ndim, &first) || !wrap_dim(end, meta->ndim, &last)) return nullptr;
  if (first > last) {
    PyErr_SetString(PyExc_RuntimeError, "flatten() has invalid args: start_dim cannot come after end_dim");
    return nullptr;
  }
  if (first == last && meta->ndim) return Py_NewRef(args[0]);
  IntList sizes;
  int64_t product = 1;  // cannot be inferred as -1: other sizes may be 0
  for (int i = first; i <= last && i < meta->ndim; ++i) {
    if (__builtin_mul_overflow(product, meta->sizes()[i], &product)) {
      return PyErr_Format(PyExc_RuntimeError, "flatten(): the dims %d to %d of size %s have too many elements", first,
                          last, format_ints(meta->sizes(), meta->ndim).c_str());
    }
  }
  for (int i = 0; i < first; ++i) sizes.values[sizes.count++] = meta->sizes()[i];
  sizes.values[sizes.count++] = product;
  for (int i = last + 1; i < meta->ndim; ++i) sizes.values[sizes.count++] = meta->sizes()[i];
  return reshaped(call.tensor(), sizes);
}

// ---------------------------------------------------------------- permutations

PyObject *native_permute(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  IntList dims;
  if (!call.ints("dims", &dims)) return nullptr;
  const int ndim = call.meta()->ndim;
  if (dims.count != ndim) {
    return PyErr_Format(PyExc_RuntimeError,
                        "permute(): number of dimensions in the tensor input does not match the length of the desired "
                        "ordering of dimensions i.e. input.dim() = %d is not equal to len(dims) = %d",
                        ndim, dims.count);
  }
  int order[kMaxDims];
  bool seen[kMaxDims] = {};
  for (int i = 0; i < ndim; ++i) {
    if (!wrap_dim(dims.values[i], ndim, &order[i])) return nullptr;
    if (std::exchange(seen[order[i]], true)) {
      PyErr_SetString(PyExc_RuntimeError, "permute(): duplicate dims are not allowed.");
      return nullptr;
    }
  }
  return view_permute(call.tensor(), order);
}

PyObject *swapped(Tensor *base, int64_t first, int64_t second) {
  const int ndim = base->meta->ndim;
  int a, b, order[kMaxDims];
  if (!wrap_dim(first, ndim, &a) || !wrap_dim(second, ndim, &b)) return nullptr;
  for (int i = 0; i < ndim; ++i) order[i] = i;
  std::swap(order[a], order[b]);  // a 0-d tensor has a = b = 0: harmless
  return view_permute(base, order);
}

PyObject *native_transpose(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  int64_t dims[2];
  return bind_ints(call, {"dim0", "dim1"}, dims) ? swapped(call.tensor(), dims[0], dims[1]) : nullptr;
}

PyObject *native_swapaxes(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  int64_t dims[2];
  return bind_ints(call, {"axis0", "axis1"}, dims) ? swapped(call.tensor(), dims[0], dims[1]) : nullptr;
}

PyObject *native_t(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  if (!call.no_arguments()) return nullptr;
  const int ndim = call.meta()->ndim;
  if (ndim <= 2) return swapped(call.tensor(), 0, -1);
  return PyErr_Format(PyExc_RuntimeError, "t() expects a tensor with <= 2 dimensions, but self is %dD", ndim);
}

// One int or a sequence of ints.
bool parse_dims(PyObject *object, IntList *out) {
  if (!object) return false;
  out->count = 1;
  return parse_int(object, &out->values[0]) || parse_ints(object, out);
}

PyObject *native_movedim(PyObject *const *args, size_t count, PyObject *keyword_names) {
  static constexpr const char *names[] = {"source", "destination"};
  const Call call(args, count, keyword_names);
  PyObject *objects[2];
  IntList source, destination;
  if (!call.bind(names, objects) || !parse_dims(objects[0], &source) || !parse_dims(objects[1], &destination)) {
    return nullptr;
  }
  if (source.count != destination.count) {
    return PyErr_Format(PyExc_RuntimeError,
                        "movedim: Invalid source or destination dims: source (%s dims) should contain the same number "
                        "of dims as destination (%s dims)",
                        format_ints(source.values, source.count).c_str(),
                        format_ints(destination.values, destination.count).c_str());
  }
  const int ndim = call.meta()->ndim;
  int order[kMaxDims];
  bool moved[kMaxDims] = {};
  std::fill(order, order + kMaxDims, -1);
  for (int i = 0; i < source.count; ++i) {
    int from, to;
    if (!wrap_dim(source.values[i], ndim, &from) || !wrap_dim(destination.values[i], ndim, &to)) return nullptr;
    if (std::exchange(moved[from], true) || order[to] >= 0) {
      return PyErr_Format(PyExc_RuntimeError, "movedim: repeated dim in `%s` (%s)", order[to] >= 0 ? "destination" : "source",
                          format_ints(source.values, source.count).c_str());
    }
    order[to] = from;
  }
  int next = 0;
  for (int i = 0; i < ndim; ++i) {
    if (order[i] >= 0) continue;
    while (moved[next]) ++next;
    order[i] = next++;
  }
  return view_permute(call.tensor(), order);
}

// ---------------------------------------------------------------- expand, unsqueeze, squeeze

PyObject *expanded(Tensor *base, const IntList &sizes) {
  const Meta *meta = base->meta;
  const int extra = sizes.count - meta->ndim;
  if (extra < 0) {
    return PyErr_Format(PyExc_RuntimeError,
                        "expand(tensor of size %s, size=%s): the number of sizes provided (%d) must be greater or "
                        "equal to the number of dimensions in the tensor (%d)",
                        format_ints(meta->sizes(), meta->ndim).c_str(), format_ints(sizes.values, sizes.count).c_str(),
                        sizes.count, meta->ndim);
  }
  ViewLayout layout;
  for (int i = 0; i < sizes.count; ++i) {
    const int64_t target = sizes.values[i];
    const int64_t size = i < extra ? 1 : meta->sizes()[i - extra];
    const int64_t stride = i < extra ? 0 : meta->strides()[i - extra];
    if (i < extra && target < 0) {
      return PyErr_Format(PyExc_RuntimeError,
                          "The expanded size of the tensor (%lld) isn't allowed in a leading, non-existing dimension %d",
                          static_cast<long long>(target), i);
    }
    const bool keep = i >= extra && (target == -1 || target == size);
    if (!keep && (size != 1 || target < 0)) {
      return PyErr_Format(PyExc_RuntimeError,
                          "The expanded size of the tensor (%lld) must match the existing size (%lld) at non-singleton "
                          "dimension %d.  Target sizes: %s.  Tensor sizes: %s",
                          static_cast<long long>(target), static_cast<long long>(size), i,
                          format_ints(sizes.values, sizes.count).c_str(),
                          format_ints(meta->sizes(), meta->ndim).c_str());
    }
    layout.push(keep ? size : target, keep ? stride : 0);
  }
  return view_new(base, layout, ViewKind::Expand);
}

PyObject *native_expand(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  IntList sizes;
  return call.ints("size", &sizes) ? expanded(call.tensor(), sizes) : nullptr;
}

PyObject *native_expand_as(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  const Meta *other;
  if (!bind_other(call, &other)) return nullptr;
  IntList sizes;
  sizes.count = other->ndim;
  std::copy(other->sizes(), other->sizes() + other->ndim, sizes.values);
  return expanded(call.tensor(), sizes);
}

PyObject *native_unsqueeze(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  int64_t value[1];
  if (!bind_ints(call, {"dim"}, value)) return nullptr;
  const Meta *meta = call.meta();
  int dim;
  if (!wrap_dim(value[0], meta->ndim + 1, &dim)) return nullptr;
  ViewLayout layout;
  for (int i = 0; i <= meta->ndim; ++i) {
    if (i == dim) {
      const int64_t stride = i < meta->ndim ? wrapping_product(meta->sizes()[i], meta->strides()[i]) : 1;
      if (!layout.push(1, stride)) return nullptr;
    }
    if (i < meta->ndim && !layout.push(meta->sizes()[i], meta->strides()[i])) return nullptr;
  }
  return view_new(call.tensor(), layout, ViewKind::Unsqueeze);
}

PyObject *native_squeeze(PyObject *const *args, size_t count, PyObject *keyword_names) {
  static constexpr const char *names[] = {"dim"};
  const Call call(args, count, keyword_names);
  PyObject *object[1];
  IntList dims;
  if (!call.bind(names, object) || (object[0] && !parse_dims(object[0], &dims))) return nullptr;
  const Meta *meta = call.meta();
  bool listed[kMaxDims] = {};
  if (!object[0]) std::fill(listed, listed + kMaxDims, true);
  for (int i = 0; object[0] && i < dims.count; ++i) {
    int dim;
    if (!wrap_dim(dims.values[i], meta->ndim, &dim)) return nullptr;
    if (std::exchange(listed[dim], true)) {
      return PyErr_Format(PyExc_RuntimeError, "dim %d appears multiple times in the list of dims", dim);
    }
  }
  ViewLayout layout;
  for (int i = 0; i < meta->ndim; ++i) {
    if (!listed[i] || meta->sizes()[i] != 1) layout.push(meta->sizes()[i], meta->strides()[i]);
  }
  return view_new(call.tensor(), layout, ViewKind::Squeeze);
}

// ---------------------------------------------------------------- parts of a tensor

bool require_dims(const char *function, const Meta *meta, PyObject *exception) {
  if (meta->ndim) return true;
  PyErr_Format(exception, "%s() cannot be applied to a 0-dim tensor.", function);
  return false;
}

PyObject *native_narrow(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  int64_t values[3];
  if (!bind_ints(call, {"dim", "start", "length"}, values)) return nullptr;
  const Meta *meta = call.meta();
  int dim;
  if (!require_dims("narrow", meta, PyExc_RuntimeError) || !wrap_dim(values[0], meta->ndim, &dim)) return nullptr;
  const long long size = meta->sizes()[dim], given = values[1], length = values[2];
  if (length < 0) {
    PyErr_SetString(PyExc_RuntimeError, "narrow(): length must be non-negative.");
    return nullptr;
  }
  if (given < -size || given > size) {
    return PyErr_Format(PyExc_IndexError, "start out of range (expected to be in range of [%lld, %lld], but got %lld)",
                        -size, size, given);
  }
  const long long start = given < 0 ? given + size : given;
  if (length > size - start) {
    return PyErr_Format(PyExc_RuntimeError, "start (%lld) + length (%lld) exceeds dimension size (%lld).", start,
                        length, size);
  }
  ViewLayout layout = whole(meta);
  layout.sizes[dim] = length;
  layout.offset = start * layout.strides[dim];
  const int64_t arguments[] = {dim, start, 1, length};
  return view_new(call.tensor(), layout, ViewKind::Slice, arguments, 4);
}

PyObject *native_select(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  int64_t values[2];
  if (!bind_ints(call, {"dim", "index"}, values)) return nullptr;
  const Meta *meta = call.meta();
  int dim;
  if (!require_dims("select", meta, PyExc_IndexError) || !wrap_dim(values[0], meta->ndim, &dim)) return nullptr;
  const int64_t size = meta->sizes()[dim];
  if (values[1] < -size || values[1] >= size) {
    return PyErr_Format(PyExc_IndexError, "select(): index %lld out of range for tensor of size %s at dimension %d",
                        static_cast<long long>(values[1]), format_ints(meta->sizes(), meta->ndim).c_str(), dim);
  }
  const int64_t index = values[1] < 0 ? values[1] + size : values[1];
  ViewLayout layout = whole(meta);
  layout.offset = index * layout.strides[dim];
  erase_dim(layout, dim);
  const int64_t arguments[] = {dim, index, 1, 1};
  return view_new(call.tensor(), layout, ViewKind::Select, arguments, 4);
}

PyObject *native_unbind(PyObject *const *args, size_t count, PyObject *keyword_names) {
  static constexpr const char *names[] = {"dim"};
  const Call call(args, count, keyword_names);
  PyObject *object[1];
  int64_t value = 0;
  if (!call.bind(names, object) || (object[0] && !parse_int(object[0], &value))) return nullptr;
  const Meta *meta = call.meta();
  if (meta->ndim == 0) {
    return PyErr_Format(PyExc_IndexError, "Dimension specified as %lld but tensor has no dimensions",
                        static_cast<long long>(value));
  }
  int dim;
  return wrap_dim(value, meta->ndim, &dim) ? view_unbind(call.tensor(), dim) : nullptr;
}

// Whether the elements lie inside the tensor's storage; false with RuntimeError set.
bool check_bounds(const Tensor *t, const ViewLayout &layout, int64_t offset) {
  int64_t highest = offset;
  bool empty = false, overflow = false;
  for (int i = 0; i < layout.ndim; ++i) {
    int64_t distance;
    empty |= layout.sizes[i] == 0;
    overflow |= __builtin_mul_overflow(layout.sizes[i] - 1, layout.strides[i], &distance) ||
                __builtin_add_overflow(highest, distance, &highest);
  }
  const auto available = static_cast<int64_t>(t->storage->bytes) / itemsize(t->meta->dtype);
  if (empty ? offset <= available : !overflow && highest < available) return true;
  PyErr_Format(PyExc_RuntimeError,
               "as_strided: sizes %s, strides %s, storage offset %lld are out of bounds for storage of size %zu "
               "(itemsize %lld)",
               format_ints(layout.sizes, layout.ndim).c_str(), format_ints(layout.strides, layout.ndim).c_str(),
               static_cast<long long>(offset), t->storage->bytes, static_cast<long long>(itemsize(t->meta->dtype)));
  return false;
}

bool check_non_negative(const IntList &values, const char *what) {
  if (std::all_of(values.values, values.values + values.count, [](int64_t value) { return value >= 0; })) return true;
  PyErr_Format(PyExc_RuntimeError, "as_strided: Negative %s are not supported, got %s: %s", what, what,
               format_ints(values.values, values.count).c_str());
  return false;
}

PyObject *native_as_strided(PyObject *const *args, size_t count, PyObject *keyword_names) {
  static constexpr const char *names[] = {"size", "stride", "storage_offset"};
  const Call call(args, count, keyword_names);
  PyObject *objects[3];
  IntList sizes, strides;
  if (!call.bind(names, objects) || !objects[0] || !objects[1] || !parse_ints(objects[0], &sizes) ||
      !parse_ints(objects[1], &strides)) {
    return nullptr;
  }
  const int64_t current = storage_offset(call.tensor());
  int64_t offset = current;
  if (objects[2] && objects[2] != Py_None && !parse_int(objects[2], &offset)) return nullptr;
  if (sizes.count != strides.count) {
    PyErr_SetString(PyExc_RuntimeError, "as_strided: mismatch in length of strides and shape");
    return nullptr;
  }
  if (!check_non_negative(strides, "strides") || !check_non_negative(sizes, "sizes")) return nullptr;
  if (offset < 0) {
    return PyErr_Format(PyExc_RuntimeError, "Tensor: invalid storage offset %lld", static_cast<long long>(offset));
  }
  ViewLayout layout;
  for (int i = 0; i < sizes.count; ++i) layout.push(sizes.values[i], strides.values[i]);
  if (!check_bounds(call.tensor(), layout, offset)) return nullptr;
  layout.offset = offset - current;
  return view_new(call.tensor(), layout, ViewKind::AsStrided, &layout.offset, 1);
}

// ---------------------------------------------------------------- the tensor itself

PyObject *native_detach(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  return call.no_arguments() ? alias(call.tensor(), ViewKind::Detach) : nullptr;
}

PyObject *native_alias(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  return call.no_arguments() ? alias(call.tensor(), ViewKind::Alias) : nullptr;
}

PyObject *native_contiguous(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  return call.no_arguments() && call.meta()->contiguous() ? Py_NewRef(args[0]) : nullptr;
}

constexpr struct {
  const char *name;
  NativeFunction function;
} kFunctions[] = {
    {"view", native_view},           {"reshape", native_reshape},     {"permute", native_permute},
    {"transpose", native_transpose}, {"swapdims", native_transpose},  {"swapaxes", native_swapaxes},
    {"t", native_t},                 {"movedim", native_movedim},     {"moveaxis", native_movedim},
    {"expand", native_expand},       {"expand_as", native_expand_as}, {"unsqueeze", native_unsqueeze},
    {"squeeze", native_squeeze},     {"narrow", native_narrow},       {"select", native_select},
    {"unbind", native_unbind},       {"flatten", native_flatten},     {"as_strided", native_as_strided},
    {"detach", native_detach},       {"view_as", native_view_as},     {"alias", native_alias},
    {"contiguous", native_contiguous}, {"getitem", native_getitem},
};

}  // namespace

NativeFunction native_function(const char *name) {
  for (const auto &entry : kFunctions) {
    if (std::strcmp(entry.name, name) == 0) return entry.function;
  }
  return nullptr;
}

int init_views(PyObject *) { return 0; }

}  // namespace rushlight
