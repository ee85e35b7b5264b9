// ModuleBase, the base of nn.Module: attributes that are found in the module's dicts of parameters, buffers and parts,
// and calls that go straight to forward() unless there are hooks. What a module means is Python's.
#include "tensor.h"

namespace rushlight {
namespace {

// Interned names; made once.
struct Names {
  PyObject *forward, *getattr, *getattribute, *call_with_hooks;
  PyObject *members[3];  // dicts of attributes
  PyObject *hooks[4];    // dicts of hooks
};
Names names;

PyObject *global_hooks;  // tuple of dicts of hooks that all modules have; null before it is set
PyObject *on_error;      // on_error(module, exception): called for exceptions that leave a call

PyTypeObject *base_type;

// The parameter, buffer or part of this name: a new reference; null without an error if there is none.
PyObject *member(PyObject *self, PyObject *name) {
  Reference own(PyObject_GenericGetDict(self, nullptr));
  if (!own) return nullptr;
  for (PyObject *holder_name : names.members) {
    PyObject *holder = PyDict_GetItemWithError(own.get(), holder_name);
    if (!holder) {
      if (PyErr_Occurred()) return nullptr;
      continue;
    }
    if (PyDict_Check(holder)) {
      PyObject *found = PyDict_GetItemWithError(holder, name);
      if (found || PyErr_Occurred()) return Py_XNewRef(found);
    }
  }
  return nullptr;
}

PyObject *get_attribute(PyObject *self, PyObject *name) {
  PyObject *found = _PyObject_GenericGetAttrWithDict(self, name, nullptr, 1);
  if (found || PyErr_Occurred()) return found;
  found = member(self, name);
  if (found || PyErr_Occurred()) return found;
  return PyObject_GenericGetAttr(self, name);  // raises; a property's own AttributeError if that is the cause
}

// What super().__getattr__(name) finds in classes that define __getattr__.
PyObject *get_member(PyObject *self, PyObject *name) {
  PyObject *found = member(self, name);
  if (!found && !PyErr_Occurred()) {
    PyErr_Format(PyExc_AttributeError, "'%.100s' object has no attribute '%U'", Py_TYPE(self)->tp_name, name);
  }
  return found;
}

// 1: the call may go straight to forward; 0: there are hooks, or the module was not initialised; -1: error.
int is_plain(PyObject *own) {
  for (PyObject *name : names.hooks) {
    PyObject *hooks = PyDict_GetItemWithError(own, name);
    if (!hooks) return PyErr_Occurred() ? -1 : 0;
    if (!PyDict_Check(hooks) || PyDict_GET_SIZE(hooks)) return 0;
  }
  if (global_hooks) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(global_hooks); ++i) {
      if (PyDict_GET_SIZE(PyTuple_GET_ITEM(global_hooks, i))) return 0;
    }
  }
  return 1;
}

// function(self, *args, **kwargs)
PyObject *call_function(PyObject *function, PyObject *self, PyObject *args, PyObject *kwargs) {
  constexpr Py_ssize_t kFew = 6;
  Py_ssize_t count = PyTuple_GET_SIZE(args);
  PyObject *few[kFew + 1];
  std::vector<PyObject *> many(count > kFew ? size_t(count) + 1 : 0);
  PyObject **stack = count > kFew ? many.data() : few;
  stack[0] = self;
  for (Py_ssize_t i = 0; i < count; ++i) stack[i + 1] = PyTuple_GET_ITEM(args, i);
  return PyObject_VectorcallDict(function, stack, size_t(count) + 1, kwargs);
}

PyObject *run(PyObject *self, PyObject *args, PyObject *kwargs) {
  Reference own(PyObject_GenericGetDict(self, nullptr));
  if (!own) return nullptr;
  int plain = is_plain(own.get());
  if (plain < 0) return nullptr;
  PyObject *name = plain ? names.forward : names.call_with_hooks;
  PyObject *replaced = PyDict_GetItemWithError(own.get(), name);
  if (!replaced && PyErr_Occurred()) return nullptr;
  PyObject *function = replaced ? nullptr : _PyType_Lookup(Py_TYPE(self), name);
  if (function && PyFunction_Check(function)) {
    Reference kept(Py_NewRef(function));
    return call_function(function, self, args, kwargs);
  }
  Reference bound(PyObject_GetAttr(self, name));
  return bound ? PyObject_Call(bound.get(), args, kwargs) : nullptr;
}

