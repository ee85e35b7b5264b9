// Elements of tensors from and to Python numbers.
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "half.h"
#include "tensor.h"

namespace rushlight {

namespace {

template <class T>
T load(const char *element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

template <class T>
int store(char *element, T value) {
  std::memcpy(element, &value, sizeof value);
  return 0;
}

int overflow_error(DType dtype) {
  PyErr_Format(PyExc_RuntimeError, "value cannot be converted to type %s without overflow", dtype_name(dtype));
  return -1;
}

// ---------------------------------------------------------------- to integers

// PyTorch lets negative ints wrap around in the small unsigned types, as far as their magnitude fits.
template <class T>
int store_int(PyObject *number, DType dtype, char *element) {
  Reference index(PyNumber_Index(number));
  if (!index) return -1;
  int overflow;
  const long long value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (value == -1 && PyErr_Occurred()) return -1;
  if (overflow) {
    PyErr_SetString(PyExc_ValueError, "Overflow when unpacking long long");
    return -1;
  }
  constexpr auto highest = static_cast<long long>(std::numeric_limits<T>::max());
  constexpr long long lowest = std::is_signed_v<T> ? std::numeric_limits<T>::min() : -highest;
  if (value < lowest || value > highest) return overflow_error(dtype);
  return store(element, static_cast<T>(value));
}

template <class T>
int store_float_as_int(double value, DType dtype, char *element) {
  // The highest int64 is no double: the first double beyond the range is, for every T.
  const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
  const double lowest = static_cast<double>(std::numeric_limits<T>::min());
  if (!(value >= lowest && value < beyond)) return overflow_error(dtype);
  return store(element, static_cast<T>(value));
}

template <class T>
int store_integral(PyObject *number, DType dtype, char *element) {
  if (PyFloat_Check(number)) return store_float_as_int<T>(PyFloat_AS_DOUBLE(number), dtype, element);
  return store_int<T>(number, dtype, element);
}

int store_uint64(PyObject *number, char *element) {
  if (!PyIndex_Check(number)) {
    PyErr_SetString(PyExc_TypeError, "an integer is required");
    return -1;
  }
  Reference index(PyNumber_Index(number));
  if (!index) return -1;
  const unsigned long long value = PyLong_AsUnsignedLongLong(index.get());
  if (value == static_cast<unsigned long long>(-1) && PyErr_Occurred()) return -1;
  return store<uint64_t>(element, value);
}

int store_bool(PyObject *number, char *element) {
  const int value = PyObject_IsTrue(number);
  return value < 0 ? -1 : store<uint8_t>(element, static_cast<uint8_t>(value));
}

// ---------------------------------------------------------------- to floating point

int store_real(double value, DType dtype, char *element) {
  switch (dtype) {
    case DType::Float16: return store(element, float_to_half(static_cast<float>(value)));
    case DType::BFloat16: return store(element, float_to_bfloat16(static_cast<float>(value)));
    case DType::Float32: return store(element, static_cast<float>(value));
    default: return store(element, value);
  }
}

int store_complex(PyObject *number, DType dtype, char *element) {
  const Py_complex value = PyComplex_AsCComplex(number);
  if (value.real == -1.0 && PyErr_Occurred()) return -1;
  const DType part = dtype == DType::Complex32   ? DType::Float16
                     : dtype == DType::Complex64 ? DType::Float32
                                                 : DType::Float64;
  store_real(value.real, part, element);
  return store_real(value.imag, part, element + itemsize(part));
}

PyObject *numpy_generic() {
  static PyObject *generic = nullptr;
  if (!generic) {
    Reference numpy(PyImport_ImportModule("numpy"));
    if (numpy) generic = PyObject_GetAttrString(numpy.get(), "generic");
  }
  return generic;
}

// The dtype of a NumPy scalar; false (with no error) for strings, dates and the like.
bool dtype_of_numpy_scalar(PyObject *scalar, DType *out) {
  Reference dtype(PyObject_GetAttrString(scalar, "dtype"));
  Reference name(dtype ? PyObject_GetAttrString(dtype.get(), "name") : nullptr);
  const char *text = name ? PyUnicode_AsUTF8(name.get()) : nullptr;
  for (int code = 0; text && code < static_cast<int>(DType::Count); ++code) {
    *out = static_cast<DType>(code);
    if (std::strcmp(text, dtype_name(*out)) == 0) return true;
  }
  PyErr_Clear();
  return false;
}

}  // namespace

bool is_numpy_scalar(PyObject *object) {
  PyObject *generic = numpy_generic();
  if (!generic) {
    PyErr_Clear();
    return false;
  }
  return PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject *>(generic));
}

PyObject *number_from_element(DType dtype, const char *element) {
  switch (dtype) {
    case DType::Bool: return PyBool_FromLong(*element != 0);
    case DType::UInt8: return PyLong_FromLong(load<uint8_t>(element));
    case DType::Int8: return PyLong_FromLong(load<int8_t>(element));
    case DType::Int16: return PyLong_FromLong(load<int16_t>(element));
    case DType::Int32: return PyLong_FromLong(load<int32_t>(element));
    case DType::Int64: return PyLong_FromLongLong(load<int64_t>(element));
    case DType::UInt16: return PyLong_FromLong(load<uint16_t>(element));
    case DType::UInt32: return PyLong_FromUnsignedLong(load<uint32_t>(element));
    case DType::UInt64: return PyLong_FromUnsignedLongLong(load<uint64_t>(element));
    case DType::Float16: return PyFloat_FromDouble(half_to_float(load<uint16_t>(element)));
    case DType::BFloat16: return PyFloat_FromDouble(bfloat16_to_float(load<uint16_t>(element)));
    case DType::Float32: return PyFloat_FromDouble(load<float>(element));
    case DType::Float64: return PyFloat_FromDouble(load<double>(element));
    case DType::Complex32:
      return PyComplex_FromDoubles(half_to_float(load<uint16_t>(element)), half_to_float(load<uint16_t>(element + 2)));
    case DType::Complex64: return PyComplex_FromDoubles(load<float>(element), load<float>(element + 4));
    default: return PyComplex_FromDoubles(load<double>(element), load<double>(element + 8));
  }
}

int element_from_number(PyObject *number, DType dtype, char *element) {
  switch (dtype) {
    case DType::Bool: return store_bool(number, element);
    case DType::UInt8: return store_integral<uint8_t>(number, dtype, element);
    case DType::Int8: return store_integral<int8_t>(number, dtype, element);
    case DType::Int16: return store_integral<int16_t>(number, dtype, element);
    case DType::Int32: return store_integral<int32_t>(number, dtype, element);
    case DType::Int64: return store_integral<int64_t>(number, dtype, element);
    case DType::UInt16: return store_integral<uint16_t>(number, dtype, element);
    case DType::UInt32: return store_integral<uint32_t>(number, dtype, element);
    case DType::UInt64: return store_uint64(number, element);
    case DType::Complex32:
    case DType::Complex64:
    case DType::Complex128: return store_complex(number, dtype, element);
    default: break;
  }
  const double value = PyFloat_AsDouble(number);
  if (value == -1.0 && PyErr_Occurred()) return -1;
  return store_real(value, dtype, element);
}

bool dtype_of_number(PyObject *object, DType *out) {
  if (PyFloat_CheckExact(object)) return *out = default_dtype, true;
  if (PyBool_Check(object)) return *out = DType::Bool, true;
  if (PyLong_Check(object)) return *out = DType::Int64, true;
  if (is_numpy_scalar(object)) return dtype_of_numpy_scalar(object, out);  // numpy.float64 is a float too
  if (PyFloat_Check(object)) return *out = default_dtype, true;
  if (PyComplex_Check(object)) {
    *out = default_dtype == DType::Float64   ? DType::Complex128
           : default_dtype == DType::Float16 ? DType::Complex32
                                             : DType::Complex64;
    return true;
  }
  return false;
}

}  // namespace rushlight
