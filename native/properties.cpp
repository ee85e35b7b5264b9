// The attributes of Tensor.
#include <algorithm>
#include <utility>

#include "tensor.h"

namespace rushlight {

namespace {

const char kNotLeaf[] =
    "you can only change requires_grad flags of leaf tensors, and this one was computed from others: use detach().";

PyObject *get_shape(PyObject *self, void *) {
  const Meta *meta = as_tensor(self)->meta;
  return size_new(meta->sizes(), meta->ndim);
}

PyObject *get_dtype(PyObject *self, void *) { return Py_XNewRef(dtype_object(as_tensor(self)->meta->dtype)); }

PyObject *get_device(PyObject *self, void *) {
  PyObject *device = registered(as_tensor(self)->meta->device ? "device_meta" : "device_cpu");
  if (device) return Py_NewRef(device);
  PyErr_SetString(PyExc_RuntimeError, "the device objects have not been registered");
  return nullptr;
}

PyObject *get_ndim(PyObject *self, void *) { return PyLong_FromLong(as_tensor(self)->meta->ndim); }

PyObject *get_itemsize(PyObject *self, void *) { return PyLong_FromLongLong(itemsize(as_tensor(self)->meta->dtype)); }

PyObject *get_nbytes(PyObject *self, void *) {
  const Meta *meta = as_tensor(self)->meta;
  return PyLong_FromLongLong(meta->numel * itemsize(meta->dtype));
}

// ---------------------------------------------------------------- transposes

PyObject *permuted(PyObject *self, const int *dims, ViewKind kind) {
  Tensor *t = as_tensor(self);
  if (tensor_exact(self) || !registered("permute")) return view_permute(t, dims, kind);
  int64_t values[kMaxDims];
  for (int i = 0; i < t->meta->ndim; ++i) values[i] = dims[i];
  Reference order(int_tuple(values, t->meta->ndim));
  if (!order) return nullptr;
  PyObject *args[] = {self, order.get()};
  return call_registered("permute", args, 2);
}

PyObject *get_T(PyObject *self, void *) {
  const int ndim = as_tensor(self)->meta->ndim;
  int dims[kMaxDims];
  for (int i = 0; i < ndim; ++i) dims[i] = ndim - 1 - i;
  return permuted(self, dims, ViewKind::Permute);
}

PyObject *get_mT(PyObject *self, void *) {
  const int ndim = as_tensor(self)->meta->ndim;
  if (ndim < 2) {
    return PyErr_Format(PyExc_RuntimeError,
                        "x.mT swaps the last two dims, but x is a %d-D tensor; matrices have two or more", ndim);
  }
  int dims[kMaxDims];
  for (int i = 0; i < ndim; ++i) dims[i] = i;
  std::swap(dims[ndim - 2], dims[ndim - 1]);
  return permuted(self, dims, ViewKind::Transpose);
}

// ---------------------------------------------------------------- automatic differentiation

bool is_leaf(Tensor *t) { return !tape_grad_fn(t); }

PyObject *get_requires_grad(PyObject *self, void *) { return PyBool_FromLong(requires_grad(as_tensor(self))); }

int set_requires_grad(PyObject *self, PyObject *value, void *) {
  if (!value || !PyBool_Check(value)) {
    PyErr_SetString(PyExc_RuntimeError, "requires_grad must be a bool");
    return -1;
  }
  const Autograd *a = as_tensor(self)->autograd;
  if (value == Py_True && a && a->grad_fn) {  // requires_grad_() lets this pass
    PyErr_SetString(PyExc_RuntimeError, kNotLeaf);
    return -1;
  }
  return tensor_set_requires_grad(as_tensor(self), value == Py_True);
}

PyObject *get_is_leaf(PyObject *self, void *) {
  const bool leaf = is_leaf(as_tensor(self));
  return PyErr_Occurred() ? nullptr : PyBool_FromLong(leaf);
}

PyObject *get_grad(PyObject *self, void *) {
  Tensor *t = as_tensor(self);
  if (t->autograd && t->autograd->grad) return Py_NewRef(t->autograd->grad);
  // Asking for .grad does not make a view renew its history.
  if (t->autograd && t->autograd->grad_fn && !t->autograd->retains_grad &&
      PyErr_WarnEx(PyExc_UserWarning,
                   "The .grad attribute of a Tensor with a grad_fn is read. It is not a leaf, so backward() stores no "
                   "gradient in it; call .retain_grad() on it before, to keep one.",
                   1) < 0) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

// What may become t.grad.
bool check_grad(const Tensor *t, PyObject *value) {
  if (!tensor_check(value)) {
    PyErr_Format(PyExc_TypeError, "x.grad = value: the value must be a Tensor or None, not %s",
                 Py_TYPE(value)->tp_name);
    return false;
  }
  const Meta *own = t->meta, *other = as_tensor(value)->meta;
  if (as_tensor(value) == t) {
    PyErr_SetString(PyExc_RuntimeError, "can't assign Variable as its own grad");
  } else if (const DType dtype = gradient_dtype(t, other->dtype); dtype != other->dtype) {
    PyErr_Format(PyExc_RuntimeError,
                 "attempting to assign a gradient with dtype '%s' to a tensor with grad_dtype '%s'. The gradient must "
                 "be of the tensor's grad_dtype, by default the tensor's dtype; set grad_dtype to allow another",
                 dtype_name(other->dtype), dtype_name(dtype));
  } else if (own->device != other->device) {
    PyErr_SetString(PyExc_RuntimeError,
                    "attempting to assign a gradient located on one device to a tensor located on another");
  } else if (own->ndim != other->ndim || !std::equal(own->sizes(), own->sizes() + own->ndim, other->sizes())) {
    PyErr_Format(PyExc_RuntimeError,
                 "x.grad = gradient: the gradient has size %s, and the tensor has size %s; they must be equal",
                 format_ints(other->sizes(), other->ndim).c_str(), format_ints(own->sizes(), own->ndim).c_str());
  } else {
    return true;
  }
  return false;
}

int set_grad(PyObject *self, PyObject *value, void *) {
  Tensor *t = as_tensor(self);
  if (!value || value == Py_None) {
    if (t->autograd) Py_CLEAR(t->autograd->grad);
    return 0;
  }
  if (!check_grad(t, value) || !tensor_autograd(t)) return -1;
  Py_XSETREF(t->autograd->grad, Py_NewRef(value));
  return 0;
}

PyObject *get_grad_fn(PyObject *self, void *) {
  Node *node = tape_grad_fn(as_tensor(self));
  if (node) return Py_NewRef(reinterpret_cast<PyObject *>(node));
  return PyErr_Occurred() ? nullptr : Py_NewRef(Py_None);
}

PyObject *get_output_nr(PyObject *self, void *) {
  const Tensor *t = as_tensor(self);
  return PyLong_FromUnsignedLong(t->autograd ? t->autograd->output_index : 0);
}

PyObject *get_retains_grad(PyObject *self, void *) {
  const Tensor *t = as_tensor(self);
  return PyBool_FromLong(t->autograd && t->autograd->retains_grad);
}

PyObject *get_base(PyObject *self, void *) {
  const Tensor *t = as_tensor(self);
  return Py_NewRef(t->autograd && t->autograd->base ? as_object(t->autograd->base) : Py_None);
}

PyObject *get_version(PyObject *self, void *) {
  const Storage *storage = as_tensor(self)->storage;
  if (!storage->inference) return PyLong_FromUnsignedLong(storage->version);
  PyErr_SetString(PyExc_RuntimeError, "Inference tensors do not track version counter.");
  return nullptr;
}

PyObject *get_data(PyObject *self, void *) {
  Tensor *t = as_tensor(self);
  Storage *storage = storage_share(t->storage, 0);
  if (!storage) return nullptr;
  meta_incref(t->meta);
  return as_object(tensor_new(t->meta, storage, t->data));
}

int set_data(PyObject *self, PyObject *value, void *) { return tensor_set_data(as_tensor(self), value); }

PyObject *get_grad_dtype(PyObject *self, void *) {
  Tensor *t = as_tensor(self);
  if (!is_leaf(t)) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "grad_dtype can only be accessed on leaf tensors.");
    return nullptr;
  }
  if (PyErr_Occurred()) return nullptr;
  const int16_t kept = t->autograd ? t->autograd->grad_dtype : kOwnDType;
  if (kept == kAnyDType) Py_RETURN_NONE;
  return Py_XNewRef(dtype_object(kept == kOwnDType ? t->meta->dtype : DType(kept - 1)));
}

int set_grad_dtype(PyObject *self, PyObject *value, void *) {
  Tensor *t = as_tensor(self);
  if (!is_leaf(t)) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "grad_dtype can only be set on leaf tensors.");
    return -1;
  }
  if (PyErr_Occurred()) return -1;
  int16_t wanted = kAnyDType;
  if (value && value != Py_None) {
    Reference code(PyObject_GetAttrString(value, "code"));
    DType dtype;
    const long number = code ? PyLong_AsLong(code.get()) : -1;
    if (PyErr_Occurred() || !dtype_from_code(number, &dtype)) {
      PyErr_Format(PyExc_RuntimeError, "grad_dtype must be a dtype or None, but is of type '%s'",
                   Py_TYPE(value)->tp_name);
      return -1;
    }
    const PyObject *grad = t->autograd ? t->autograd->grad : nullptr;
    if (grad && reinterpret_cast<const Tensor *>(grad)->meta->dtype != dtype) {
      PyErr_Format(PyExc_RuntimeError,
                   "Cannot set grad_dtype to 'torch.%s' because there is already a gradient with dtype 'torch.%s'. "
                   "Clear it first (.grad = None)",
                   dtype_name(dtype), dtype_name(reinterpret_cast<const Tensor *>(grad)->meta->dtype));
      return -1;
    }
    wanted = int16_t(int(dtype) + 1);
  }
  if (!tensor_autograd(t)) return -1;
  t->autograd->grad_dtype = wanted;
  return 0;
}

}  // namespace

