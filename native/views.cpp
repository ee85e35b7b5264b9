// Native views and basic indexing: layout arithmetic on a tensor's metadata, with no plan.
//
// What tape_record_view(kind, base, view, arguments) receives. `base` is the tensor the view was taken of (itself
// possibly a view), `view` the new tensor; both shapes are in their metadata. All dims are non-negative. "g" is the
// gradient of the view, the result is the gradient of `base`.
//
//   kind                 arguments                              gradient of base
//   Reshape              none                                   g.reshape(base sizes)      (view, reshape, flatten)
//   Unsqueeze, Squeeze   none                                   g.reshape(base sizes)
//   Permute, Transpose,  dims: view dim i is base dim dims[i]   g.permute(inverse of dims)
//   T
//   Expand               none: the view's rank >= the base's,   sum g over new leading dims, and over dims where the
//                        aligned at the last dim                base has size 1 and the view has not
//   Slice, Select        quadruples (dim, start, step, length), zeros(base sizes) whose listed slices hold
//                        at most one per base dim, ascending;   g.reshape(base sizes with each listed dim replaced
//                        a dim not listed is taken whole        by its length)
//   Real, Imag           none                                   g as that part of complex numbers
//   AsReal, AsComplex    none                                   g as pairs of real numbers, or pairs as complex numbers
//   AsStrided            one: offset in elements of the view's  zeros(base sizes); add g at the positions the view
//                        first element from the base's first    (its sizes and strides, relative to that offset) reads;
//                        (in real numbers if one is complex     if one is complex, both as real numbers
//                        and the other is not)
//   Unbind               one: dim; one node for all views       stack of the views' gradients along dim
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

#include "view_call.h"

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
    PyErr_Format(PyExc_IndexError, "Dimension out of range: %lld is not in [%lld, %lld]", static_cast<long long>(dim),
                 static_cast<long long>(-range), static_cast<long long>(range - 1));
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
  Tensor *view = tensor_new_of(type, meta, base->storage, offset_by(base->data, offset));
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
  const int64_t bytes = wrapping_product(layout.offset, itemsize(old->dtype));
  return view_with_meta(base, meta, bytes, kind, arguments, count, type);
}

ViewLayout whole_layout(const Meta *meta) {
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

PyObject *view_permute(Tensor *base, const int *dims, ViewKind kind) {
  ViewLayout layout;
  int64_t arguments[kMaxDims];
  for (int i = 0; i < base->meta->ndim; ++i) {
    layout.push(base->meta->sizes()[dims[i]], base->meta->strides()[dims[i]]);
    arguments[i] = dims[i];
  }
  return view_new(base, layout, kind, arguments, static_cast<size_t>(layout.ndim));
}

namespace {

// A view of the real or imaginary parts: floating-point numbers two of which make one element of the base.
PyObject *view_part(Tensor *base, ViewKind kind) {
  const Meta *old = base->meta;
  const DType dtype = real_of(old->dtype);
  int64_t strides[kMaxDims];
  for (int i = 0; i < old->ndim; ++i) strides[i] = wrapping_product(2, old->strides()[i]);
  Meta *meta = meta_intern(dtype, old->device, old->ndim, old->sizes(), strides);
  return meta ? view_with_meta(base, meta, kind == ViewKind::Imag ? itemsize(dtype) : 0, kind, nullptr, 0) : nullptr;
}

// The parts of complex numbers along a new last dim.
PyObject *view_pairs(Tensor *base) {
  Meta *meta = meta_of_pairs(base->meta);
  return meta ? view_with_meta(base, meta, 0, ViewKind::AsReal, nullptr, 0) : nullptr;
}

// The pairs along the last dim, which has size 2, as complex numbers.
PyObject *view_paired(Tensor *base) {
  const Meta *old = base->meta;
  const intptr_t offset = reinterpret_cast<intptr_t>(base->data) - reinterpret_cast<intptr_t>(base->storage->data);
  const int last = old->ndim - 1;
  const char *problem = nullptr;
  if (old->strides()[last] != 1) problem = "the last dim must have stride 1";
  for (int i = 0; i < last && !problem; ++i) {
    if (old->strides()[i] % 2) problem = "the strides of all but the last dim must be even";
  }
  if (!problem && offset % (2 * itemsize(old->dtype))) problem = "the storage offset must be even";
  if (problem) {
    return PyErr_Format(PyExc_RuntimeError, "view_as_complex of shape %s with strides %s: %s; use .contiguous() first",
                        format_ints(old->sizes(), old->ndim).c_str(),
                        format_ints(old->strides(), old->ndim).c_str(), problem);
  }
  Meta *meta = meta_of_paired(old);
  return meta ? view_with_meta(base, meta, 0, ViewKind::AsComplex, nullptr, 0) : nullptr;
}

PyObject *alias(Tensor *base, ViewKind kind) {
  meta_incref(base->meta);
  return view_with_meta(base, base->meta, 0, kind, nullptr, 0);
}

}  // namespace

PyObject *view_unbind(Tensor *base, int dim) {
  ViewLayout layout = whole_layout(base->meta);
  const int64_t count = layout.sizes[dim], step = layout.strides[dim];
  erase_dim(layout, dim);
  Reference views(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (int64_t i = 0; views && i < count; ++i) {
    layout.offset = wrapping_product(i, step);
    PyObject *view = view_new(base, layout, ViewKind::Detach);  // all views get one node, below
    if (!view) return nullptr;
    PyTuple_SET_ITEM(views.get(), i, view);
  }
  return views && tape_record_unbind(base, views.get(), dim) == 0 ? views.release() : nullptr;
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
                 "cannot reshape tensor of 0 elements into shape %s: any size would do for the -1, so state it",
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
                 "view(): size %s is not compatible with a tensor of size %s and strides %s: its elements are not "
                 "spaced evenly enough. Use .reshape(...) instead, which copies.",
                 format_ints(sizes.values, sizes.count).c_str(), format_ints(meta->sizes(), meta->ndim).c_str(),
                 format_ints(meta->strides(), meta->ndim).c_str());
  }
  return view;
}

