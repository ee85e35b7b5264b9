// The Tensor type: creation, destruction, garbage collection, construction from Python, and the registry.
#include <algorithm>
#include <cstring>
#include <new>
#include <unordered_map>

#include "tensor.h"

namespace rushlight {

PyTypeObject *ParameterType = nullptr;

// ---------------------------------------------------------------- registry

namespace {

std::unordered_map<std::string, PyObject *> &registry() {
  static auto *map = new std::unordered_map<std::string, PyObject *>;  // outlives the interpreter
  return *map;
}

}  // namespace

PyObject *registered(const char *name) {
  const auto found = registry().find(name);
  return found == registry().end() ? nullptr : found->second;
}

PyObject *call_registered(const char *name, PyObject *const *args, size_t count) {
  PyObject *function = registered(name);
  if (function) return PyObject_Vectorcall(function, args, count, nullptr);
  return PyErr_Format(PyExc_RuntimeError, "the operator '%s' has not been registered", name);
}

// ---------------------------------------------------------------- creation

namespace {

constexpr int kFreeListLimit = 256;

// Freed tensors of exactly TensorType, chained through `dict`.
Tensor *free_list = nullptr;
int free_count = 0;

// Freed autograd records, chained through `grad`.
Autograd *free_records = nullptr;
int free_record_count = 0;

Tensor *take_exact() {
  Tensor *t = free_list;
  if (!t) return PyObject_GC_New(Tensor, &TensorType);
  free_list = reinterpret_cast<Tensor *>(t->dict);
  --free_count;
  PyObject_Init(as_object(t), &TensorType);
  return t;
}

void give_back_exact(Tensor *t) {
  if (free_count == kFreeListLimit) {
    PyObject_GC_Del(t);
    return;
  }
  t->dict = reinterpret_cast<PyObject *>(free_list);
  free_list = t;
  ++free_count;
}

}  // namespace

Tensor *tensor_new(Meta *meta, Storage *storage, char *data) {
  Tensor *t = take_exact();
  if (!t) {
    meta_decref(meta);
    storage_decref(storage);
    return nullptr;
  }
  t->meta = meta;
  t->storage = storage;
  t->data = data;
  t->autograd = nullptr;
  t->weakrefs = nullptr;
  t->dict = nullptr;
  PyObject_GC_Track(t);
  return t;
}

Tensor *tensor_new_of(PyTypeObject *type, Meta *meta, Storage *storage, char *data) {
  if (type == &TensorType) return tensor_new(meta, storage, data);
  Tensor *t = as_tensor(type->tp_alloc(type, 0));
  if (!t) {
    meta_decref(meta);
    storage_decref(storage);
    return nullptr;
  }
  t->meta = meta;
  t->storage = storage;
  t->data = data;
  return t;
}

Storage *storage_for(const Meta *meta) {
  int64_t low, high;
  meta_extent(meta, &low, &high);
  return meta->device ? storage_without_data(static_cast<size_t>(high)) : storage_new(static_cast<size_t>(high));
}

Tensor *tensor_empty(Meta *meta) {
  Storage *storage = storage_for(meta);
  if (!storage) {
    meta_decref(meta);
    return nullptr;
  }
  return tensor_new(meta, storage, storage->data);
}

Autograd *tensor_autograd(Tensor *t) {
  if (t->autograd) return t->autograd;
  Autograd *record = free_records;
  if (record) {
    free_records = reinterpret_cast<Autograd *>(record->grad);
    --free_record_count;
  } else if (!(record = new (std::nothrow) Autograd)) {
    PyErr_NoMemory();
    return nullptr;
  }
  *record = Autograd{};
  return t->autograd = record;
}

// ---------------------------------------------------------------- destruction and garbage collection

namespace {

void free_record(Autograd *record) {
  if (free_record_count == kFreeListLimit) {
    delete record;
    return;
  }
  record->grad = reinterpret_cast<PyObject *>(free_records);
  free_records = record;
  ++free_record_count;
}

void drop_autograd(Tensor *t) {
  Autograd *autograd = t->autograd;
  if (!autograd) return;
  t->autograd = nullptr;  // first: what follows may run Python code
  Py_XDECREF(autograd->grad);
  Py_XDECREF(reinterpret_cast<PyObject *>(autograd->grad_fn));
  Py_XDECREF(reinterpret_cast<PyObject *>(autograd->base));
  Py_XDECREF(autograd->hooks);
  free_record(autograd);
}

void release_memory(Tensor *t) {
  if (t->meta) meta_decref(t->meta);
  if (t->storage) storage_decref(t->storage);
  PyTypeObject *type = Py_TYPE(t);
  if (type == &TensorType) give_back_exact(t);
  else type->tp_free(t);
}

void tensor_dealloc(PyObject *self);

// Other objects hang on this one: long chains of them must not exhaust the stack.
void dealloc_with_references(PyObject *self) {
  Tensor *t = as_tensor(self);
  Py_TRASHCAN_BEGIN(self, tensor_dealloc)
  drop_autograd(t);
  Py_CLEAR(t->dict);
  release_memory(t);
  Py_TRASHCAN_END
}

void tensor_dealloc(PyObject *self) {
  Tensor *t = as_tensor(self);
  PyObject_GC_UnTrack(self);
  if (t->weakrefs) PyObject_ClearWeakRefs(self);
  if (t->autograd || t->dict) dealloc_with_references(self);
  else release_memory(t);
}

int tensor_traverse(PyObject *self, visitproc visit, void *arg) {
  Tensor *t = as_tensor(self);
  Py_VISIT(t->dict);
  if (Autograd *autograd = t->autograd) {
    Py_VISIT(autograd->grad);
    Py_VISIT(reinterpret_cast<PyObject *>(autograd->grad_fn));
    Py_VISIT(reinterpret_cast<PyObject *>(autograd->base));
    Py_VISIT(autograd->hooks);
  }
  return 0;
}

int tensor_clear(PyObject *self) {
  drop_autograd(as_tensor(self));
  Py_CLEAR(as_tensor(self)->dict);
  return 0;
}

Py_hash_t tensor_hash(PyObject *self) { return static_cast<Py_hash_t>(reinterpret_cast<intptr_t>(self)); }

PyObject *tensor_iter(PyObject *self) {
  if (as_tensor(self)->meta->ndim == 0) {
    PyErr_SetString(PyExc_TypeError, "iteration over a 0-d tensor");
    return nullptr;
  }
  Reference rows(tensor_exact(self) || !registered("unbind") ? view_unbind(as_tensor(self), 0)
                                                              : call_registered("unbind", &self, 1));
  return rows ? PyObject_GetIter(rows.get()) : nullptr;
}

// ---------------------------------------------------------------- tensor.__new__

bool all_index_like(PyObject *args) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
    PyObject *item = PyTuple_GET_ITEM(args, i);
    if (!PyIndex_Check(item) || PySequence_Check(item) || tensor_check(item)) return false;  // arrays have __index__
  }
  return true;
}

