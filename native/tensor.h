// Declarations shared by the files that implement the native tensor. All functions need the GIL.
#pragma once
#include "core.h"

namespace rushlight {

constexpr int kMaxDims = 64;  // as PyTorch

// An owned reference, released at the end of the scope.
class Reference {
 public:
  explicit Reference(PyObject *object = nullptr) : object_(object) {}
  Reference(const Reference &) = delete;
  Reference &operator=(const Reference &) = delete;
  ~Reference() { Py_XDECREF(object_); }
  explicit operator bool() const { return object_ != nullptr; }
  PyObject *get() const { return object_; }
  PyObject *release() {
    PyObject *object = object_;
    object_ = nullptr;
    return object;
  }

 private:
  PyObject *object_;
};

// ---------------------------------------------------------------- dtypes.cpp, scalars.cpp

extern DType default_dtype;         // what Python floats become
const char *dtype_name(DType dtype);  // "float32"
const char *dtype_scalar_name(DType dtype);  // PyTorch's other name, used in its messages: "Float"
bool dtype_from_code(long code, DType *out);  // false with ValueError set
bool promote_dtypes(DType a, DType b, DType *out);  // false with RuntimeError set

// The Python number at `element`.
PyObject *number_from_element(DType dtype, const char *element);
// Write a Python number (or an object that converts to one) as an element; -1 with an error set if it does not fit.
int element_from_number(PyObject *number, DType dtype, char *element);
// What dtype a bool, int, float, complex or NumPy scalar becomes; false without an error for other objects.
bool dtype_of_number(PyObject *object, DType *out);
bool is_numpy_scalar(PyObject *object);  // an instance of numpy.generic

// ---------------------------------------------------------------- size.cpp

extern PyTypeObject SizeType;
PyObject *size_new(const int64_t *sizes, int ndim);  // rushlight.Size
PyObject *int_tuple(const int64_t *values, int count);
std::string format_ints(const int64_t *values, int count);  // "[2, 3]"

// Ints of a tuple or list of exact ints, at most kMaxDims.
struct IntList {
  int count = 0;
  int64_t values[kMaxDims];
};
bool parse_int(PyObject *object, int64_t *out);      // exact int within 64 bits; no error set
bool parse_ints(PyObject *object, IntList *out);     // tuple or list of such; no error set
// What constructors accept: ints, index-like objects, a tuple or list of them; false with TypeError set.
bool require_ints(PyObject *object, const char *function, IntList *out);

// ---------------------------------------------------------------- storage.cpp

extern PyTypeObject UntypedStorageType;
PyObject *storage_handle_new(Storage *storage, int device);
Storage *storage_without_data(size_t bytes);  // for the meta device

// ---------------------------------------------------------------- tensor.cpp

// A tensor of `type` (TensorType or a subclass); takes both references over.
Tensor *tensor_new_of(PyTypeObject *type, Meta *meta, Storage *storage, char *data);
Autograd *tensor_autograd(Tensor *t);  // the record, made if there is none; null with MemoryError set
Storage *storage_for(const Meta *meta);  // new storage just large enough, without data on the meta device
// Call what was registered under `name`; RuntimeError if nothing was.
PyObject *call_registered(const char *name, PyObject *const *args, size_t count);

inline PyObject *as_object(Tensor *t) { return reinterpret_cast<PyObject *>(t); }
inline Tensor *as_tensor(PyObject *o) { return reinterpret_cast<Tensor *>(o); }
inline int64_t storage_offset(const Tensor *t) {
  const intptr_t bytes = reinterpret_cast<intptr_t>(t->data) - reinterpret_cast<intptr_t>(t->storage->data);
  return bytes / itemsize(t->meta->dtype);
}
// What dtype a gradient of dtype `given` has in t.grad.
inline DType gradient_dtype(const Tensor *t, DType given) {
  const int16_t kept = t->autograd ? t->autograd->grad_dtype : kOwnDType;
  return kept == kOwnDType ? t->meta->dtype : kept == kAnyDType ? given : DType(kept - 1);
}
inline bool requires_grad_now(const Tensor *t) { return thread_state.grad_enabled && requires_grad(t); }

extern PyGetSetDef tensor_properties[];         // properties.cpp
extern PyMethodDef tensor_methods[];            // methods.cpp
extern PyNumberMethods tensor_number_slots;     // number_slots.cpp
extern PyMappingMethods tensor_mapping_slots;   // indexing.cpp
PyObject *tensor_compare(PyObject *left, PyObject *right, int operation);
void set_operator_slot(const char *name, PyObject *object);  // remembers the operator of a number slot

PyObject *tensor_item(Tensor *t);    // the only element as a Python number
bool require_one_element(const Tensor *t);  // false with ValueError set
PyObject *tensor_to_list(Tensor *t);
PyObject *tensor_resize(PyObject *tensor, PyObject *args);  // resize.cpp: give it other sizes
PyObject *tensor_as_subclass(PyObject *tensor, PyObject *type);  // a view as an instance of a subclass
Py_ssize_t tensor_length(PyObject *self);  // len(); -1 with TypeError set for 0-d tensors
int tensor_set_data(Tensor *t, PyObject *other);          // t.data = other
int tensor_set_requires_grad(Tensor *t, bool required);

// ---------------------------------------------------------------- views.cpp

// Sizes, strides (elements) and offset of the first element from the base's first element (elements) of a view.
struct ViewLayout {
  int ndim = 0;
  int64_t offset = 0;
  int64_t sizes[kMaxDims];
  int64_t strides[kMaxDims];
  bool push(int64_t size, int64_t stride);  // false with RuntimeError set if there are too many dims
};
bool wrap_dim(int64_t dim, int ndim, int *out);  // false with IndexError set
// A view of base, recorded on the tape; `arguments` as in the table of views.cpp.
PyObject *view_new(Tensor *base, const ViewLayout &layout, ViewKind kind, const int64_t *arguments = nullptr,
                   size_t count = 0, PyTypeObject *type = &TensorType);
PyObject *view_permute(Tensor *base, const int *dims, ViewKind kind = ViewKind::Permute);  // a permutation of 0..ndim-1
Meta *meta_of_pairs(const Meta *meta);   // tape_layout.cpp: complex numbers as pairs along a new last dim
Meta *meta_of_paired(const Meta *meta);  // the reverse: the last dim holds pairs, all other strides are even
PyObject *view_as_dtype(Tensor *base, DType dtype);             // reinterpret.cpp: the same memory
PyObject *view_unbind(Tensor *base, int dim);                   // tuple
PyObject *view_drop_leading_ones(Tensor *base, int ndim);       // down to ndim dims, while the first has size 1

// ---------------------------------------------------------------- indexing.cpp, interop.cpp, sequences.cpp

PyObject *native_getitem(PyObject *const *args, size_t count, PyObject *keyword_names);
// A tensor of nested sequences of numbers; dtype null: inferred.
PyObject *tensor_from_sequences(PyObject *data, const DType *dtype, PyTypeObject *type = &TensorType);
int init_sequences(PyObject *module);
int init_dlpack(PyObject *module);
PyObject *core_storage_bytes(PyObject *module, PyObject *tensor);  // reinterpret.cpp

}  // namespace rushlight
