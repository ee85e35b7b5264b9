// rushlight.Size: the tuple of ints that is a tensor's shape; and ints taken from Python tuples.
#include "tensor.h"

namespace rushlight {

namespace {

// A Size with the items of a tuple.
PyObject *size_from_tuple(PyObject *tuple) {
  const Py_ssize_t count = PyTuple_GET_SIZE(tuple);
  PyObject *size = SizeType.tp_alloc(&SizeType, count);
  if (!size) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(size, i, Py_NewRef(PyTuple_GET_ITEM(tuple, i)));
  return size;
}

// A tuple operation's result as a Size; other results and errors pass unchanged.
PyObject *as_size(PyObject *result) {
  if (!result || !PyTuple_CheckExact(result)) return result;
  Reference tuple(result);
  return size_from_tuple(result);
}

PyObject *size_create(PyTypeObject *, PyObject *args, PyObject *kwargs) {
  PyObject *iterable = nullptr;
  if (kwargs && PyDict_GET_SIZE(kwargs)) {
    PyErr_SetString(PyExc_TypeError, "torch.Size() takes no keyword arguments");
    return nullptr;
  }
  if (!PyArg_ParseTuple(args, "|O:Size", &iterable)) return nullptr;
  Reference items(iterable ? PySequence_Tuple(iterable) : PyTuple_New(0));
  if (!items) return nullptr;
  const Py_ssize_t count = PyTuple_GET_SIZE(items.get());
  Reference size(SizeType.tp_alloc(&SizeType, count));
  if (!size) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *item = PyTuple_GET_ITEM(items.get(), i);
    if (PyIndex_Check(item)) item = PyLong_CheckExact(item) ? Py_NewRef(item) : PyNumber_Index(item);
    else item = nullptr;
    if (!item) {
      PyErr_Format(PyExc_TypeError, "torch.Size() is made of ints, but item %zd is '%s'", i,
                   Py_TYPE(PyTuple_GET_ITEM(items.get(), i))->tp_name);
      return nullptr;
    }
    PyTuple_SET_ITEM(size.get(), i, item);
  }
  return size.release();
}

PyObject *size_repr(PyObject *self) {
  Reference list(PySequence_List(self));
  return list ? PyUnicode_FromFormat("torch.Size(%R)", list.get()) : nullptr;
}

PyObject *size_concat(PyObject *left, PyObject *right) {
  if (!PyTuple_Check(right)) {
    return PyErr_Format(PyExc_TypeError, "can only concatenate tuple (not %s) to torch.Size",
                        Py_TYPE(right)->tp_name);
  }
  return as_size(PyTuple_Type.tp_as_sequence->sq_concat(left, right));
}

// (1, 2) + Size is a Size too: a subclass's reflected slot goes first.
PyObject *size_add(PyObject *left, PyObject *right) {
  if (!PyTuple_Check(left) || !PyTuple_Check(right)) Py_RETURN_NOTIMPLEMENTED;
  return size_concat(left, right);
}

PyObject *size_repeat(PyObject *self, Py_ssize_t count) {
  PyObject *result = PyTuple_Type.tp_as_sequence->sq_repeat(self, count);
  return as_size(result);
}

PyObject *size_subscript(PyObject *self, PyObject *index) {
  PyObject *result = PyTuple_Type.tp_as_mapping->mp_subscript(self, index);
  return PySlice_Check(index) ? as_size(result) : result;
}

PyObject *size_numel(PyObject *self, PyObject *) {
  Reference product(PyLong_FromLong(1));
  PyObject *result = product.release();
  for (Py_ssize_t i = 0; result && i < PyTuple_GET_SIZE(self); ++i) {
    Reference previous(result);
    result = PyNumber_Multiply(previous.get(), PyTuple_GET_ITEM(self, i));
  }
  return result;
}

PyObject *size_reduce(PyObject *self, PyObject *) {
  Reference tuple(PyTuple_GetSlice(self, 0, PyTuple_GET_SIZE(self)));
  return tuple ? Py_BuildValue("(O(O))", &SizeType, tuple.get()) : nullptr;
}

PyMethodDef size_methods[] = {
    {"numel", size_numel, METH_NOARGS, "The number of elements of a tensor of this size."},
    {"__reduce__", size_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PySequenceMethods size_sequence = [] {
  PySequenceMethods slots{};
  slots.sq_concat = size_concat;
  slots.sq_repeat = size_repeat;
  return slots;
}();

PyNumberMethods size_number = [] {
  PyNumberMethods slots{};
  slots.nb_add = size_add;
  return slots;
}();

PyMappingMethods size_mapping = [] {
  PyMappingMethods slots{};
  slots.mp_subscript = size_subscript;
  return slots;
}();

}  // namespace

PyTypeObject SizeType = [] {
  PyTypeObject type{PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "rushlight.Size";
  type.tp_doc = "The shape of a tensor: a tuple of ints.";
  type.tp_base = &PyTuple_Type;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_new = size_create;
  type.tp_repr = size_repr;
  type.tp_methods = size_methods;
  type.tp_as_sequence = &size_sequence;
  type.tp_as_mapping = &size_mapping;
  type.tp_as_number = &size_number;
  return type;
}();

PyObject *size_new(const int64_t *sizes, int ndim) {
  PyObject *size = SizeType.tp_alloc(&SizeType, ndim);
  if (!size) return nullptr;
  for (int i = 0; i < ndim; ++i) {
    PyObject *item = PyLong_FromLongLong(sizes[i]);
    if (!item) {
      Py_DECREF(size);
      return nullptr;
    }
    PyTuple_SET_ITEM(size, i, item);
  }
  return size;
}

PyObject *int_tuple(const int64_t *values, int count) {
  PyObject *tuple = PyTuple_New(count);
  for (int i = 0; tuple && i < count; ++i) {
    PyObject *item = PyLong_FromLongLong(values[i]);
    if (item) PyTuple_SET_ITEM(tuple, i, item);
    else Py_CLEAR(tuple);
  }
  return tuple;
}

std::string format_ints(const int64_t *values, int count) {
  std::string text = "[";
  for (int i = 0; i < count; ++i) {
    if (i) text += ", ";
    text += std::to_string(values[i]);
  }
  return text + "]";
}

bool parse_int(PyObject *object, int64_t *out) {
  if (!PyLong_CheckExact(object)) return false;
  int overflow;
  *out = PyLong_AsLongLongAndOverflow(object, &overflow);
  return !overflow;
}

bool parse_ints(PyObject *object, IntList *out) {
  if (!PyTuple_Check(object) && !PyList_Check(object)) return false;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
  if (count > kMaxDims) return false;
  out->count = static_cast<int>(count);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!parse_int(PySequence_Fast_GET_ITEM(object, i), &out->values[i])) return false;
  }
  return true;
}

bool require_ints(PyObject *object, const char *function, IntList *out) {
  Reference items(PyIndex_Check(object) ? PyTuple_Pack(1, object) : PySequence_Tuple(object));
  if (!items) return false;
  const Py_ssize_t count = PyTuple_GET_SIZE(items.get());
  if (count > kMaxDims) {
    PyErr_Format(PyExc_RuntimeError, "%s(): a tensor has at most %d dimensions, got %zd", function, kMaxDims, count);
    return false;
  }
  out->count = static_cast<int>(count);
  for (Py_ssize_t i = 0; i < count; ++i) {
    Reference number(PyNumber_Index(PyTuple_GET_ITEM(items.get(), i)));
    if (!number) return false;
    out->values[i] = PyLong_AsLongLong(number.get());
    if (out->values[i] == -1 && PyErr_Occurred()) return false;
  }
  return true;
}

}  // namespace rushlight
