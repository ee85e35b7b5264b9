// Native views that reorder, add or drop dims: permute, transpose, expand, unsqueeze, squeeze.
#include <algorithm>
#include <utility>

#include "view_call.h"

namespace rushlight {

// ---------------------------------------------------------------- permutations

PyObject *native_permute(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  IntList dims;
  if (!call.ints("dims", &dims)) return nullptr;
  const int ndim = call.meta()->ndim;
  if (dims.count != ndim) {
    return PyErr_Format(PyExc_RuntimeError,
                         "permute(): dims must be the %d dims of the tensor in some order, but %d are given",
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

static PyObject *swapped(Tensor *base, int64_t first, int64_t second, ViewKind kind = ViewKind::Transpose) {
  const int ndim = base->meta->ndim;
  int a, b, order[kMaxDims];
  if (!wrap_dim(first, ndim, &a) || !wrap_dim(second, ndim, &b)) return nullptr;
  for (int i = 0; i < ndim; ++i) order[i] = i;
  std::swap(order[a], order[b]);  // a 0-d tensor has a = b = 0: harmless
  return view_permute(base, order, kind);
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
  if (ndim <= 2) return swapped(call.tensor(), 0, -1, ViewKind::T);
  return PyErr_Format(PyExc_RuntimeError, "t() takes a matrix, a vector or a number, not a tensor of %d dims: use "
                      "transpose(dim0, dim1)", ndim);
}

PyObject *native_movedim(PyObject *const *args, size_t count, PyObject *keyword_names) {
  static constexpr const char *names[] = {"source", "destination"};
  const Call call(args, count, keyword_names);
  PyObject *objects[2];
  IntList source, destination;
  if (!call.bind(names, objects) || !parse_dims(objects[0], &source) || !parse_dims(objects[1], &destination) ||
      PyLong_Check(objects[0]) != PyLong_Check(objects[1])) {
    return nullptr;
  }
  if (source.count != destination.count) {
    return PyErr_Format(PyExc_RuntimeError,
                        "movedim: source (%s) and destination (%s) must name equally many dims",
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
      const bool at_destination = order[to] >= 0;
      const IntList &dims = at_destination ? destination : source;
      return PyErr_Format(PyExc_RuntimeError, "movedim: repeated dim in `%s` (%s)",
                          at_destination ? "destination" : "source", format_ints(dims.values, dims.count).c_str());
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

static PyObject *expanded(Tensor *base, const IntList &sizes) {
  const Meta *meta = base->meta;
  const int extra = sizes.count - meta->ndim;
  if (extra < 0) {
    return PyErr_Format(PyExc_RuntimeError,
                        "expand(tensor of size %s, size=%s): %d sizes cannot cover %d dims; give one for each dim, "
                        "after "
                        "those of new dims",
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
                          "The expanded size of the tensor (%lld) isn't allowed in a leading, non-existing dimension "
                          "%d",
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
  for (int i = extra - 1; i >= 0; --i) {  // new dims of size 1 look like those of unsqueeze
    if (layout.sizes[i] != 1) continue;
    const bool last = i + 1 == layout.ndim;
    layout.strides[i] = last ? 1 : wrapping_product(layout.sizes[i + 1], layout.strides[i + 1]);
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

}  // namespace rushlight