Tensor *new_uninitialised(PyTypeObject *type, const IntList &sizes) {
  Meta *meta = meta_contiguous(default_dtype, 0, sizes.count, sizes.values);
  Storage *storage = meta ? storage_for(meta) : nullptr;
  if (storage) return tensor_new_of(type, meta, storage, storage->data);
  if (meta) meta_decref(meta);
  return nullptr;
}

Tensor *new_alias(PyTypeObject *type, Tensor *other) {
  meta_incref(other->meta);
  storage_incref(other->storage);
  return tensor_new_of(type, other->meta, other->storage, other->data);
}

PyObject *tensor_create(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  if (kwargs && PyDict_GET_SIZE(kwargs)) {
    PyErr_SetString(PyExc_TypeError, "Tensor(): takes no keyword arguments; use torch.tensor(data, dtype=...)");
    return nullptr;
  }
  const Py_ssize_t count = PyTuple_GET_SIZE(args);
  PyObject *first = count ? PyTuple_GET_ITEM(args, 0) : nullptr;
  if (count == 1 && tensor_check(first)) return as_object(new_alias(type, as_tensor(first)));
  IntList sizes;
  if (count == 0) {
    sizes.count = 1;
    sizes.values[0] = 0;
    return as_object(new_uninitialised(type, sizes));
  }
  const bool is_size = count == 1 && Py_IS_TYPE(first, &SizeType);
  if (is_size || all_index_like(args)) {
    if (!require_ints(is_size ? first : args, "Tensor", &sizes)) return nullptr;
    return as_object(new_uninitialised(type, sizes));
  }
  if (count > 1) {
    PyErr_SetString(PyExc_TypeError, "Tensor(): expected sizes (ints), one sequence of numbers, or one tensor");
    return nullptr;
  }
  if (!PySequence_Check(first)) {
    return PyErr_Format(PyExc_TypeError, "new(): data must be a sequence (got %s)", Py_TYPE(first)->tp_name);
  }
  return tensor_from_sequences(first, &default_dtype, type);
}

// ---------------------------------------------------------------- module functions

PyObject *core_register(PyObject *, PyObject *args) {
  const char *name;
  PyObject *object;
  if (!PyArg_ParseTuple(args, "sO:register", &name, &object)) return nullptr;
  PyObject *&place = registry()[name];
  Py_XSETREF(place, Py_NewRef(object));
  set_operator_slot(name, object);
  Py_RETURN_NONE;
}

PyObject *core_registered(PyObject *, PyObject *name) {
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) return nullptr;
  PyObject *object = registered(text);
  return Py_NewRef(object ? object : Py_None);
}

PyObject *set_parameter_type(PyObject *, PyObject *type) {
  if (!PyType_Check(type) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject *>(type), &TensorType)) {
    PyErr_SetString(PyExc_TypeError, "set_parameter_type(): expected a subclass of Tensor");
    return nullptr;
  }
  Py_INCREF(type);
  PyTypeObject *previous = ParameterType;
  ParameterType = reinterpret_cast<PyTypeObject *>(type);
  Py_XDECREF(previous);
  Py_RETURN_NONE;
}