PyObject *native_view(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  IntList sizes;
  DType dtype;
  if (call.dtype(&dtype)) return view_as_dtype(call.tensor(), dtype);
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
    PyErr_Format(PyExc_RuntimeError, "flatten(): start_dim %d comes after end_dim %d", first, last);
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

// ---------------------------------------------------------------- the tensor itself

PyObject *native_detach(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  return call.no_arguments() ? alias(call.tensor(), ViewKind::Detach) : nullptr;
}

PyObject *native_alias(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  return call.no_arguments() ? alias(call.tensor(), ViewKind::Alias) : nullptr;
}

PyObject *native_real(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  if (!call.no_arguments()) return nullptr;
  return is_complex(call.meta()->dtype) ? view_part(call.tensor(), ViewKind::Real) : Py_NewRef(args[0]);
}

PyObject *native_imag(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  if (!call.no_arguments() || !is_complex(call.meta()->dtype)) return nullptr;
  return view_part(call.tensor(), ViewKind::Imag);
}

PyObject *native_view_as_real(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  return call.no_arguments() && is_complex(call.meta()->dtype) ? view_pairs(call.tensor()) : nullptr;
}

PyObject *native_view_as_complex(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  if (!call.no_arguments()) return nullptr;
  const Meta *meta = call.meta();
  const bool pairs = meta->ndim && meta->sizes()[meta->ndim - 1] == 2 && is_floating(meta->dtype);
  return pairs && meta->dtype != DType::BFloat16 ? view_paired(call.tensor()) : nullptr;
}

PyObject *native_contiguous(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  if (call.no_arguments()) return call.meta()->contiguous() ? Py_NewRef(args[0]) : nullptr;
  static constexpr const char *names[] = {"memory_format"};
  PyObject *format[1];
  if (!call.bind(names, format) || !format[0]) return nullptr;
  return meta_in_format(call.meta(), format[0]) > 0 ? Py_NewRef(args[0]) : nullptr;
}

// to(memory_format=...) of a tensor whose dims lie in that order already.
PyObject *native_to(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  static constexpr const char *names[] = {"memory_format", "non_blocking"};
  PyObject *given[2];
  if (count != 1 || !keyword_names || !call.bind(names, given) || !given[0]) return nullptr;
  return meta_suggests_format(call.meta(), given[0]) > 0 ? Py_NewRef(args[0]) : nullptr;
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
    {"real", native_real},           {"imag", native_imag},
    {"contiguous", native_contiguous}, {"to", native_to},         {"getitem", native_getitem},   {"diagonal", native_diagonal},
    {"unfold", native_unfold},       {"view_as_real", native_view_as_real},
    {"view_as_complex", native_view_as_complex},
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
