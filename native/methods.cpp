// The native methods of Tensor: questions about its layout, and conversions to Python numbers.
#include "tensor.h"

namespace rushlight {

namespace {

// The one optional argument of a method, given by position or by name; false with TypeError set.
bool optional_argument(const char *function, const char *name, PyObject *const *args, Py_ssize_t count,
                       PyObject *keyword_names, PyObject **out) {
  *out = nullptr;
  const Py_ssize_t keywords = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
  if (count + keywords > 1) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most 1 argument (%zd given)", function, count + keywords);
    return false;
  }
  if (keywords && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keyword_names, 0), name) != 0) {
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument %R", function,
                 PyTuple_GET_ITEM(keyword_names, 0));
    return false;
  }
  if (count + keywords == 1) *out = args[0];
  return true;
}

// size() and stride(): one of the values, or all of them as `everything` makes them.
PyObject *size_or_stride(const char *function, const Meta *meta, const int64_t *values, PyObject *dim,
                         PyObject *(*everything)(const int64_t *, int)) {
  if (!dim || dim == Py_None) return everything(values, meta->ndim);
  if (!PyIndex_Check(dim) || PyBool_Check(dim)) {
    return PyErr_Format(PyExc_TypeError, "%s(): argument 'dim' must be int, not %s", function, Py_TYPE(dim)->tp_name);
  }
  const Py_ssize_t value = PyNumber_AsSsize_t(dim, PyExc_IndexError);
  if (value == -1 && PyErr_Occurred()) return nullptr;
  if (meta->ndim == 0) {
    return PyErr_Format(PyExc_IndexError, "Dimension specified as %zd but tensor has no dimensions", value);
  }
  int wrapped;
  return wrap_dim(value, meta->ndim, &wrapped) ? PyLong_FromLongLong(values[wrapped]) : nullptr;
}

PyObject *method_size(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keyword_names) {
  PyObject *dim;
  if (!optional_argument("size", "dim", args, count, keyword_names, &dim)) return nullptr;
  const Meta *meta = as_tensor(self)->meta;
  return size_or_stride("size", meta, meta->sizes(), dim, size_new);
}

PyObject *method_stride(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keyword_names) {
  PyObject *dim;
  if (!optional_argument("stride", "dim", args, count, keyword_names, &dim)) return nullptr;
  const Meta *meta = as_tensor(self)->meta;
  return size_or_stride("stride", meta, meta->strides(), dim, int_tuple);
}

PyObject *method_dim(PyObject *self, PyObject *) { return PyLong_FromLong(as_tensor(self)->meta->ndim); }

PyObject *method_numel(PyObject *self, PyObject *) { return PyLong_FromLongLong(as_tensor(self)->meta->numel); }

PyObject *method_element_size(PyObject *self, PyObject *) {
  return PyLong_FromLongLong(itemsize(as_tensor(self)->meta->dtype));
}

PyObject *method_storage_offset(PyObject *self, PyObject *) {
  return PyLong_FromLongLong(storage_offset(as_tensor(self)));
}

PyObject *method_data_ptr(PyObject *self, PyObject *) {
  const Tensor *t = as_tensor(self);
  return PyLong_FromVoidPtr(t->meta->numel && !t->meta->device ? t->data : nullptr);
}

PyObject *method_untyped_storage(PyObject *self, PyObject *) {
  return storage_handle_new(as_tensor(self)->storage, as_tensor(self)->meta->device);
}

PyObject *method_is_floating_point(PyObject *self, PyObject *) {
  return PyBool_FromLong(is_floating(as_tensor(self)->meta->dtype));
}

PyObject *method_is_complex(PyObject *self, PyObject *) {
  return PyBool_FromLong(is_complex(as_tensor(self)->meta->dtype));
}

PyObject *method_is_signed(PyObject *self, PyObject *) {
  const DType dtype = as_tensor(self)->meta->dtype;
  const bool is_unsigned =
      dtype <= DType::UInt8 || (dtype >= DType::UInt16 && dtype <= DType::UInt64);
  return PyBool_FromLong(!is_unsigned);
}