// Let Python say where in the module the exception came from; the exception itself stays.
void annotate(PyObject *self) {
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_NormalizeException(&type, &error, &traceback);
  if (traceback) PyException_SetTraceback(error, traceback);
  PyObject *result = PyObject_CallFunctionObjArgs(on_error, self, error, nullptr);
  if (result) Py_DECREF(result);
  else PyErr_Clear();
  PyErr_Restore(type, error, traceback);
}

PyObject *call(PyObject *self, PyObject *args, PyObject *kwargs) {
  PyObject *result = run(self, args, kwargs);
  if (!result && on_error && PyErr_ExceptionMatches(PyExc_Exception)) annotate(self);
  return result;
}

// A class with __getattr__ in its bases looks attributes up by a slower route, which is needed only if a class of the
// user's has one.
PyObject *use_native_lookup(PyObject *, PyObject *argument) {
  if (!PyType_Check(argument) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject *>(argument), base_type)) {
    return PyErr_Format(PyExc_TypeError, "use_native_lookup(): expected a subclass of ModuleBase");
  }
  auto *type = reinterpret_cast<PyTypeObject *>(argument);
  if (_PyType_Lookup(type, names.getattr) == _PyType_Lookup(base_type, names.getattr) &&
      _PyType_Lookup(type, names.getattribute) == _PyType_Lookup(base_type, names.getattribute)) {
    type->tp_getattro = get_attribute;
    PyType_Modified(type);
  }
  Py_RETURN_NONE;
}

PyObject *set_module_callbacks(PyObject *, PyObject *args) {
  PyObject *hooks, *error;
  if (!PyArg_ParseTuple(args, "O!O:set_module_callbacks", &PyTuple_Type, &hooks, &error)) return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(hooks); ++i) {
    if (!PyDict_Check(PyTuple_GET_ITEM(hooks, i))) {
      return PyErr_Format(PyExc_TypeError, "set_module_callbacks(): expected a tuple of dicts");
    }
  }
  Py_XSETREF(global_hooks, Py_NewRef(hooks));
  Py_XSETREF(on_error, Py_NewRef(error));
  Py_RETURN_NONE;
}

PyMethodDef base_methods[] = {
    {"__getattr__", get_member, METH_O, "The parameter, buffer or part of this name."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot base_slots[] = {
    {Py_tp_doc, const_cast<char *>("What nn.Module does natively: attributes and calls.")},
    {Py_tp_getattro, reinterpret_cast<void *>(get_attribute)},
    {Py_tp_call, reinterpret_cast<void *>(call)},
    {Py_tp_methods, base_methods},
    {0, nullptr},
};

PyType_Spec base_spec = {"rushlight._core.ModuleBase", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, base_slots};

PyMethodDef functions[] = {
    {"use_native_lookup", use_native_lookup, METH_O,
     "use_native_lookup(cls): let a subclass of ModuleBase look up attributes natively if it defines no way of its own."},
    {"set_module_callbacks", set_module_callbacks, METH_VARARGS,
     "set_module_callbacks(dicts of hooks of all modules, on_error): on_error(module, exception) is called for exceptions"
     " that leave a module's call."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int init_module_base(PyObject *module) {
  names = {PyUnicode_InternFromString("forward"),
           PyUnicode_InternFromString("__getattr__"),
           PyUnicode_InternFromString("__getattribute__"),
           PyUnicode_InternFromString("_call_with_hooks"),
           {PyUnicode_InternFromString("_parameters"), PyUnicode_InternFromString("_buffers"),
            PyUnicode_InternFromString("_modules")},
           {PyUnicode_InternFromString("_forward_hooks"), PyUnicode_InternFromString("_forward_pre_hooks"),
            PyUnicode_InternFromString("_backward_hooks"), PyUnicode_InternFromString("_backward_pre_hooks")}};
  if (PyErr_Occurred()) return -1;
  base_type = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&base_spec));
  if (!base_type || PyModule_AddObjectRef(module, "ModuleBase", reinterpret_cast<PyObject *>(base_type)) < 0) return -1;
  return PyModule_AddFunctions(module, functions);
}

}  // namespace rushlight
