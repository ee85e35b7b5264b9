// x[...] and x[...] = value for ints, slices, None and Ellipsis. Other indices go to the registered operators.
#include <utility>

#include "tensor.h"

namespace rushlight {

namespace {

enum class Outcome { Done, NotHandled, Error };

// An int, or a NumPy integer.
Outcome parse_index(PyObject *object, int64_t *out) {
  if (PyBool_Check(object)) return Outcome::NotHandled;  // a mask
  const bool is_int = PyLong_Check(object);
  if (!is_int && (!PyIndex_Check(object) || tensor_check(object))) return Outcome::NotHandled;
  if (!is_int && !is_numpy_scalar(object)) return Outcome::NotHandled;
  Reference number(PyNumber_Index(object));
  if (!number) {  // numpy.bool
    PyErr_Clear();
    return Outcome::NotHandled;
  }
  int overflow;
  *out = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  if (!overflow) return Outcome::Done;
  PyErr_SetString(PyExc_ValueError, "an index of a tensor must fit in 64 bits");
  return Outcome::Error;
}

// Applies the parts of an index expression from left to right.
class Indexing {
 public:
  explicit Indexing(const Meta *meta) : meta_(meta) {}

  Outcome apply(PyObject *const *parts, Py_ssize_t count) {
    const Outcome outcome = count_dims(parts, count);
    if (outcome != Outcome::Done) return outcome;
    for (Py_ssize_t i = 0; i < count; ++i) {
      const Outcome part = apply_one(parts[i]);
      if (part != Outcome::Done) return part;
    }
    return keep(meta_->ndim - dim_) ? Outcome::Done : Outcome::Error;
  }

  // Do the parts take all of the tensor as it is?
  bool whole() const { return arguments_ == 0 && layout_.ndim == meta_->ndim; }

  // x[i] alone is a select.
  PyObject *view(Tensor *base, bool single) const {
    ViewKind kind = ViewKind::Slice;
    if (arguments_ == 0) kind = whole() ? ViewKind::Alias : ViewKind::Unsqueeze;
    else if (single && layout_.ndim < meta_->ndim) kind = ViewKind::Select;
    return view_new(base, layout_, kind, quadruples_, arguments_);
  }

 private:
  // How many dims the Ellipsis stands for; checks that all parts are of our kinds.
  Outcome count_dims(PyObject *const *parts, Py_ssize_t count) {
    int64_t specified = 0, ignored;
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject *part = parts[i];
      if (part == Py_None || part == Py_Ellipsis) continue;
      ++specified;
      if (PySlice_Check(part)) continue;
      const Outcome outcome = parse_index(part, &ignored);
      if (outcome != Outcome::Done) return outcome;
    }
    if (specified <= meta_->ndim) {
      ellipsis_ = static_cast<int>(meta_->ndim - specified);
      return Outcome::Done;
    }
    if (meta_->ndim > 0 || count != 1) {
      PyErr_Format(PyExc_IndexError, "too many indices for tensor of dimension %d", meta_->ndim);
    } else if (PySlice_Check(parts[0])) {
      PyErr_SetString(PyExc_IndexError, "slice() cannot be applied to a 0-dim tensor.");
    } else {
      PyErr_SetString(PyExc_IndexError,
                      "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to a number");
    }
    return Outcome::Error;
  }

  Outcome apply_one(PyObject *part) {
    if (part == Py_None) return layout_.push(1, next_stride()) ? Outcome::Done : Outcome::Error;
    if (part == Py_Ellipsis) return keep(std::exchange(ellipsis_, 0)) ? Outcome::Done : Outcome::Error;
    if (PySlice_Check(part)) return apply_slice(part);
    int64_t index;
    const Outcome outcome = parse_index(part, &index);
    return outcome == Outcome::Done ? apply_int(index) : outcome;
  }

  Outcome apply_int(int64_t index) {
    const int64_t size = meta_->sizes()[dim_];
    if (index < -size || index >= size) {
      PyErr_Format(PyExc_IndexError, "index %lld is out of bounds for dimension %d with size %lld",
                   static_cast<long long>(index), dim_, static_cast<long long>(size));
      return Outcome::Error;
    }
    if (index < 0) index += size;
    layout_.offset = wrapping_sum(layout_.offset, wrapping_product(index, meta_->strides()[dim_]));
    record(index, 1, 1);
    ++dim_;
    return Outcome::Done;
  }

  Outcome apply_slice(PyObject *slice) {
    const int64_t size = meta_->sizes()[dim_], stride = meta_->strides()[dim_];
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0) return Outcome::Error;
    if (step < 0) {
      PyErr_SetString(PyExc_ValueError, "step must be greater than zero");
      return Outcome::Error;
    }
    const Py_ssize_t length = PySlice_AdjustIndices(static_cast<Py_ssize_t>(size), &start, &stop, step);
    if (!layout_.push(length, wrapping_product(stride, step))) return Outcome::Error;
    layout_.offset = wrapping_sum(layout_.offset, wrapping_product(start, stride));
    if (start != 0 || step != 1 || length != size) record(start, step, length);
    ++dim_;
    return Outcome::Done;
  }

