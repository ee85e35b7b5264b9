// DLPack (https://dmlc.github.io/dlpack): tensors from and to other libraries without copies.
#include <algorithm>
#include <new>
#include <type_traits>

#include "tensor.h"

namespace rushlight {

namespace {

// ---------------------------------------------------------------- the structures of DLPack 1.1

struct DLDevice {
  int32_t type;
  int32_t id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;  // elements; null: row-major
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor tensor;
  void *context;
  void (*deleter)(DLManagedTensor *);
};

struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(DLManagedTensorVersioned *);
  uint64_t flags;
  DLTensor tensor;
};

constexpr int32_t kCPU = 1;
constexpr uint8_t kInt = 0, kUInt = 1, kFloat = 2, kBFloat = 4, kComplex = 5, kBool = 6;
constexpr uint64_t kReadOnly = 1, kCopied = 2;
constexpr uint32_t kMajor = 1, kMinor = 1;

template <class Managed>
struct Names;
template <>
struct Names<DLManagedTensor> {
  static constexpr const char *fresh = "dltensor", *used = "used_dltensor";
};
template <>
struct Names<DLManagedTensorVersioned> {
  static constexpr const char *fresh = "dltensor_versioned", *used = "used_dltensor_versioned";
};

DLDataType dl_dtype(DType dtype) {
  const auto bits = static_cast<uint8_t>(itemsize(dtype) * 8);
  uint8_t code = kInt;
  if (dtype == DType::Bool) code = kBool;
  else if (dtype == DType::BFloat16) code = kBFloat;
  else if (is_floating(dtype)) code = kFloat;
  else if (is_complex(dtype)) code = kComplex;
  else if (dtype == DType::UInt8 || dtype >= DType::UInt16) code = kUInt;  // the floats are done
  return {code, bits, 1};
}

bool dtype_of_dl(const DLDataType &given, DType *out) {
  for (int code = 0; code < static_cast<int>(DType::Count); ++code) {
    const auto dtype = static_cast<DType>(code);
    const DLDataType known = dl_dtype(dtype);
    if (known.code == given.code && known.bits == given.bits && given.lanes == 1) {
      *out = dtype;
      return true;
    }
  }
  PyErr_Format(PyExc_BufferError, "from_dlpack(): there is no dtype for type code %d with %d bits and %d lanes",
               given.code, given.bits, given.lanes);
  return false;
}

// ---------------------------------------------------------------- export

// What an exported tensor refers to.
template <class Managed>
struct Export {
  Managed managed;
  PyObject *tensor;  // one of our own: the given one may be given other data
  int64_t dims[2 * kMaxDims];
};

template <class Managed>
void export_delete(Managed *managed) {
  auto *exported = static_cast<Export<Managed> *>(managed->context);
  if (Py_IsInitialized()) {
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(exported->tensor);
    PyGILState_Release(state);
  }
  delete exported;
}

// A capsule that nobody consumed.
template <class Managed>
void capsule_delete(PyObject *capsule) {
  if (!PyCapsule_IsValid(capsule, Names<Managed>::fresh)) return;
  auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, Names<Managed>::fresh));
  if (managed->deleter) managed->deleter(managed);
}

template <class Managed>
PyObject *export_tensor(const Tensor *t, uint64_t flags) {
  auto *exported = new (std::nothrow) Export<Managed>();
  if (!exported) return PyErr_NoMemory();
  const Meta *meta = t->meta;
  meta_incref(t->meta);
  storage_incref(t->storage);
  exported->tensor = as_object(tensor_new(t->meta, t->storage, t->data));
  if (!exported->tensor) {
    delete exported;
    return nullptr;
  }
  Managed &managed = exported->managed;
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    managed.major = kMajor, managed.minor = kMinor;
    managed.flags = flags;
  }
  managed.context = exported;
  managed.deleter = export_delete<Managed>;
  int64_t *shape = exported->dims, *strides = exported->dims + kMaxDims;
  for (int i = 0; i < meta->ndim; ++i) {
    shape[i] = meta->sizes()[i];
    strides[i] = shape[i] < 2 ? 1 : meta->strides()[i];
  }
  managed.tensor = {t->data, {kCPU, 0}, meta->ndim, dl_dtype(meta->dtype), shape, strides, 0};
  PyObject *capsule = PyCapsule_New(&managed, Names<Managed>::fresh, capsule_delete<Managed>);
  if (!capsule) export_delete(&managed);
  return capsule;
}

PyObject *core_to_dlpack(PyObject *, PyObject *args) {
  PyObject *object;
  int versioned = 0, copied = 0;
  if (!PyArg_ParseTuple(args, "O!|pp:to_dlpack", &TensorType, &object, &versioned, &copied)) return nullptr;
  const Tensor *t = as_tensor(object);
  const char *problem = nullptr;
  if (requires_grad(t)) problem = "Can't export tensors that require gradients: pass tensor.detach()";
  else if (t->meta->device) problem = "Can't export tensors on the meta device: they have no data";
  else if (t->storage->readonly && !versioned) {
    problem = "Can't export a read-only tensor to a consumer that asks for no version (max_version) of DLPack";
  }
  if (PyErr_Occurred()) return nullptr;
  if (problem) {
    PyErr_SetString(PyExc_BufferError, problem);
    return nullptr;
  }
  const uint64_t flags = (t->storage->readonly ? kReadOnly : 0) | (copied ? kCopied : 0);
  return versioned ? export_tensor<DLManagedTensorVersioned>(t, flags) : export_tensor<DLManagedTensor>(t, flags);
}

