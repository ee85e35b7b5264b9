// Hooks: Python functions that see, and may replace, gradients on their way through the graph.
#include <utility>

#include "tape.h"

namespace rushlight {
namespace {

const char kTensorHooks[] = "tensor";        // keys of a leaf's Autograd.hooks
const char kPostAccumulate[] = "post_accumulate";
const char kNoGradient[] =
    "cannot register a hook on a tensor that gets no gradient, as it doesn't require gradient; call requires_grad_()";

// The functions at this moment: a hook may remove itself or others.
ObjectRef functions_in(PyObject *hooks) {
  return ObjectRef(hooks && PyDict_GET_SIZE(hooks) ? PyDict_Values(hooks) : PyList_New(0));
}

const char *name_of(PyObject *function, ObjectRef &holder) {
  holder = ObjectRef(PyObject_GetAttrString(function, "__name__"));
  const char *name = holder && PyUnicode_Check(holder.get()) ? PyUnicode_AsUTF8(holder.get()) : nullptr;
  if (!name) PyErr_Clear();
  return name ? name : "<unknown>";
}

// What a hook returned in place of a gradient (which may be null).
bool check_replacement(PyObject *function, const Tensor *before, PyObject *after) {
  if (!tensor_check(after)) {
    PyErr_Format(PyExc_TypeError, "expected Variable, but hook returned '%s'", Py_TYPE(after)->tp_name);
    return false;
  }
  if (!before) return true;
  const Meta *was = before->meta, *is = as_tensor(after)->meta;
  ObjectRef holder;
  if (!same_sizes(was, is)) {
    PyErr_Format(PyExc_RuntimeError, "hook '%s' has changed the size of value (was %s got %s)",
                 name_of(function, holder), format_ints(was->sizes(), was->ndim).c_str(),
                 format_ints(is->sizes(), is->ndim).c_str());
    return false;
  }
  if (was->dtype != is->dtype || was->device != is->device) {
    PyErr_Format(PyExc_RuntimeError, "hook '%s' has changed the type of value (was torch.%sTensor got torch.%sTensor)",
                 name_of(function, holder), dtype_scalar_name(was->dtype), dtype_scalar_name(is->dtype));
    return false;
  }
  return true;
}

bool run_on_gradient(PyObject *hooks, Tensor **gradient) {
  ObjectRef functions = functions_in(hooks);
  if (!functions) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(functions.get()); ++i) {
    PyObject *function = PyList_GET_ITEM(functions.get(), i);
    ObjectRef result(PyObject_CallOneArg(function, *gradient ? as_object(*gradient) : Py_None));
    if (!result) return false;
    if (result.get() == Py_None) continue;
    if (!check_replacement(function, *gradient, result.get())) return false;
    Tensor *old = *gradient;
    *gradient = as_tensor(result.release());
    Py_XDECREF(as_object(old));
  }
  return true;
}

// retain_grad(): the gradient also becomes the tensor's .grad.
bool retain(PyObject *weak, Tensor *gradient) {
  if (!gradient) return true;
  ObjectRef target(PyObject_CallNoArgs(weak));
  if (!target) return false;
  if (target.get() == Py_None) return true;
  Autograd *a = tensor_autograd(as_tensor(target.get()));
  if (!a) return false;
  TensorRef kept;
  if (a->grad) {
    ObjectRef present = ObjectRef::borrow(a->grad);
    kept = call_operator("add", {present.get(), as_object(gradient)});
  } else if (native_arithmetic(gradient)) {
    kept = tensor_copy(gradient, gradient->meta);
  } else {
    kept = call_operator("clone", {as_object(gradient)});
  }
  if (!kept) return false;
  Py_XSETREF(a->grad, as_object(kept.release()));
  return true;
}

// Borrowed; null without an error set if there is none.
PyObject *leaf_hooks(const Tensor *leaf, const char *kind) {
  PyObject *hooks = leaf && leaf->autograd ? leaf->autograd->hooks : nullptr;
  return hooks ? PyDict_GetItemString(hooks, kind) : nullptr;
}

ObjectRef tuple_of_gradients(const std::vector<Tensor *> &gradients) {
  ObjectRef tuple(PyTuple_New(Py_ssize_t(gradients.size())));
  for (size_t i = 0; tuple && i < gradients.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), Py_ssize_t(i), Py_NewRef(gradients[i] ? as_object(gradients[i]) : Py_None));
  }
  return tuple;
}