  // The next dims as they are.
  bool keep(int count) {
    for (; count > 0; --count, ++dim_) {
      if (!layout_.push(meta_->sizes()[dim_], meta_->strides()[dim_])) return false;
    }
    return true;
  }

  int64_t next_stride() const {
    return dim_ < meta_->ndim ? wrapping_product(meta_->sizes()[dim_], meta_->strides()[dim_]) : 1;
  }

  void record(int64_t start, int64_t step, int64_t length) {
    for (int64_t value : {static_cast<int64_t>(dim_), start, step, length}) quadruples_[arguments_++] = value;
  }

  const Meta *meta_;
  ViewLayout layout_;
  int dim_ = 0;       // the next dim of the base
  int ellipsis_ = 0;  // how many dims the first Ellipsis stands for
  int64_t quadruples_[4 * kMaxDims];
  size_t arguments_ = 0;
};

// A view for a basic index; null without an error for other indices. A write to all of a tensor is one to the tensor
// itself, so that its history does not speak of a view.
PyObject *basic_view(Tensor *base, PyObject *index, bool written = false) {
  const bool several = PyTuple_Check(index);
  PyObject *const *parts = several ? &PyTuple_GET_ITEM(index, 0) : &index;
  Indexing indexing(base->meta);
  if (indexing.apply(parts, several ? PyTuple_GET_SIZE(index) : 1) != Outcome::Done) return nullptr;
  if (written && indexing.whole()) return Py_NewRef(as_object(base));
  return indexing.view(base, !several);
}

// x[positions] is index(x, [positions]).
PyObject *index_by_tensor(PyObject *self, PyObject *index) {
  PyObject *operation = registered("index");
  if (!operation || as_tensor(self)->meta->ndim == 0) return nullptr;
  const Meta *meta = as_tensor(index)->meta;
  if (meta->dtype != DType::Int64 || meta->ndim == 0) return nullptr;
  Reference indices(PyList_New(1));
  if (!indices) return nullptr;
  PyList_SET_ITEM(indices.get(), 0, Py_NewRef(index));
  PyObject *args[] = {self, indices.get()};
  return PyObject_Vectorcall(operation, args, 2, nullptr);
}

PyObject *tensor_subscript(PyObject *self, PyObject *index) {
  if (tensor_exact(self) && tensor_exact(index)) {
    PyObject *result = index_by_tensor(self, index);
    if (result || PyErr_Occurred()) return result;
  }
  if (tensor_exact(self) || !registered("getitem")) {
    PyObject *view = basic_view(as_tensor(self), index);
    if (view || PyErr_Occurred()) return view;
  }
  PyObject *args[] = {self, index};
  return call_registered("getitem", args, 2);
}

// Write into a view: a tensor of at most its rank, or a number.
PyObject *write(PyObject *view, PyObject *value) {
  if (!tensor_check(value)) {
    PyObject *args[] = {view, value};
    return call_registered("set_to", args, 2);
  }
  Reference source(view_drop_leading_ones(as_tensor(value), as_tensor(view)->meta->ndim));
  if (!source) return nullptr;
  PyObject *args[] = {view, source.get()};
  return call_registered("copy_", args, 2);
}

bool is_number(PyObject *value) {
  return PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value) || PyComplex_CheckExact(value);
}

int tensor_assign_subscript(PyObject *self, PyObject *index, PyObject *value) {
  if (!value) {
    PyErr_SetString(PyExc_TypeError, "Tensor does not support deleting items");
    return -1;
  }
  if (tensor_exact(self) && (tensor_exact(value) || is_number(value))) {
    Reference view(basic_view(as_tensor(self), index, true));
    if (view) return Reference(write(view.get(), value)) ? 0 : -1;
    if (PyErr_Occurred()) return -1;
  }
  PyObject *args[] = {self, index, value};
  return Reference(call_registered("setitem", args, 3)) ? 0 : -1;
}

}  // namespace

PyObject *native_getitem(PyObject *const *args, size_t count, PyObject *keyword_names) {
  if (count != 2 || keyword_names || !tensor_exact(args[0])) return nullptr;
  return basic_view(as_tensor(args[0]), args[1]);
}

Py_ssize_t tensor_length(PyObject *self) {
  const Meta *meta = as_tensor(self)->meta;
  if (meta->ndim > 0) return static_cast<Py_ssize_t>(meta->sizes()[0]);
  PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
  return -1;
}

PyMappingMethods tensor_mapping_slots = {tensor_length, tensor_subscript, tensor_assign_subscript};

}  // namespace rushlight
