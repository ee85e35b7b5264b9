// Native views of a part of a tensor: narrow, select, unbind, as_strided.
#include <algorithm>
#include <cstdlib>

#include "view_call.h"

namespace rushlight {

static bool require_dims(const char *function, const Meta *meta, PyObject *exception) {
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
    return PyErr_Format(PyExc_IndexError, "narrow(): start %lld is not in [%lld, %lld], as the dim has size %lld",
                        given, -size, size, size);
  }
  const long long start = given < 0 ? given + size : given;
  if (length > size - start) {
    return PyErr_Format(PyExc_RuntimeError, "start (%lld) + length (%lld) exceeds dimension size (%lld).", start,
                        length, size);
  }
  ViewLayout layout = whole_layout(meta);
  layout.sizes[dim] = length;
  layout.offset = wrapping_product(start, layout.strides[dim]);
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
  ViewLayout layout = whole_layout(meta);
  layout.offset = wrapping_product(index, layout.strides[dim]);
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
static bool check_bounds(const Tensor *t, const ViewLayout &layout, int64_t offset) {
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

static bool check_non_negative(const IntList &values, const char *what) {
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

// Both dims of a diagonal; false with an error set.
static bool diagonal_dims(const Meta *meta, const int64_t (&given)[2], int (&dims)[2]) {
  if (!wrap_dim(given[0], meta->ndim, &dims[0]) || !wrap_dim(given[1], meta->ndim, &dims[1])) return false;
  if (dims[0] != dims[1]) return true;
  PyErr_Format(PyExc_RuntimeError, "diagonal dimensions cannot be identical %lld, %lld",
               static_cast<long long>(given[0]), static_cast<long long>(given[1]));
  return false;
}

PyObject *native_diagonal(PyObject *const *args, size_t count, PyObject *keyword_names) {
  static constexpr const char *names[] = {"offset", "dim1", "dim2"};
  const Call call(args, count, keyword_names);
  PyObject *objects[3];
  int64_t offset = 0, given[2] = {0, 1};
  if (!call.bind(names, objects) || (objects[0] && !parse_int(objects[0], &offset)) ||
      (objects[1] && !parse_int(objects[1], &given[0])) || (objects[2] && !parse_int(objects[2], &given[1]))) {
    return nullptr;
  }
  const Meta *meta = call.meta();
  int dims[2];
  if (!diagonal_dims(meta, given, dims)) return nullptr;
  const int64_t rows = meta->sizes()[dims[0]], columns = meta->sizes()[dims[1]];
  const int64_t row_step = meta->strides()[dims[0]], column_step = meta->strides()[dims[1]];
  // Beyond the matrix in either direction the diagonal is empty.
  offset = std::clamp(offset, -rows, columns);
  const int64_t length = std::max<int64_t>(offset >= 0 ? std::min(rows, columns - offset)
                                                       : std::min(rows + offset, columns), 0);
  ViewLayout layout;
  for (int i = 0; i < meta->ndim; ++i) {
    if (i != dims[0] && i != dims[1]) layout.push(meta->sizes()[i], meta->strides()[i]);
  }
  layout.push(length, wrapping_sum(row_step, column_step));
  const int64_t step = offset >= 0 ? column_step : row_step;
  if (length > 0) layout.offset = wrapping_product(std::abs(offset), step);
  return view_new(call.tensor(), layout, ViewKind::AsStrided, &layout.offset, 1);
}

PyObject *native_unfold(PyObject *const *args, size_t count, PyObject *keyword_names) {
  const Call call(args, count, keyword_names);
  int64_t values[3];
  if (!bind_ints(call, {"dimension", "size", "step"}, values)) return nullptr;
  const Meta *meta = call.meta();
  int dim;
  if (!wrap_dim(values[0], meta->ndim, &dim)) return nullptr;
  const int64_t size = values[1], step = values[2], length = meta->ndim ? meta->sizes()[dim] : 1;
  if (size < 0 || size > length) {
    return PyErr_Format(PyExc_RuntimeError,
                        "unfold: maximum size for tensor at dimension %d is %lld but size is %lld", dim,
                        static_cast<long long>(length), static_cast<long long>(size));
  }
  if (step <= 0) {
    return PyErr_Format(PyExc_RuntimeError, "unfold: step is %lld but must be > 0", static_cast<long long>(step));
  }
  ViewLayout layout = whole_layout(meta);
  const int64_t stride = meta->ndim ? layout.strides[dim] : 1;
  if (meta->ndim) {
    layout.sizes[dim] = (length - size) / step + 1;
    if (__builtin_mul_overflow(stride, step, &layout.strides[dim])) layout.strides[dim] = 0;  // then there is one window
  }
  if (!layout.push(size, stride)) return nullptr;
  return view_new(call.tensor(), layout, ViewKind::AsStrided, &layout.offset, 1);
}

}  // namespace rushlight
