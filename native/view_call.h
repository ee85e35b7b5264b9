// The arguments of a native view function, and the functions themselves.
#pragma once
#include "tensor.h"

namespace rushlight {

// The arguments of one call: args[0] is an exact tensor.
class Call {
 public:
  Call(PyObject *const *args, size_t count, PyObject *keyword_names)
      : args_(args), count_(count), keyword_names_(keyword_names) {}

  bool has_tensor() const { return count_ > 0 && tensor_exact(args_[0]); }
  Tensor *tensor() const { return as_tensor(args_[0]); }
  const Meta *meta() const { return tensor()->meta; }

  // Arguments after the tensor under these names, null where absent. False if there are others.
  template <size_t n>
  bool bind(const char *const (&names)[n], PyObject *(&out)[n]) const {
    if (!has_tensor() || count_ > n + 1) return false;
    for (size_t i = 0; i < n; ++i) out[i] = i + 1 < count_ ? args_[i + 1] : nullptr;
    for (size_t k = 0; k < keywords(); ++k) {
      size_t i = 0;
      while (i < n && !keyword_is(k, names[i])) ++i;
      if (i == n || out[i]) return false;
      out[i] = args_[count_ + k];
    }
    return true;
  }

  bool no_arguments() const { return has_tensor() && count_ == 1 && keywords() == 0; }

  // Whether the only argument after the tensor is a dtype.
  bool dtype(DType *out) const {
    if (!has_tensor() || count_ + keywords() != 2 || (keywords() && !keyword_is(0, "dtype"))) return false;
    return dtype_from_object(args_[1], out);
  }

  // Ints after the tensor: one by one, as one sequence, or as a sequence under a name.
  bool ints(const char *name, IntList *out) const {
    if (!has_tensor()) return false;
    if (keywords()) return count_ == 1 && keywords() == 1 && keyword_is(0, name) && parse_ints(args_[1], out);
    if (count_ == 1) return false;
    if (count_ == 2 && !PyLong_CheckExact(args_[1])) return parse_ints(args_[1], out);
    if (count_ - 1 > kMaxDims) return false;
    out->count = static_cast<int>(count_ - 1);
    for (size_t i = 1; i < count_; ++i) {
      if (!parse_int(args_[i], &out->values[i - 1])) return false;
    }
    return true;
  }

 private:
  size_t keywords() const { return keyword_names_ ? static_cast<size_t>(PyTuple_GET_SIZE(keyword_names_)) : 0; }
  bool keyword_is(size_t k, const char *name) const {
    return PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keyword_names_, k), name) == 0;
  }

  PyObject *const *args_;
  size_t count_;
  PyObject *keyword_names_;
};

// Required ints under their names.
template <size_t n>
bool bind_ints(const Call &call, const char *const (&names)[n], int64_t (&out)[n]) {
  PyObject *objects[n];
  if (!call.bind(names, objects)) return false;
  for (size_t i = 0; i < n; ++i) {
    if (!objects[i] || !parse_int(objects[i], &out[i])) return false;
  }
  return true;
}

// The other tensor of view_as and expand_as.
inline bool bind_other(const Call &call, const Meta **out) {
  static constexpr const char *names[] = {"other"};
  PyObject *other[1];
  if (!call.bind(names, other) || !other[0] || !tensor_exact(other[0])) return false;
  *out = as_tensor(other[0])->meta;
  return true;
}

// One int or a sequence of ints.
inline bool parse_dims(PyObject *object, IntList *out) {
  if (!object) return false;
  out->count = 1;
  return parse_int(object, &out->values[0]) || parse_ints(object, out);
}

// The layout of a whole tensor, to be changed into a view's.
ViewLayout whole_layout(const Meta *meta);
void erase_dim(ViewLayout &layout, int dim);

// view_dims.cpp
PyObject *native_permute(PyObject *const *args, size_t count, PyObject *keyword_names);
PyObject *native_transpose(PyObject *const *args, size_t count, PyObject *keyword_names);
PyObject *native_swapaxes(PyObject *const *args, size_t count, PyObject *keyword_names);
PyObject *native_t(PyObject *const *args, size_t count, PyObject *keyword_names);
PyObject *native_movedim(PyObject *const *args, size_t count, PyObject *keyword_names);
PyObject *native_expand(PyObject *const *args, size_t count, PyObject *keyword_names);
PyObject *native_expand_as(PyObject *const *args, size_t count, PyObject *keyword_names);
PyObject *native_unsqueeze(PyObject *const *args, size_t count, PyObject *keyword_names);
PyObject *native_squeeze(PyObject *const *args, size_t count, PyObject *keyword_names);
// view_parts.cpp
PyObject *native_narrow(PyObject *const *args, size_t count, PyObject *keyword_names);
PyObject *native_select(PyObject *const *args, size_t count, PyObject *keyword_names);
PyObject *native_unbind(PyObject *const *args, size_t count, PyObject *keyword_names);
PyObject *native_as_strided(PyObject *const *args, size_t count, PyObject *keyword_names);
PyObject *native_diagonal(PyObject *const *args, size_t count, PyObject *keyword_names);
PyObject *native_unfold(PyObject *const *args, size_t count, PyObject *keyword_names);

}  // namespace rushlight