// Replaces gradients by what a node's hook returned: None or a tuple.
bool take_replacements(PyObject *function, PyObject *result, std::vector<Tensor *> &gradients) {
  if (result == Py_None) return true;
  if (!PyTuple_Check(result)) {
    PyErr_Format(PyExc_TypeError, "expected tuple, but hook returned '%s': return one gradient for each, or None",
                 Py_TYPE(result)->tp_name);
    return false;
  }
  if (size_t(PyTuple_GET_SIZE(result)) != gradients.size()) {
    ObjectRef holder;
    PyErr_Format(PyExc_RuntimeError, "hook '%s' returned an incorrect number of values (got %zd, but expected %zu)",
                 name_of(function, holder), PyTuple_GET_SIZE(result), gradients.size());
    return false;
  }
  for (size_t i = 0; i < gradients.size(); ++i) {
    PyObject *item = PyTuple_GET_ITEM(result, Py_ssize_t(i));
    if (item != Py_None && !check_replacement(function, gradients[i], item)) return false;
    Tensor *old = gradients[i];
    gradients[i] = item == Py_None ? nullptr : as_tensor(Py_NewRef(item));
    Py_XDECREF(as_object(old));
  }
  return true;
}

// ---------------------------------------------------------------- Python functions

bool expect_tensor(PyObject *object, const char *function) {
  if (tensor_check(object)) return true;
  PyErr_Format(PyExc_TypeError, "%s(): expected a tensor, got '%s'", function, Py_TYPE(object)->tp_name);
  return false;
}

PyObject *add_leaf_hook(Tensor *leaf, const char *kind, PyObject *function) {
  Autograd *a = leaf->autograd;
  if (!a->hooks && !(a->hooks = PyDict_New())) return nullptr;
  ObjectRef hooks = ObjectRef::borrow(leaf_hooks(leaf, kind));
  if (!hooks) {
    hooks = ObjectRef(new_hooks());
    if (!hooks || PyDict_SetItemString(a->hooks, kind, hooks.get()) < 0) return nullptr;
  }
  return add_hook(hooks.get(), function);
}

PyObject *register_hook(PyObject *, PyObject *args) {
  PyObject *object, *function;
  if (!PyArg_ParseTuple(args, "OO:register_hook", &object, &function) || !expect_tensor(object, "register_hook")) {
    return nullptr;
  }
  Tensor *t = as_tensor(object);
  if (!requires_grad(t)) {
    PyErr_SetString(PyExc_RuntimeError, kNoGradient);
    return nullptr;
  }
  Node *node = tape_grad_fn(t);
  if (!node) return PyErr_Occurred() ? nullptr : add_leaf_hook(t, kTensorHooks, function);
  ObjectRef hooks(new_hooks());  // first: it runs Python code
  auto *entry = hooks ? tensor_hooks(node, t->autograd->output_index) : nullptr;
  if (!entry) return nullptr;
  if (entry->hooks) {
    hooks = ObjectRef::borrow(entry->hooks);
  } else {
    entry->hooks = Py_NewRef(hooks.get());
  }
  return add_hook(hooks.get(), function);
}