int tensor_set_requires_grad(Tensor *t, bool required) {
  if (!required && t->autograd && t->autograd->grad_fn) {  // a view's, as it was before its base was written
    PyErr_SetString(PyExc_RuntimeError, kNotLeaf);
    return -1;
  }
  if (required && t->storage->inference && !thread_state.inference) {
    PyErr_SetString(PyExc_RuntimeError,
                    "outside of inference mode there is no requires_grad=True on inference tensor; clone() it, and set "
                    "it on the clone.");
    return -1;
  }
  if (required && !is_differentiable(t->meta->dtype)) {
    PyErr_Format(PyExc_RuntimeError, "only Tensors of floating point and complex dtypes have gradients, not torch.%s",
                 dtype_name(t->meta->dtype));
    return -1;
  }
  if (!required && !t->autograd) return 0;
  if (!tensor_autograd(t)) return -1;
  t->autograd->requires_grad = required;
  return 0;
}

int tensor_set_data(Tensor *t, PyObject *value) {
  if (!value) {
    PyErr_SetString(PyExc_RuntimeError, "Deleting tensor data alone cannot be: delete the tensor.");
    return -1;
  }
  if (!tensor_check(value)) {
    PyErr_Format(PyExc_TypeError, "Variable data has to be a tensor, not %s", Py_TYPE(value)->tp_name);
    return -1;
  }
  Tensor *other = as_tensor(value);
  if (requires_grad(t) && !is_differentiable(other->meta->dtype)) {
    PyErr_Format(PyExc_RuntimeError,
                 "x.data = other: x requires gradients, so other must be floating point or complex, not torch.%s",
                 dtype_name(other->meta->dtype));
    return -1;
  }
  // The tensor keeps its version counter: what was saved of it does not count as changed.
  const bool same_memory = storage_memory(t->storage) == storage_memory(other->storage);
  if (!same_memory && other->storage->references == 1 && Py_REFCNT(other) == 1 && !other->weakrefs) {
    other->storage->version = t->storage->version;  // a temporary: nobody else counts its versions
    storage_incref(other->storage);
    storage_decref(std::exchange(t->storage, other->storage));
  } else if (!same_memory) {
    Storage *storage = storage_share(other->storage, t->storage->version);
    if (!storage) return -1;
    storage_decref(std::exchange(t->storage, storage));
  }
  meta_incref(other->meta);
  meta_decref(std::exchange(t->meta, other->meta));
  t->data = other->data;
  return 0;
}