// ---------------------------------------------------------------- import

// Owns an imported tensor, until the storage that borrows its memory goes.
constexpr const char *kOwnerName = "rushlight.dlpack_owner";

template <class Managed>
void owner_delete(PyObject *capsule) {
  auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, kOwnerName));
  if (!managed || !managed->deleter) return;
  PyObject *type, *value, *traceback;  // a foreign deleter may run Python code
  PyErr_Fetch(&type, &value, &traceback);
  managed->deleter(managed);
  PyErr_Restore(type, value, traceback);
}

// The layout; null with BufferError set.
Meta *meta_of_dl(const DLTensor &given, DType dtype) {
  int64_t sizes[kMaxDims], strides[kMaxDims], expected = 1;
  for (int i = given.ndim - 1; i >= 0; --i) {
    sizes[i] = given.shape[i];
    strides[i] = given.strides ? given.strides[i] : expected;
    if (sizes[i] < 0 || strides[i] < 0 || __builtin_mul_overflow(expected, std::max<int64_t>(sizes[i], 1), &expected)) {
      PyErr_SetString(PyExc_BufferError, "from_dlpack(): negative or too large sizes or strides are not supported");
      return nullptr;
    }
  }
  return meta_intern(dtype, 0, given.ndim, sizes, strides);
}

bool acceptable(const DLTensor &given) {
  const char *problem = nullptr;
  if (given.device.type != kCPU) problem = "from_dlpack(): the tensor is on an accelerator, and there is none";
  else if (given.ndim < 0 || given.ndim > kMaxDims) problem = "from_dlpack(): a tensor has 0 to 64 dimensions";
  else if (given.ndim && !given.shape) problem = "from_dlpack(): there is no shape";
  if (problem) PyErr_SetString(PyExc_BufferError, problem);
  return !problem;
}

template <class Managed>
PyObject *import_capsule(PyObject *capsule) {
  auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, Names<Managed>::fresh));
  bool readonly = false;
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    if (managed->major > kMajor) {
      return PyErr_Format(PyExc_BufferError, "from_dlpack(): version %u of DLPack is not supported, only up to %u",
                          managed->major, kMajor);
    }
    readonly = managed->flags & kReadOnly;
  }
  const DLTensor &given = managed->tensor;
  DType dtype;
  if (!acceptable(given) || !dtype_of_dl(given.dtype, &dtype)) return nullptr;
  Meta *meta = meta_of_dl(given, dtype);
  if (!meta) return nullptr;
  int64_t low, high;
  meta_extent(meta, &low, &high);
  if (meta->numel && !given.data) {
    meta_decref(meta);
    PyErr_SetString(PyExc_BufferError, "from_dlpack(): the tensor has elements but no memory");
    return nullptr;
  }
  Reference owner(PyCapsule_New(managed, kOwnerName, nullptr));
  char *data = given.data ? static_cast<char *>(given.data) + given.byte_offset : nullptr;
  Storage *storage = owner ? storage_borrow(data, static_cast<size_t>(high), owner.get(), readonly) : nullptr;
  if (!storage) {
    meta_decref(meta);
    return nullptr;
  }
  PyObject *tensor = as_object(tensor_new(meta, storage, storage->data));
  // From here on nothing fails: the memory is ours.
  if (!tensor || PyCapsule_SetName(capsule, Names<Managed>::used) < 0) {
    Py_XDECREF(tensor);
    return nullptr;
  }
  PyCapsule_SetDestructor(capsule, nullptr);
  PyCapsule_SetDestructor(owner.get(), owner_delete<Managed>);
  return tensor;
}

PyObject *core_from_dlpack(PyObject *, PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, Names<DLManagedTensorVersioned>::fresh)) {
    return import_capsule<DLManagedTensorVersioned>(capsule);
  }
  if (PyCapsule_IsValid(capsule, Names<DLManagedTensor>::fresh)) return import_capsule<DLManagedTensor>(capsule);
  PyErr_SetString(PyExc_RuntimeError,
                  "from_dlpack: invalid capsule. Each capsule is consumed only once; ask the producer for a new one.");
  return nullptr;
}

PyMethodDef functions[] = {
    {"to_dlpack", core_to_dlpack, METH_VARARGS,
     "to_dlpack(tensor, versioned=False, copied=False): a DLPack capsule that shares the tensor's memory."},
    {"from_dlpack", core_from_dlpack, METH_O, "from_dlpack(capsule): a tensor that shares the capsule's memory."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int init_dlpack(PyObject *module) { return PyModule_AddFunctions(module, functions); }

}  // namespace rushlight
