// The same memory as another dtype, and the bytes of a storage.
#include "view_call.h"

namespace rushlight {

namespace {

PyObject *size_mismatch(const Meta *meta, DType dtype, const char *what) {
  return PyErr_Format(PyExc_RuntimeError, "%s to view %s as %s (different element sizes), but the size is %s and the "
                      "stride %s", what, dtype_scalar_name(meta->dtype), dtype_scalar_name(dtype),
                      format_ints(meta->sizes(), meta->ndim).c_str(), format_ints(meta->strides(), meta->ndim).c_str());
}

}  // namespace

PyObject *view_as_dtype(Tensor *base, DType dtype) {
  const Meta *old = base->meta;
  if (dtype == old->dtype) return tensor_as_subclass(as_object(base), reinterpret_cast<PyObject *>(&TensorType));
  const int64_t from = itemsize(old->dtype), to = itemsize(dtype);
  int64_t sizes[kMaxDims], strides[kMaxDims];
  const int last = old->ndim - 1;
  for (int i = 0; i <= last; ++i) sizes[i] = old->sizes()[i], strides[i] = old->strides()[i];
  if (from != to) {
    if (last < 0) return size_mismatch(old, dtype, "self.dim() cannot be 0");
    if (strides[last] != 1) return size_mismatch(old, dtype, "self.stride(-1) must be 1");
  }
  if (from > to) {
    const int64_t ratio = from / to;
    for (int i = 0; i < last; ++i) strides[i] = wrapping_product(strides[i], ratio);
    if (__builtin_mul_overflow(sizes[last], ratio, &sizes[last])) return size_mismatch(old, dtype, "too many elements");
  } else if (from < to) {
    const int64_t ratio = to / from;
    if (sizes[last] % ratio) {
      return size_mismatch(old, dtype, "self.size(-1) must be divisible by the ratio of the element sizes");
    }
    const intptr_t offset = reinterpret_cast<intptr_t>(base->data) - reinterpret_cast<intptr_t>(base->storage->data);
    if (offset % to) {
      return size_mismatch(old, dtype, "self.storage_offset() must be divisible by the ratio of the element sizes");
    }
    for (int i = 0; i < last; ++i) {
      if (strides[i] % ratio) {
        return size_mismatch(old, dtype, "all strides but the last must be divisible by the ratio of the element sizes");
      }
      strides[i] /= ratio;
    }
    sizes[last] /= ratio;
  }
  Meta *meta = meta_intern(dtype, old->device, old->ndim, sizes, strides);
  if (!meta) return nullptr;
  storage_incref(base->storage);
  return as_object(tensor_new(meta, base->storage, base->data));
}

PyObject *core_storage_bytes(PyObject *, PyObject *object) {
  if (!tensor_check(object)) {
    return PyErr_Format(PyExc_TypeError, "storage_bytes(): expected a Tensor, got %s", Py_TYPE(object)->tp_name);
  }
  const Tensor *t = as_tensor(object);
  const auto count = static_cast<int64_t>(t->storage->bytes);
  Meta *meta = meta_contiguous(DType::UInt8, t->meta->device, 1, &count);
  if (!meta) return nullptr;
  storage_incref(t->storage);
  return as_object(tensor_new(meta, t->storage, t->storage->data));
}

}  // namespace rushlight