PyObject *register_post_accumulate_grad_hook(PyObject *, PyObject *args) {
  PyObject *object, *function;
  if (!PyArg_ParseTuple(args, "OO:register_post_accumulate_grad_hook", &object, &function) ||
      !expect_tensor(object, "register_post_accumulate_grad_hook")) {
    return nullptr;
  }
  Tensor *t = as_tensor(object);
  if (!requires_grad(t)) {
    PyErr_SetString(PyExc_RuntimeError, kNoGradient);
    return nullptr;
  }
  if (tape_grad_fn(t)) {
    PyErr_SetString(PyExc_RuntimeError, "post accumulate grad hooks run where gradients accumulate, so they cannot be "
                    "registered on non-leaf tensors; use register_hook()");
    return nullptr;
  }
  return PyErr_Occurred() ? nullptr : add_leaf_hook(t, kPostAccumulate, function);
}

PyObject *hooks_of_leaf(PyObject *, PyObject *object) {
  if (!expect_tensor(object, "leaf_hooks")) return nullptr;
  PyObject *hooks = leaf_hooks(as_tensor(object), kTensorHooks);
  return Py_NewRef(hooks ? hooks : Py_None);
}

PyObject *retain_grad(PyObject *, PyObject *object) {
  if (!expect_tensor(object, "retain_grad") || retain_gradient(as_tensor(object)) < 0) return nullptr;
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"register_hook", register_hook, METH_VARARGS,
     "register_hook(tensor, function): call function(gradient) whenever the tensor's gradient is computed."},
    {"register_post_accumulate_grad_hook", register_post_accumulate_grad_hook, METH_VARARGS,
     "register_post_accumulate_grad_hook(leaf, function): call function(leaf) after its .grad was added to."},
    {"leaf_hooks", hooks_of_leaf, METH_O, "leaf_hooks(leaf): the dict of its hooks, or None."},
    {"retain_grad", retain_grad, METH_O, "retain_grad(tensor): backward sets .grad of this tensor that is not a leaf."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

int retain_gradient(Tensor *t) {
  if (!requires_grad(t)) {
    PyErr_SetString(PyExc_RuntimeError, "can't retain_grad on Tensor that has requires_grad=False");
    return -1;
  }
  Node *node = tape_grad_fn(t);
  if (!node) return PyErr_Occurred() ? -1 : 0;
  return t->autograd->retains_grad ? 0 : retain_gradient_at(t, node, t->autograd->output_index);
}

int retain_gradient_at(Tensor *t, Node *node, uint32_t index) {
  ObjectRef weak(PyWeakref_NewRef(as_object(t), nullptr));
  auto *entry = weak ? tensor_hooks(node, index) : nullptr;
  if (!entry) return -1;
  t->autograd->retains_grad = true;
  Py_XSETREF(entry->retained, weak.release());
  return 0;
}

int keep_hooks(Tensor *t) {
  Autograd *a = t->autograd;
  if (!a->grad_fn || !a->grad_fn->extras) return 0;
  for (const auto &entry : a->grad_fn->extras->tensors) {
    if (entry.index != a->output_index || !entry.hooks) continue;
    ObjectRef hooks = ObjectRef::borrow(entry.hooks);
    if (!a->hooks && !(a->hooks = PyDict_New())) return -1;
    return PyDict_SetItemString(a->hooks, kTensorHooks, hooks.get());
  }
  return 0;
}

PyObject *new_hooks() {  // an OrderedDict, because handles refer to it weakly
  ObjectRef collections(PyImport_ImportModule("collections"));
  return collections ? PyObject_CallMethod(collections.get(), "OrderedDict", nullptr) : nullptr;
}

PyObject *add_hook(PyObject *hooks, PyObject *function) {
  if (!PyCallable_Check(function)) {
    PyErr_Format(PyExc_TypeError, "a hook must be callable, but is of type '%s'", Py_TYPE(function)->tp_name);
    return nullptr;
  }
  ObjectRef handle(call_registered("RemovableHandle", &hooks, 1));
  ObjectRef id(handle ? PyObject_GetAttrString(handle.get(), "id") : nullptr);
  if (!id || PyObject_SetItem(hooks, id.get(), function) < 0) return nullptr;
  return handle.release();
}

bool run_tensor_hooks(Node *node, Tensor **gradients) {
  if (node->kind == NodeKind::Accumulate) {
    ObjectRef hooks = ObjectRef::borrow(leaf_hooks(node->leaf, kTensorHooks));
    if (hooks && !run_on_gradient(hooks.get(), gradients)) return false;
  }
  // A hook may add hooks: the entries are looked up by position.
  for (size_t i = 0; node->extras && i < node->extras->tensors.size(); ++i) {
    const uint32_t index = node->extras->tensors[i].index;
    if (index >= node->input_count) continue;
    ObjectRef hooks = ObjectRef::borrow(node->extras->tensors[i].hooks);
    ObjectRef retained = ObjectRef::borrow(node->extras->tensors[i].retained);
    if (hooks && !run_on_gradient(hooks.get(), &gradients[index])) return false;
    if (retained && !retain(retained.get(), gradients[index])) return false;
  }
  return true;
}

bool run_node_prehooks(Node *node, Tensor **gradients) {
  if (!node->extras || !node->extras->before) return true;
  ObjectRef functions = functions_in(node->extras->before);
  if (!functions) return false;
  std::vector<Tensor *> current(gradients, gradients + node_outputs(node));
  bool good = true;
  for (Py_ssize_t i = 0; good && i < PyList_GET_SIZE(functions.get()); ++i) {
    PyObject *function = PyList_GET_ITEM(functions.get(), i);
    ObjectRef given = tuple_of_gradients(current);
    ObjectRef result(given ? PyObject_CallOneArg(function, given.get()) : nullptr);
    good = result && take_replacements(function, result.get(), current);
  }
  std::copy(current.begin(), current.end(), gradients);  // owned by the caller's buffer either way
  return good;
}

bool run_node_hooks(Node *node, Gradients &results, Tensor *const *given) {
  if (!node->extras || !node->extras->after) return true;
  ObjectRef functions = functions_in(node->extras->after);
  ObjectRef outputs = tuple_of_gradients({given, given + node_outputs(node)});
  if (!functions || !outputs) return false;
  std::vector<Tensor *> current(operand_count(node), nullptr);
  for (uint32_t k = 0; k < results.size(); ++k) current[operand_of(node, k)] = results[k].release();
  bool good = true;
  for (Py_ssize_t i = 0; good && i < PyList_GET_SIZE(functions.get()); ++i) {
    PyObject *function = PyList_GET_ITEM(functions.get(), i);
    ObjectRef inputs = tuple_of_gradients(current);
    PyObject *arguments[] = {inputs.get(), outputs.get()};
    ObjectRef result(inputs ? PyObject_Vectorcall(function, arguments, 2, nullptr) : nullptr);
    good = result && take_replacements(function, result.get(), current);
  }
  for (uint32_t k = 0; k < results.size(); ++k) {
    results[k] = TensorRef(std::exchange(current[operand_of(node, k)], nullptr));
  }
  for (Tensor *surplus : current) Py_XDECREF(as_object(surplus));
  return good;
}

bool run_post_accumulate_hooks(Tensor *leaf) {
  ObjectRef hooks = ObjectRef::borrow(leaf_hooks(leaf, kPostAccumulate));
  if (!hooks) return true;
  ObjectRef functions = functions_in(hooks.get());
  if (!functions) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(functions.get()); ++i) {
    ObjectRef result(PyObject_CallOneArg(PyList_GET_ITEM(functions.get(), i), as_object(leaf)));
    if (!result) return false;
    if (result.get() != Py_None) {
      PyErr_Format(PyExc_TypeError, "post accumulate grad hooks should return None, but hook returned '%s'",
                   Py_TYPE(result.get())->tp_name);
      return false;
    }
  }
  return true;
}

int init_hooks(PyObject *module) { return PyModule_AddFunctions(module, functions); }

}  // namespace rushlight
