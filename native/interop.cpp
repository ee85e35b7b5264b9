// Tensors from and to NumPy arrays and buffers, sharing memory; uninitialised tensors.
#include <cstring>

#include "tensor.h"

namespace rushlight {

namespace {

// ---------------------------------------------------------------- an object that exports a tensor's memory

struct TensorBuffer {
  PyObject_HEAD
  PyObject *tensor;
  Py_ssize_t sizes[kMaxDims];
  Py_ssize_t strides[kMaxDims];  // bytes
};

// Format characters of the buffer protocol; null where it has none.
const char *buffer_format(DType dtype) {
  static_assert(sizeof(int) == 4 && sizeof(long long) == 8);
  constexpr bool long_is_64 = sizeof(long) == 8;  // NumPy's own choice for 64-bit ints
  switch (dtype) {
    case DType::Bool: return "?";
    case DType::UInt8: return "B";
    case DType::Int8: return "b";
    case DType::Int16: return "h";
    case DType::Int32: return "i";
    case DType::Int64: return long_is_64 ? "l" : "q";
    case DType::UInt16: return "H";
    case DType::UInt32: return "I";
    case DType::UInt64: return long_is_64 ? "L" : "Q";
    case DType::Float16: return "e";
    case DType::Float32: return "f";
    case DType::Float64: return "d";
    case DType::Complex64: return "Zf";
    case DType::Complex128: return "Zd";
    default: return nullptr;
  }
}

int buffer_get(PyObject *self, Py_buffer *view, int flags) {
  auto *buffer = reinterpret_cast<TensorBuffer *>(self);
  static char nothing;  // an address for tensors without elements
  const Tensor *t = as_tensor(buffer->tensor);
  if ((flags & PyBUF_WRITABLE) && t->storage->readonly) {
    view->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, "the tensor's memory is read-only");
    return -1;
  }
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !t->meta->contiguous()) {
    view->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous");
    return -1;
  }
  const int64_t item = itemsize(t->meta->dtype);
  view->obj = Py_NewRef(self);
  view->buf = t->meta->numel ? t->data : &nothing;
  view->len = static_cast<Py_ssize_t>(t->meta->numel * item);
  view->itemsize = static_cast<Py_ssize_t>(item);
  view->readonly = t->storage->readonly;
  view->ndim = t->meta->ndim;
  view->format = flags & PyBUF_FORMAT ? const_cast<char *>(buffer_format(t->meta->dtype)) : nullptr;
  view->shape = flags & PyBUF_ND ? buffer->sizes : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? buffer->strides : nullptr;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  return 0;
}

void buffer_dealloc(PyObject *self) {
  Py_DECREF(reinterpret_cast<TensorBuffer *>(self)->tensor);
  Py_TYPE(self)->tp_free(self);
}

PyBufferProcs buffer_procedures = {buffer_get, nullptr};