PyObject *core_alias_as(PyObject *, PyObject *args) {
  PyObject *cls, *tensor;
  if (!PyArg_ParseTuple(args, "OO!:alias_as", &cls, &TensorType, &tensor)) return nullptr;
  return tensor_as_subclass(tensor, cls);
}

PyObject *tangent_key() {
  static PyObject *key = PyUnicode_InternFromString("_tangent");
  return key;
}

PyObject *core_tangent(PyObject *, PyObject *object) {
  PyObject *tangent = tensor_check(object) ? tensor_tangent(as_tensor(object)) : nullptr;
  return Py_NewRef(tangent ? tangent : Py_None);
}

// It lives in the tensor's __dict__, which most have not.
PyObject *core_set_tangent(PyObject *, PyObject *args) {
  PyObject *object, *tangent;
  if (!PyArg_ParseTuple(args, "O!O:set_tangent", &TensorType, &object, &tangent)) return nullptr;
  Tensor *t = as_tensor(object);
  if (tangent == Py_None) {
    if (tensor_tangent(t) && PyDict_DelItem(t->dict, tangent_key()) < 0) return nullptr;
    Py_RETURN_NONE;
  }
  if (!tensor_check(tangent)) return PyErr_Format(PyExc_TypeError, "set_tangent(): a tangent must be a tensor");
  if (!t->dict && !(t->dict = PyDict_New())) return nullptr;
  if (!tangent_key() || PyDict_SetItem(t->dict, tangent_key(), tangent) < 0) return nullptr;
  Py_RETURN_NONE;
}

PyObject *core_dual_levels(PyObject *, PyObject *args) {
  int change = 0;
  if (!PyArg_ParseTuple(args, "|i:dual_levels", &change)) return nullptr;
  dual_levels = std::max(dual_levels + change, 0);
  return PyLong_FromLong(dual_levels);
}

PyMethodDef functions[] = {
    {"tangent", core_tangent, METH_O, "tangent(object): the tangent of a tensor in forward mode, or None."},
    {"set_tangent", core_set_tangent, METH_VARARGS, "set_tangent(tensor, tangent): give it one; None: take it away."},
    {"dual_levels", core_dual_levels, METH_VARARGS,
     "dual_levels(change=0): while their number is not 0, tensors with tangents are handed to Python."},
    {"register", core_register, METH_VARARGS, "register(name, object): make a Python object known to the core."},
    {"registered", core_registered, METH_O, "registered(name): the object registered under a name, or None."},
    {"set_parameter_type", set_parameter_type, METH_O,
     "set_parameter_type(type): the subclass that is handled natively."},
    {"alias_as", core_alias_as, METH_VARARGS, "alias_as(cls, tensor): a view of the tensor as an instance of cls."},
    {nullptr, nullptr, 0, nullptr},
};

// Empty: gives Python methods such as __contains__ a slot to go to.
PySequenceMethods sequence_slots;

}  // namespace

int dual_levels = 0;

PyObject *tensor_tangent(Tensor *t) {
  PyObject *key = t->dict ? tangent_key() : nullptr;
  PyObject *tangent = key ? PyDict_GetItemWithError(t->dict, key) : nullptr;
  if (!tangent) PyErr_Clear();
  return tangent;
}

PyTypeObject TensorType = [] {
  PyTypeObject type{PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "rushlight.Tensor";
  type.tp_doc = "An array of numbers of one dtype, with automatic differentiation.";
  type.tp_basicsize = sizeof(Tensor);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  type.tp_new = tensor_create;
  type.tp_dealloc = tensor_dealloc;
  type.tp_free = PyObject_GC_Del;
  type.tp_traverse = tensor_traverse;
  type.tp_clear = tensor_clear;
  type.tp_hash = tensor_hash;
  type.tp_iter = tensor_iter;
  type.tp_richcompare = tensor_compare;
  type.tp_weaklistoffset = offsetof(Tensor, weakrefs);
  type.tp_dictoffset = offsetof(Tensor, dict);
  type.tp_as_number = &tensor_number_slots;
  type.tp_as_sequence = &sequence_slots;
  type.tp_as_mapping = &tensor_mapping_slots;
  type.tp_getset = tensor_properties;
  type.tp_methods = tensor_methods;
  return type;
}();

int init_tensor(PyObject *module) {
  if (PyType_Ready(&SizeType) < 0 || PyType_Ready(&UntypedStorageType) < 0 || PyType_Ready(&TensorType) < 0) return -1;
  // Methods are attached from Python, and programs add their own.
  TensorType.tp_flags &= ~static_cast<unsigned long>(Py_TPFLAGS_IMMUTABLETYPE);
  Reference priority(PyLong_FromLong(1000));  // NumPy's operators defer to ours
  if (!priority || PyDict_SetItemString(TensorType.tp_dict, "__array_priority__", priority.get()) < 0) return -1;
  if (PyModule_AddObjectRef(module, "Tensor", reinterpret_cast<PyObject *>(&TensorType)) < 0) return -1;
  if (PyModule_AddObjectRef(module, "Size", reinterpret_cast<PyObject *>(&SizeType)) < 0) return -1;
  return PyModule_AddFunctions(module, functions);
}

}  // namespace rushlight