PyGetSetDef tensor_properties[] = {
    {"shape", get_shape, nullptr, "The size of each dimension, a Size.", nullptr},
    {"dtype", get_dtype, nullptr, "The type of the elements.", nullptr},
    {"device", get_device, nullptr, "Where the elements are.", nullptr},
    {"ndim", get_ndim, nullptr, "The number of dimensions.", nullptr},
    {"itemsize", get_itemsize, nullptr, "The number of bytes of an element.", nullptr},
    {"nbytes", get_nbytes, nullptr, "The number of bytes of all elements.", nullptr},
    {"T", get_T, nullptr, "A view with the dimensions reversed.", nullptr},
    {"mT", get_mT, nullptr, "A view with the last two dimensions swapped.", nullptr},
    {"requires_grad", get_requires_grad, set_requires_grad, "Whether gradients are computed for this tensor.", nullptr},
    {"is_leaf", get_is_leaf, nullptr, "Whether no recorded operator made this tensor.", nullptr},
    {"grad", get_grad, set_grad, "The gradient that backward() accumulated, or None.", nullptr},
    {"grad_dtype", get_grad_dtype, set_grad_dtype, "The dtype of a leaf's .grad; None: any.", nullptr},
    {"grad_fn", get_grad_fn, nullptr, "The node of the tape that made this tensor, or None.", nullptr},
    {"output_nr", get_output_nr, nullptr, "Which output of grad_fn this tensor is.", nullptr},
    {"retains_grad", get_retains_grad, nullptr, "Whether backward() keeps this non-leaf tensor's gradient.", nullptr},
    {"data", get_data, set_data, "The same elements without a gradient's history.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"_base", get_base, nullptr, "The tensor this one is a view of, or None.", nullptr},
    {"_version", get_version, nullptr, "How often the elements have been written in place.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace rushlight
