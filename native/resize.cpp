// Tensor.resize_: other sizes for a tensor, in its own memory where that suffices.
#include <cstring>
#include <utility>

#include "tensor.h"

namespace rushlight {
namespace {

// Give the tensor storage of `bytes` that begins with the old one's content and goes on counting its version.
int grow_storage(Tensor *t, size_t bytes) {
  const Storage *memory = storage_memory(t->storage);
  if (memory->owner || memory->readonly) {
    PyErr_SetString(PyExc_RuntimeError, "Trying to resize storage that is not resizable");
    return -1;
  }
  if (t->storage->references > 1 || memory->references > 1) {
    PyErr_SetString(PyExc_RuntimeError,
                    "resize_: the tensor shares its memory with other tensors, which cannot grow with it. Please "
                    "clone() it first");
    return -1;
  }
  Storage *storage = t->meta->device ? storage_without_data(bytes) : storage_new(bytes);
  if (!storage) return -1;
  Storage *old = std::exchange(t->storage, storage);
  const auto offset = t->data - old->data;
  if (storage->data && old->bytes) std::memcpy(storage->data, old->data, old->bytes);
  storage->version = old->version;
  storage->inference = old->inference;
  t->data = storage->data + offset;
  storage_decref(old);
  return 0;
}

int resize(Tensor *t, const IntList &sizes) {
  Meta *meta = meta_contiguous(t->meta->dtype, t->meta->device, sizes.count, sizes.values);
  if (!meta) return -1;
  int64_t low, high;
  meta_extent(meta, &low, &high);
  const size_t needed = static_cast<size_t>(high) + static_cast<size_t>(storage_offset(t) * itemsize(meta->dtype));
  if (high > 0 && needed > t->storage->bytes && grow_storage(t, needed) < 0) {
    meta_decref(meta);
    return -1;
  }
  meta_decref(std::exchange(t->meta, meta));
  return 0;
}

}  // namespace

PyObject *tensor_resize(PyObject *self, PyObject *args) {
  Tensor *t = as_tensor(self);
  PyObject *first = PyTuple_GET_SIZE(args) == 1 ? PyTuple_GET_ITEM(args, 0) : nullptr;
  IntList sizes;
  if (!require_ints(first && PySequence_Check(first) ? first : args, "resize_", &sizes)) return nullptr;
  if (requires_grad(t)) {
    PyErr_SetString(PyExc_RuntimeError, "cannot resize variables that require grad");
    return nullptr;
  }
  const bool same = sizes.count == t->meta->ndim &&
                    std::memcmp(sizes.values, t->meta->sizes(), sizeof(int64_t) * size_t(sizes.count)) == 0;
  if (!same) {
    if (tape_check_inplace(t, "resize_", false) < 0 || resize(t, sizes) < 0) return nullptr;
    ++t->storage->version;
  }
  return Py_NewRef(self);
}

}  // namespace rushlight
