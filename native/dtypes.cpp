// Data types: sizes, names, promotion, and the Python objects that stand for them.
#include "tensor.h"

namespace rushlight {

namespace {

constexpr int kDTypes = static_cast<int>(DType::Count);

struct DTypeInfo {
  const char *name;
  const char *scalar_name;
  int64_t itemsize;
};

constexpr DTypeInfo kInfo[kDTypes] = {
    {"bool", "Bool", 1},           {"uint8", "Byte", 1},         {"int8", "Char", 1},
    {"int16", "Short", 2},         {"int32", "Int", 4},          {"int64", "Long", 8},
    {"uint16", "UInt16", 2},       {"uint32", "UInt32", 4},      {"uint64", "UInt64", 8},
    {"float16", "Half", 2},        {"bfloat16", "BFloat16", 2},  {"float32", "Float", 4},
    {"float64", "Double", 8},      {"complex32", "ComplexHalf", 4},
    {"complex64", "ComplexFloat", 8}, {"complex128", "ComplexDouble", 16},
};

PyObject *objects[kDTypes];

// From a dtype object's address to its code without collisions: `multiplier` is chosen so that each has its own entry.
constexpr int kTableBits = 8;
struct TableEntry {
  PyObject *object;
  DType code;
};
TableEntry table[1 << kTableBits];
uint64_t multiplier = 1;

size_t table_index(PyObject *object) {
  return (reinterpret_cast<uintptr_t>(object) * multiplier) >> (64 - kTableBits);
}

bool fill_table() {
  for (TableEntry &entry : table) entry = {nullptr, DType::Bool};
  for (int code = 0; code < kDTypes; ++code) {
    TableEntry &entry = table[table_index(objects[code])];
    if (entry.object) return false;
    entry = {objects[code], static_cast<DType>(code)};
  }
  return true;
}

void build_table() {
  multiplier = 0x9e3779b97f4a7c15;
  while (!fill_table()) multiplier = multiplier * 0xd1342543de82ef95 + 2;  // stays odd
}

// Checks one element of the list given to set_dtypes.
bool check_dtype(PyObject *object, int code) {
  Reference attribute(PyObject_GetAttrString(object, "code"));
  if (!attribute) return false;
  const long found = PyLong_AsLong(attribute.get());
  if (found == -1 && PyErr_Occurred()) return false;
  if (found == code) return true;
  PyErr_Format(PyExc_ValueError,
               "set_dtypes(): item %d has code %ld; dtypes must be listed in the order of their codes", code, found);
  return false;
}

PyObject *set_dtypes(PyObject *, PyObject *list) {
  Reference items(PySequence_Tuple(list));
  if (!items) return nullptr;
  if (PyTuple_GET_SIZE(items.get()) != kDTypes) {
    return PyErr_Format(PyExc_ValueError, "set_dtypes(): expected %d dtypes, got %zd", kDTypes,
                        PyTuple_GET_SIZE(items.get()));
  }
  for (int code = 0; code < kDTypes; ++code) {
    PyObject *item = PyTuple_GET_ITEM(items.get(), code);
    if (!check_dtype(item, code)) return nullptr;
    for (int earlier = 0; earlier < code; ++earlier) {  // equal addresses would never get entries of their own
      if (PyTuple_GET_ITEM(items.get(), earlier) == item) {
        return PyErr_Format(PyExc_ValueError, "set_dtypes(): items %d and %d are the same object", earlier, code);
      }
    }
  }
  for (int code = 0; code < kDTypes; ++code) {
    Py_XSETREF(objects[code], Py_NewRef(PyTuple_GET_ITEM(items.get(), code)));
  }
  build_table();
  Py_RETURN_NONE;
}

PyObject *set_default_dtype(PyObject *, PyObject *object) {
  DType dtype;
  if (!dtype_from_object(object, &dtype) || !is_floating(dtype)) {
    PyErr_SetString(PyExc_TypeError, "the default dtype must be one of the floating-point dtypes");
    return nullptr;
  }
  default_dtype = dtype;
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"set_dtypes", set_dtypes, METH_O, "set_dtypes(dtypes): register the dtype objects in the order of their codes."},
    {"set_default_dtype", set_default_dtype, METH_O, "set_default_dtype(dtype): the type that Python floats become."},
    {nullptr, nullptr, 0, nullptr},
};

DType promote_floating(DType a, DType b) {
  if (!is_floating(a)) return b;
  if (!is_floating(b)) return a;
  if (a == b) return a;
  const DType larger = a > b ? a : b;
  return larger == DType::BFloat16 ? DType::Float32 : larger;  // float16 with bfloat16
}

}  // namespace

DType real_of(DType dtype) {
  if (dtype == DType::Complex32) return DType::Float16;
  if (dtype == DType::Complex64) return DType::Float32;
  return dtype == DType::Complex128 ? DType::Float64 : dtype;
}

DType complex_of(DType dtype) {
  if (dtype == DType::Float16) return DType::Complex32;
  if (dtype == DType::Float32) return DType::Complex64;
  return dtype == DType::Float64 ? DType::Complex128 : dtype;
}

DType default_dtype = DType::Float32;

int64_t itemsize(DType dtype) { return kInfo[static_cast<int>(dtype)].itemsize; }

const char *dtype_name(DType dtype) { return kInfo[static_cast<int>(dtype)].name; }

const char *dtype_scalar_name(DType dtype) { return kInfo[static_cast<int>(dtype)].scalar_name; }

PyObject *dtype_object(DType dtype) {
  PyObject *object = objects[static_cast<int>(dtype)];
  if (!object) PyErr_SetString(PyExc_RuntimeError, "the dtypes have not been registered with set_dtypes()");
  return object;
}

bool dtype_from_object(PyObject *object, DType *out) {
  const TableEntry &entry = table[table_index(object)];
  if (entry.object != object || !object) return false;
  *out = entry.code;
  return true;
}

bool dtype_from_code(long code, DType *out) {
  if (code < 0 || code >= kDTypes) {
    PyErr_Format(PyExc_ValueError, "no dtype has the code %ld", code);
    return false;
  }
  *out = static_cast<DType>(code);
  return true;
}

bool promote_dtypes(DType a, DType b, DType *out) {
  if (a == b || b == DType::Bool) return *out = a, true;
  if (a == DType::Bool) return *out = b, true;
  if (is_complex(a) || is_complex(b)) {
    const DType real = promote_floating(real_of(a), real_of(b));
    *out = real == DType::Float64   ? DType::Complex128
           : real == DType::Float16 ? DType::Complex32
                                    : DType::Complex64;
    return true;
  }
  if (is_floating(a) || is_floating(b)) return *out = promote_floating(a, b), true;
  if (a >= DType::UInt16 || b >= DType::UInt16) {
    PyErr_Format(PyExc_RuntimeError,
                 "Promotion for uint16, uint32 and uint64 is not defined, but %s meets %s; convert one of them with "
                 ".to()",
                 dtype_scalar_name(a), dtype_scalar_name(b));
    return false;
  }
  const DType larger = a > b ? a : b;
  *out = larger == DType::Int8 ? DType::Int16 : larger;  // uint8 with int8
  return true;
}

int init_dtypes(PyObject *module) { return PyModule_AddFunctions(module, functions); }

}  // namespace rushlight
