// Helpers to take specifications apart: each throws Failure with a Python error set.
#pragma once
#include <cstdarg>

#include "signature.h"

namespace rushlight {

[[noreturn]] inline void fail(PyObject *type, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  PyErr_FormatV(type, format, arguments);
  va_end(arguments);
  throw Failure();
}

// The items of a tuple or list; lists are copied, so items stay alive and in place.
class Items {
 public:
  Items(PyObject *sequence, const char *what) {
    if (!PyTuple_Check(sequence) && !PyList_Check(sequence)) {
      fail(PyExc_TypeError, "Plan: %s must be a tuple or list, not %s", what, Py_TYPE(sequence)->tp_name);
    }
    tuple_ = PySequence_Tuple(sequence);
    if (!tuple_) throw Failure();
  }
  ~Items() { Py_DECREF(tuple_); }
  Items(const Items &) = delete;
  Items &operator=(const Items &) = delete;
  size_t size() const { return size_t(PyTuple_GET_SIZE(tuple_)); }
  PyObject *operator[](size_t i) const { return PyTuple_GET_ITEM(tuple_, Py_ssize_t(i)); }
  void require(size_t count, const char *what) const {
    if (size() != count) fail(PyExc_ValueError, "Plan: %s has %zu items, not %zu", what, size(), count);
  }

 private:
  PyObject *tuple_;
};

inline const char *text_of(PyObject *object, const char *what) {
  const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : nullptr;
  if (!text) {
    PyErr_Clear();
    fail(PyExc_TypeError, "Plan: %s must be a string, not %s", what, Py_TYPE(object)->tp_name);
  }
  return text;
}

inline int64_t int_of(PyObject *object, const char *what) {
  if (!PyLong_Check(object)) fail(PyExc_TypeError, "Plan: %s must be an int, not %R", what, object);
  int overflow;
  int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow) fail(PyExc_ValueError, "Plan: %s is out of range: %R", what, object);
  return value;
}

// An int in [low, high).
inline int index_of(PyObject *object, int64_t low, int64_t high, const char *what) {
  int64_t value = int_of(object, what);
  if (value < low || value >= high) {
    fail(PyExc_ValueError, "Plan: %s is %lld, outside [%lld, %lld)", what, static_cast<long long>(value),
         static_cast<long long>(low), static_cast<long long>(high));
  }
  return int(value);
}

inline std::vector<int> indices_of(PyObject *sequence, int64_t low, int64_t high, const char *what) {
  Items items(sequence, what);
  std::vector<int> result;
  for (size_t i = 0; i < items.size(); ++i) result.push_back(index_of(items[i], low, high, what));
  return result;
}

}  // namespace rushlight