PyObject *method_is_contiguous(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keyword_names) {
  PyObject *format;
  if (!optional_argument("is_contiguous", "memory_format", args, count, keyword_names, &format)) return nullptr;
  const Meta *meta = as_tensor(self)->meta;
  if (!format) return PyBool_FromLong(meta->contiguous());
  const int answer = meta_in_format(meta, format);
  if (answer >= 0) return PyBool_FromLong(answer);
  return PyErr_Format(PyExc_TypeError,
                      "is_contiguous(): argument 'memory_format' must be contiguous_format, channels_last or "
                      "channels_last_3d, not %R",
                      format);
}

PyObject *method_requires_grad_(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keyword_names) {
  PyObject *flag;
  if (!optional_argument("requires_grad_", "requires_grad", args, count, keyword_names, &flag)) return nullptr;
  if (flag && !PyBool_Check(flag)) {
    return PyErr_Format(PyExc_TypeError, "requires_grad_(): argument 'requires_grad' must be bool, not %s",
                        Py_TYPE(flag)->tp_name);
  }
  return tensor_set_requires_grad(as_tensor(self), flag != Py_False) < 0 ? nullptr : Py_NewRef(self);
}

// ---------------------------------------------------------------- numbers

PyObject *method_item(PyObject *self, PyObject *) { return tensor_item(as_tensor(self)); }

PyObject *method_tolist(PyObject *self, PyObject *) { return tensor_to_list(as_tensor(self)); }

PyObject *method_complex(PyObject *self, PyObject *) {
  if (!require_one_element(as_tensor(self))) return nullptr;
  Reference number(tensor_item(as_tensor(self)));
  if (!number) return nullptr;
  const Py_complex value = PyComplex_AsCComplex(number.get());
  return value.real == -1.0 && PyErr_Occurred() ? nullptr : PyComplex_FromCComplex(value);
}

PyObject *list_of_dim(const Tensor *t, int dim, const char *data) {
  const Meta *meta = t->meta;
  if (dim == meta->ndim) return number_from_element(meta->dtype, data);
  const int64_t step = wrapping_product(meta->strides()[dim], itemsize(meta->dtype));
  PyObject *list = PyList_New(static_cast<Py_ssize_t>(meta->sizes()[dim]));
  for (int64_t i = 0; list && i < meta->sizes()[dim]; ++i) {
    PyObject *item = list_of_dim(t, dim + 1, offset_by(data, wrapping_product(i, step)));
    if (item) PyList_SET_ITEM(list, i, item);
    else Py_CLEAR(list);
  }
  return list;
}

// ---------------------------------------------------------------- subclasses

PyTypeObject *tensor_subclass(const char *function, PyObject *type) {
  if (PyType_Check(type) && PyType_IsSubtype(reinterpret_cast<PyTypeObject *>(type), &TensorType)) {
    return reinterpret_cast<PyTypeObject *>(type);
  }
  PyErr_Format(PyExc_TypeError, "%s(): cls must be a subclass of Tensor (got %R)", function, type);
  return nullptr;
}

PyObject *make_subclass(PyObject *, PyObject *args, PyObject *kwargs) {
  static const char *keywords[] = {"cls", "data", "require_grad", nullptr};
  PyObject *cls, *data;
  int require_grad = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!|p:_make_subclass", const_cast<char **>(keywords), &cls,
                                   &TensorType, &data, &require_grad)) {
    return nullptr;
  }
  PyTypeObject *type = tensor_subclass("_make_subclass", cls);
  if (!type) return nullptr;
  Tensor *source = as_tensor(data);
  meta_incref(source->meta);
  storage_incref(source->storage);
  Tensor *made = tensor_new_of(type, source->meta, source->storage, source->data);
  if (!made) return nullptr;
  if (require_grad && tensor_set_requires_grad(made, true) < 0) {
    Py_DECREF(made);
    return nullptr;
  }
  return as_object(made);
}

PyCFunction with_keywords(PyObject *(*function)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

constexpr int kKeywords = METH_FASTCALL | METH_KEYWORDS;

}  // namespace

