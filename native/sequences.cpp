// Tensors from nested sequences of Python numbers: what torch.tensor([[1, 2], [3, 4]]) does.
#include "tensor.h"

namespace rushlight {

namespace {

bool is_text(PyObject *object) { return PyUnicode_Check(object) || PyBytes_Check(object); }

bool text_error(PyObject *object) {
  PyErr_Format(PyExc_TypeError, "new(): invalid data type '%s'", Py_TYPE(object)->tp_name);
  return false;
}

// A list, tuple, range, array ...; tensors and NumPy scalars are numbers here.
bool is_sequence(PyObject *object) { return PySequence_Check(object) && !tensor_check(object); }

// A tensor with one element stands for a number.
PyObject *number_of_tensor(PyObject *tensor) {
  return require_one_element(as_tensor(tensor)) ? tensor_item(as_tensor(tensor)) : nullptr;
}

// The sizes, from the first item of each level; false with an error set.
bool find_sizes(PyObject *data, IntList *sizes) {
  Reference current(Py_NewRef(data));
  PyObject *level = current.release();
  while (is_sequence(level)) {
    Reference held(level);
    const Py_ssize_t length = PySequence_Size(level);
    if (length < 0) return false;
    if (sizes->count == kMaxDims || is_text(level)) {
      PyErr_Format(PyExc_ValueError, "too many dimensions '%s'", Py_TYPE(level)->tp_name);
      return false;
    }
    sizes->values[sizes->count++] = length;
    if (length == 0) return true;
    level = PySequence_GetItem(held.get(), 0);
    if (!level) return false;
  }
  Py_DECREF(level);
  return true;
}

// Calls visit(item) for each item of a sequence while it returns true. The sequence may change meanwhile: `length`
// items are expected.
template <class Visit>
bool for_each_item(PyObject *sequence, Visit visit) {
  Reference items(PySequence_Fast(sequence, "not a sequence"));
  if (!items) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    Reference item(Py_NewRef(PySequence_Fast_GET_ITEM(items.get(), i)));
    if (!visit(item.get(), i)) return false;
  }
  return true;
}

// Promote *dtype with all numbers below `object`; `any` tells whether there has been one. False with an error set.
bool infer_dtype(PyObject *object, int depth, DType *dtype, bool *any) {
  DType found;
  if (PyFloat_CheckExact(object)) found = default_dtype;
  else if (PyLong_CheckExact(object)) found = DType::Int64;
  else if (tensor_check(object)) found = as_tensor(object)->meta->dtype;
  else if (is_text(object)) return text_error(object);
  else if (!dtype_of_number(object, &found)) {
    if (!is_sequence(object)) {
      PyErr_Format(PyExc_RuntimeError, "Could not infer dtype of %s", Py_TYPE(object)->tp_name);
      return false;
    }
    if (depth == kMaxDims) {
      PyErr_Format(PyExc_ValueError, "too many dimensions '%s'", Py_TYPE(object)->tp_name);
      return false;
    }
    return for_each_item(object, [=](PyObject *item, Py_ssize_t) { return infer_dtype(item, depth + 1, dtype, any); });
  }
  if (*any && found == *dtype) return true;
  if (*any) return promote_dtypes(*dtype, found, dtype);
  *dtype = found;
  return *any = true;
}

// Writes the numbers of nested sequences in row-major order.
class Filler {
 public:
  Filler(Tensor *tensor) : meta_(tensor->meta), item_(itemsize(meta_->dtype)), data_(tensor->data) {}

  bool fill(PyObject *object, int dim) {
    if (dim == meta_->ndim) return write(object);
    if (!is_sequence(object)) {
      PyErr_Format(PyExc_TypeError, "not a sequence: expected a sequence of length %lld at dim %d, got %s",
                   static_cast<long long>(meta_->sizes()[dim]), dim, Py_TYPE(object)->tp_name);
      return false;
    }
    Py_ssize_t count = 0;
    const bool filled = for_each_item(object, [&](PyObject *item, Py_ssize_t i) {
      count = i + 1;
      return count <= meta_->sizes()[dim] ? fill(item, dim + 1) : length_error(PySequence_Size(object), dim);
    });
    return filled && (count == meta_->sizes()[dim] || length_error(count, dim));
  }

 private:
  bool length_error(Py_ssize_t got, int dim) const {
    PyErr_Format(PyExc_ValueError, "expected sequence of length %lld at dim %d (got %zd)",
                 static_cast<long long>(meta_->sizes()[dim]), dim, got);
    return false;
  }

  bool write(PyObject *number) {
    char *element = data_;
    data_ += item_;
    if (!tensor_check(number)) return element_from_number(number, meta_->dtype, element) == 0;
    Reference converted(number_of_tensor(number));
    return converted && element_from_number(converted.get(), meta_->dtype, element) == 0;
  }

  const Meta *meta_;
  int64_t item_;
  char *data_;
};

PyObject *core_tensor_from_data(PyObject *, PyObject *args) {
  PyObject *data;
  long code = -1;
  DType dtype;
  if (!PyArg_ParseTuple(args, "O|l:tensor_from_data", &data, &code)) return nullptr;
  if (code >= 0 && !dtype_from_code(code, &dtype)) return nullptr;
  return tensor_from_sequences(data, code >= 0 ? &dtype : nullptr);
}

PyMethodDef functions[] = {
    {"tensor_from_data", core_tensor_from_data, METH_VARARGS,
     "tensor_from_data(data, dtype_code=-1): a tensor of nested sequences of numbers; -1 infers the dtype."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyObject *tensor_from_sequences(PyObject *data, const DType *dtype, PyTypeObject *type) {
  if (is_text(data)) {
    text_error(data);
    return nullptr;
  }
  IntList sizes;
  if (!find_sizes(data, &sizes)) return nullptr;
  DType inferred = default_dtype;  // of a tensor without elements
  bool any = false;
  if (dtype) inferred = *dtype;
  else if (!infer_dtype(data, 0, &inferred, &any)) return nullptr;
  Meta *meta = meta_contiguous(inferred, 0, sizes.count, sizes.values);
  Storage *storage = meta ? storage_for(meta) : nullptr;
  if (!storage) {
    if (meta) meta_decref(meta);
    return nullptr;
  }
  Tensor *tensor = tensor_new_of(type, meta, storage, storage->data);
  if (tensor && !Filler(tensor).fill(data, 0)) Py_CLEAR(tensor);
  return as_object(tensor);
}

int init_sequences(PyObject *module) { return PyModule_AddFunctions(module, functions); }

}  // namespace rushlight
