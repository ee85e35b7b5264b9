// Storage: reference-counted bytes shared by a tensor and its views, and the Python handle to them.
#include <cstdlib>
#include <new>

#include "tensor.h"

namespace rushlight {

namespace {

// Unused Storage structs, chained through `data`.
Storage *free_list = nullptr;
int free_count = 0;
constexpr int kFreeListLimit = 256;

Storage *struct_new(char *data, size_t bytes, void (*release)(Storage *), PyObject *owner, bool readonly) {
  Storage *s = free_list;
  if (s) {
    free_list = reinterpret_cast<Storage *>(s->data);
    --free_count;
  } else if (!(s = new (std::nothrow) Storage)) {
    PyErr_NoMemory();
    return nullptr;
  }
  *s = Storage{data, bytes, 1, 0, readonly, release, owner, thread_state.inference};
  return s;
}

void struct_free(Storage *s) {
  if (free_count == kFreeListLimit) {
    delete s;
    return;
  }
  s->data = reinterpret_cast<char *>(free_list);
  free_list = s;
  ++free_count;
}

void release_allocation(Storage *s) { deallocate(s->data, s->bytes); }

void out_of_memory(size_t bytes) {
  PyObject *type = registered("OutOfMemoryError");
  const AllocatorStatistics statistics = allocator_statistics();
  PyErr_Format(type ? type : PyExc_RuntimeError,
               "CPU out of memory: tried to allocate %zu bytes with %zu bytes in use and a limit of %zu bytes. Use "
               "smaller tensors, or delete tensors that are no longer needed",
               bytes, statistics.in_use, statistics.limit);
}

}  // namespace

Storage *storage_new(size_t bytes) {
  if (bytes == 0) return struct_new(nullptr, 0, nullptr, nullptr, false);
  auto *data = static_cast<char *>(allocate(bytes));
  if (!data) {
    out_of_memory(bytes);
    return nullptr;
  }
  Storage *s = struct_new(data, bytes, release_allocation, nullptr, false);
  if (!s) deallocate(data, bytes);
  return s;
}

Storage *storage_borrow(void *data, size_t bytes, PyObject *owner, bool readonly) {
  Storage *s = struct_new(static_cast<char *>(data), bytes, nullptr, owner, readonly);
  if (s) Py_XINCREF(owner);
  return s;
}

Storage *storage_share(Storage *s, uint32_t version) {
  Storage *memory = storage_memory(s);
  Storage *alias = struct_new(memory->data, memory->bytes, nullptr, nullptr, memory->readonly);
  if (!alias) return nullptr;
  storage_incref(memory);
  alias->shared = memory;
  alias->version = version;
  alias->inference = memory->inference;
  return alias;
}

Storage *storage_without_data(size_t bytes) { return struct_new(nullptr, bytes, nullptr, nullptr, false); }

void storage_free(Storage *s) {
  if (s->release) s->release(s);
  PyObject *owner = s->owner;
  Storage *shared = s->shared;
  struct_free(s);
  if (shared) storage_decref(shared);
  Py_XDECREF(owner);  // last: may run Python code
}

// ---------------------------------------------------------------- the Python handle

namespace {

struct UntypedStorage {
  PyObject_HEAD
  Storage *storage;
  int device;
};

Storage *storage_of(PyObject *self) { return reinterpret_cast<UntypedStorage *>(self)->storage; }

void handle_dealloc(PyObject *self) {
  storage_decref(storage_of(self));
  Py_TYPE(self)->tp_free(self);
}

PyObject *handle_data_ptr(PyObject *self, PyObject *) { return PyLong_FromVoidPtr(storage_of(self)->data); }

PyObject *handle_nbytes(PyObject *self, PyObject *) { return PyLong_FromSize_t(storage_of(self)->bytes); }

Py_ssize_t handle_length(PyObject *self) { return static_cast<Py_ssize_t>(storage_of(self)->bytes); }

PyObject *handle_device(PyObject *self, void *) {
  const int device = reinterpret_cast<UntypedStorage *>(self)->device;
  PyObject *object = registered(device ? "device_meta" : "device_cpu");
  if (object) return Py_NewRef(object);
  PyErr_SetString(PyExc_RuntimeError, "the device objects have not been registered");
  return nullptr;
}

PyObject *handle_compare(PyObject *left, PyObject *right, int operation) {
  if (!Py_IS_TYPE(right, &UntypedStorageType) || (operation != Py_EQ && operation != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((storage_of(left) == storage_of(right)) == (operation == Py_EQ));
}

Py_hash_t handle_hash(PyObject *self) { return static_cast<Py_hash_t>(reinterpret_cast<intptr_t>(storage_of(self))); }

PyMethodDef handle_methods[] = {
    {"data_ptr", handle_data_ptr, METH_NOARGS, "The address of the first byte."},
    {"nbytes", handle_nbytes, METH_NOARGS, "The number of bytes."},
    {"size", handle_nbytes, METH_NOARGS, "The number of bytes."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef handle_properties[] = {
    {"device", handle_device, nullptr, "Where the bytes are.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PySequenceMethods handle_sequence = [] {
  PySequenceMethods slots{};
  slots.sq_length = handle_length;
  return slots;
}();

}  // namespace

PyTypeObject UntypedStorageType = [] {
  PyTypeObject type{PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "rushlight.UntypedStorage";
  type.tp_doc = "The bytes that a tensor and its views share.";
  type.tp_basicsize = sizeof(UntypedStorage);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_dealloc = handle_dealloc;
  type.tp_richcompare = handle_compare;
  type.tp_hash = handle_hash;
  type.tp_as_sequence = &handle_sequence;
  type.tp_methods = handle_methods;
  type.tp_getset = handle_properties;
  return type;
}();

PyObject *storage_handle_new(Storage *storage, int device) {
  auto *handle = PyObject_New(UntypedStorage, &UntypedStorageType);
  if (!handle) return nullptr;
  handle->storage = storage_memory(storage);
  storage_incref(handle->storage);
  handle->device = device;
  return reinterpret_cast<PyObject *>(handle);
}

}  // namespace rushlight