PyTypeObject TensorBufferType = [] {
  PyTypeObject type{PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "rushlight.TensorBuffer";
  type.tp_doc = "Exports a tensor's memory through the buffer protocol.";
  type.tp_basicsize = sizeof(TensorBuffer);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_dealloc = buffer_dealloc;
  type.tp_as_buffer = &buffer_procedures;
  return type;
}();

// The exporter holds a tensor of its own: the given one may be given other data while arrays live.
PyObject *buffer_new(Tensor *t) {
  meta_incref(t->meta);
  storage_incref(t->storage);
  Reference alias(as_object(tensor_new(t->meta, t->storage, t->data)));
  auto *buffer = alias ? PyObject_New(TensorBuffer, &TensorBufferType) : nullptr;
  if (!buffer) return nullptr;
  for (int i = 0; i < t->meta->ndim; ++i) {
    buffer->sizes[i] = static_cast<Py_ssize_t>(t->meta->sizes()[i]);
    buffer->strides[i] = static_cast<Py_ssize_t>(wrapping_product(t->meta->strides()[i], itemsize(t->meta->dtype)));
  }
  buffer->tensor = alias.release();
  return reinterpret_cast<PyObject *>(buffer);
}

// ---------------------------------------------------------------- to NumPy

// A name of the numpy module, looked up once.
PyObject *numpy_attribute(const char *name, PyObject *&cache) {
  if (!cache) {
    Reference numpy(PyImport_ImportModule("numpy"));
    if (numpy) cache = PyObject_GetAttrString(numpy.get(), name);
  }
  return cache;
}

PyObject *core_to_numpy(PyObject *, PyObject *object) {
  if (!tensor_check(object)) {
    return PyErr_Format(PyExc_TypeError, "to_numpy(): expected a Tensor, got %s", Py_TYPE(object)->tp_name);
  }
  Tensor *t = as_tensor(object);
  if (t->meta->device) {
    PyErr_SetString(PyExc_TypeError, "can't convert meta device type tensor to numpy: it has no data");
    return nullptr;
  }
  if (requires_grad_now(t)) {
    PyErr_SetString(PyExc_RuntimeError,
                    "Can't call numpy() on Tensor that requires grad: what NumPy does to it would not be recorded. "
                    "Use tensor.detach().numpy().");
    return nullptr;
  }
  if (!buffer_format(t->meta->dtype)) {
    return PyErr_Format(PyExc_TypeError, "Got unsupported ScalarType %s", dtype_scalar_name(t->meta->dtype));
  }
  static PyObject *asarray = nullptr;
  if (!numpy_attribute("asarray", asarray)) return nullptr;
  Reference buffer(buffer_new(t));
  return buffer ? PyObject_CallOneArg(asarray, buffer.get()) : nullptr;
}

// ---------------------------------------------------------------- from NumPy

// The dtype that a buffer's format stands for.
bool dtype_of_format(const char *format, Py_ssize_t item, DType *out) {
  if (*format == '@' || *format == '=' || *format == '^') ++format;
  const bool complex_number = *format == 'Z';
  if (complex_number) ++format;
  if (std::strlen(format) != 1) return false;
  auto by_size = [item, out](DType one, DType two, DType four, DType eight) {
    *out = item == 1 ? one : item == 2 ? two : item == 4 ? four : eight;
    return item == 1 || item == 2 || item == 4 || item == 8;
  };
  if (complex_number) {
    *out = item == 8 ? DType::Complex64 : DType::Complex128;
    return *format == 'f' || *format == 'd';
  }
  if (*format == '?') return *out = DType::Bool, true;
  if (*format == 'e') return *out = DType::Float16, true;
  if (*format == 'f') return *out = DType::Float32, true;
  if (*format == 'd') return *out = DType::Float64, true;
  if (std::strchr("bhilqn", *format)) return by_size(DType::Int8, DType::Int16, DType::Int32, DType::Int64);
  if (std::strchr("BHILQN", *format)) return by_size(DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64);
  return false;
}

bool unsupported_array(PyObject *array) {
  Reference dtype(PyObject_GetAttrString(array, "dtype"));
  Reference type(dtype ? PyObject_GetAttrString(dtype.get(), "type") : nullptr);
  Reference name(type ? PyObject_GetAttrString(type.get(), "__name__") : nullptr);
  if (name) {
    PyErr_Format(PyExc_TypeError,
                 "can't convert np.ndarray of type numpy.%U: the dtypes of tensors are float16, float32, float64, "
                 "complex64, complex128, int8 to int64, uint8 to uint64, and bool.",
                 name.get());
  }
  return false;
}

// The layout of an array as a tensor's metadata; null with an error set.
Meta *meta_of_buffer(const Py_buffer &view, DType dtype) {
  int64_t sizes[kMaxDims], strides[kMaxDims];
  if (view.ndim > kMaxDims) {
    PyErr_Format(PyExc_ValueError, "a tensor has at most %d dimensions, the array has %d", kMaxDims, view.ndim);
    return nullptr;
  }
  for (int i = 0; i < view.ndim; ++i) {
    sizes[i] = view.shape[i];
    if (view.strides[i] % view.itemsize) {
      PyErr_Format(PyExc_ValueError,
                   "from_numpy: a stride of %zd bytes is not a multiple of the element size, %zd bytes; pass "
                   "array.copy()", view.strides[i], view.itemsize);
      return nullptr;
    }
    strides[i] = view.strides[i] / view.itemsize;
    if (strides[i] < 0) {
      PyErr_Format(PyExc_ValueError,
                   "from_numpy: dim %d of the array has a negative stride, which no tensor has; pass array.copy()", i);
      return nullptr;
    }
  }
  return meta_intern(dtype, 0, view.ndim, sizes, strides);
}

PyObject *tensor_of_buffer(PyObject *array, const Py_buffer &view) {
  DType dtype;
  const char *format = view.format ? view.format : "B";
  if ((*format == '<' || *format == '>' || *format == '!') && format[1] && std::strlen(format) <= 3) {
    PyErr_SetString(PyExc_ValueError,
                    "from_numpy: the byte order of the array is not that of this machine; convert it with "
                    "array.astype(array.dtype.newbyteorder('='))");
    return nullptr;
  }
  if (!dtype_of_format(format, view.itemsize, &dtype)) {
    unsupported_array(array);
    return nullptr;
  }
  Meta *meta = meta_of_buffer(view, dtype);
  if (!meta) return nullptr;
  int64_t low, high;
  meta_extent(meta, &low, &high);
  Storage *storage = storage_borrow(view.buf, static_cast<size_t>(high), array, view.readonly);
  if (!storage) {
    meta_decref(meta);
    return nullptr;
  }
  return as_object(tensor_new(meta, storage, storage->data));
}

PyObject *core_from_numpy(PyObject *, PyObject *array) {
  static PyObject *ndarray = nullptr;
  if (!numpy_attribute("ndarray", ndarray)) return nullptr;
  if (!PyObject_TypeCheck(array, reinterpret_cast<PyTypeObject *>(ndarray))) {
    return PyErr_Format(PyExc_TypeError, "expected np.ndarray (got %s)", Py_TYPE(array)->tp_name);
  }
  Py_buffer view;
  if (PyObject_GetBuffer(array, &view, PyBUF_FULL_RO) < 0) {  // dates and the like
    PyErr_Clear();
    unsupported_array(array);
    return nullptr;
  }
  if (view.readonly &&
      PyErr_WarnEx(PyExc_UserWarning,
                   "The given NumPy array is not writable: writing to the tensor will raise an error. Copy the array "
                   "to get a tensor that can be written.",
                   1) < 0) {
    PyBuffer_Release(&view);
    return nullptr;
  }
  PyObject *tensor = tensor_of_buffer(array, view);
  PyBuffer_Release(&view);
  return tensor;
}

// ---------------------------------------------------------------- uninitialised tensors

PyObject *core_empty(PyObject *, PyObject *args) {
  PyObject *size_object;
  long code;
  int device = 0;
  IntList sizes;
  DType dtype;
  if (!PyArg_ParseTuple(args, "Ol|i:empty", &size_object, &code, &device) ||
      !require_ints(size_object, "empty", &sizes) || !dtype_from_code(code, &dtype)) {
    return nullptr;
  }
  Meta *meta = meta_contiguous(dtype, device != 0, sizes.count, sizes.values);
  return meta ? as_object(tensor_empty(meta)) : nullptr;
}

PyObject *core_empty_strided(PyObject *, PyObject *args) {
  PyObject *size_object, *stride_object;
  long code;
  int device = 0;
  IntList sizes, strides;
  DType dtype;
  if (!PyArg_ParseTuple(args, "OOl|i:empty_strided", &size_object, &stride_object, &code, &device) ||
      !require_ints(size_object, "empty_strided", &sizes) || !require_ints(stride_object, "empty_strided", &strides) ||
      !dtype_from_code(code, &dtype)) {
    return nullptr;
  }
  if (sizes.count != strides.count) {
    return PyErr_Format(PyExc_RuntimeError, "empty_strided: %d sizes but %d strides; there must be as many",
                        sizes.count, strides.count);
  }
  for (int i = 0; i < strides.count; ++i) {
    if (strides.values[i] < 0) {
      return PyErr_Format(PyExc_RuntimeError, "empty_strided: Negative strides are not supported, got strides: %s",
                          format_ints(strides.values, strides.count).c_str());
    }
  }
  Meta *meta = meta_intern(dtype, device != 0, sizes.count, sizes.values, strides.values);
  return meta ? as_object(tensor_empty(meta)) : nullptr;
}

PyObject *core_set_data(PyObject *, PyObject *args) {
  PyObject *tensor, *other;
  if (!PyArg_ParseTuple(args, "O!O:set_data", &TensorType, &tensor, &other)) return nullptr;
  if (tensor_set_data(as_tensor(tensor), other) < 0) return nullptr;
  Py_RETURN_NONE;
}

PyObject *core_same_storage(PyObject *, PyObject *args) {
  PyObject *a, *b;
  if (!PyArg_ParseTuple(args, "O!O!:same_storage", &TensorType, &a, &TensorType, &b)) return nullptr;
  return PyBool_FromLong(storage_memory(as_tensor(a)->storage) == storage_memory(as_tensor(b)->storage));
}

PyMethodDef functions[] = {
    {"to_numpy", core_to_numpy, METH_O, "to_numpy(tensor): a NumPy array that shares the tensor's memory."},
    {"from_numpy", core_from_numpy, METH_O, "from_numpy(array): a tensor that shares the array's memory."},
    {"empty", core_empty, METH_VARARGS, "empty(sizes, dtype_code, device=0): an uninitialised contiguous tensor."},
    {"empty_strided", core_empty_strided, METH_VARARGS,
     "empty_strided(sizes, strides, dtype_code, device=0): an uninitialised tensor with these strides."},
    {"set_data", core_set_data, METH_VARARGS, "set_data(tensor, other): give a tensor the other's layout and memory."},
    {"same_storage", core_same_storage, METH_VARARGS, "same_storage(a, b): whether two tensors share their memory."},
    {"storage_bytes", core_storage_bytes, METH_O,
     "storage_bytes(tensor): all bytes of a tensor's storage as a tensor of uint8 that shares them."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int init_interop(PyObject *module) {
  if (PyType_Ready(&TensorBufferType) < 0 || init_sequences(module) < 0 || init_dlpack(module) < 0) return -1;
  return PyModule_AddFunctions(module, functions);
}

}  // namespace rushlight