PyObject *tensor_as_subclass(PyObject *self, PyObject *cls) {
  PyTypeObject *type = tensor_subclass("as_subclass", cls);
  if (!type) return nullptr;
  Tensor *t = as_tensor(self);
  ViewLayout layout;
  for (int i = 0; i < t->meta->ndim; ++i) layout.push(t->meta->sizes()[i], t->meta->strides()[i]);
  return view_new(t, layout, ViewKind::Alias, nullptr, 0, type);
}

bool require_one_element(const Tensor *t) {
  if (t->meta->numel == 1) return true;
  PyErr_Format(PyExc_ValueError, "only one element tensors can be converted to a number, and this one has shape %s",
               format_ints(t->meta->sizes(), t->meta->ndim).c_str());
  return false;
}

PyObject *tensor_item(Tensor *t) {
  if (t->meta->numel != 1) {
    return PyErr_Format(PyExc_RuntimeError, "a Tensor with %lld elements cannot be converted to Scalar",
                        static_cast<long long>(t->meta->numel));
  }
  if (t->meta->device == 0) return number_from_element(t->meta->dtype, t->data);
  PyErr_SetString(PyExc_RuntimeError, "Tensor.item() cannot be called on meta tensors");
  return nullptr;
}

PyObject *tensor_to_list(Tensor *t) {
  if (t->meta->device == 0) {
    // Making lists may start the garbage collector, and a finalizer may give the tensor other memory.
    meta_incref(t->meta);
    storage_incref(t->storage);
    Reference held(as_object(tensor_new(t->meta, t->storage, t->data)));
    return held ? list_of_dim(as_tensor(held.get()), 0, as_tensor(held.get())->data) : nullptr;
  }
  PyErr_SetString(PyExc_NotImplementedError, "tolist(): Cannot copy out of meta tensor; no data!");
  return nullptr;
}

PyMethodDef tensor_methods[] = {
    {"size", with_keywords(method_size), kKeywords, "size(dim=None): the shape, or the size of one dimension."},
    {"stride", with_keywords(method_stride), kKeywords, "stride(dim=None): the distance of neighbours, in elements."},
    {"dim", method_dim, METH_NOARGS, "The number of dimensions."},
    {"ndimension", method_dim, METH_NOARGS, "The number of dimensions."},
    {"numel", method_numel, METH_NOARGS, "The number of elements."},
    {"nelement", method_numel, METH_NOARGS, "The number of elements."},
    {"element_size", method_element_size, METH_NOARGS, "The number of bytes of an element."},
    {"storage_offset", method_storage_offset, METH_NOARGS, "Where the first element lies in the storage, in elements."},
    {"data_ptr", method_data_ptr, METH_NOARGS, "The address of the first element."},
    {"untyped_storage", method_untyped_storage, METH_NOARGS, "The bytes this tensor shares with its views."},
    {"is_floating_point", method_is_floating_point, METH_NOARGS, "Whether the dtype is a floating-point type."},
    {"is_complex", method_is_complex, METH_NOARGS, "Whether the dtype is complex."},
    {"is_signed", method_is_signed, METH_NOARGS, "Whether the dtype has negative values."},
    {"is_contiguous", with_keywords(method_is_contiguous), kKeywords,
     "is_contiguous(memory_format=contiguous_format): whether the elements lie in order, without gaps."},
    {"requires_grad_", with_keywords(method_requires_grad_), kKeywords,
     "requires_grad_(requires_grad=True): change whether gradients are computed; returns this tensor."},
    {"item", method_item, METH_NOARGS, "The only element as a Python number."},
    {"tolist", method_tolist, METH_NOARGS, "The elements as nested lists of Python numbers."},
    {"__complex__", method_complex, METH_NOARGS, nullptr},
    {"_make_subclass", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(make_subclass)),
     METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "_make_subclass(cls, data, require_grad=False): a tensor of a subclass that shares data's elements."},
    {"resize_", tensor_resize, METH_VARARGS,
     "resize_(*sizes): give the tensor other sizes; elements beyond the former ones are not set."},
    {"as_subclass", tensor_as_subclass, METH_O, "as_subclass(cls): a view of this tensor as a subclass."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace rushlight
