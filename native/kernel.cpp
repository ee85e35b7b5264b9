// The Kernel type: a loop nest and the machine code of its variants.
#include "plan.h"

namespace rushlight {

std::vector<void *> kernel_functions;

namespace {

KernelObject *as_kernel(PyObject *object) { return reinterpret_cast<KernelObject *>(object); }

std::string variant_key(char vector, const std::string &classes, int loops, const char *split) {
  return std::string(1, vector) + " " + classes + " " + std::to_string(loops) + (*split ? " " : "") + split;
}

void set_role(KernelOperand &operand, const char *role, const char *level) {
  std::string text = role, axes = level;
  if (text == "read") operand.role = KernelOperand::Read;
  else if (text == "write") operand.role = KernelOperand::Write;
  else if (text == "base") operand.role = KernelOperand::Base;
  else if (text == "coordinate") operand.role = KernelOperand::Coordinate;
  else {
    PyErr_Format(PyExc_ValueError, "Kernel: role must be read, write, base or coordinate, not %s", role);
    throw Failure();
  }
  if (axes != "" && axes != "P" && axes != "R" && axes != "PR") {
    PyErr_Format(PyExc_ValueError, "Kernel: level must be '', 'P', 'R' or 'PR', not '%s'", level);
    throw Failure();
  }
  operand.along_parallel = axes.find('P') != std::string::npos;
  operand.along_reduced = axes.find('R') != std::string::npos;
}

std::vector<KernelOperand> parse_operands(PyObject *tuple) {
  std::vector<KernelOperand> operands;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    PyObject *item = PyTuple_GET_ITEM(tuple, i);
    const char *role, *level;
    Py_ssize_t item_bytes;
    if (!PyTuple_Check(item)) {
      PyErr_SetString(PyExc_TypeError, "Kernel: each operand must be a tuple (role, level, itemsize)");
      throw Failure();
    }
    if (!PyArg_ParseTuple(item, "ssn;operands are (role, level, itemsize)", &role, &level, &item_bytes)) {
      throw Failure();
    }
    KernelOperand operand;
    set_role(operand, role, level);
    operand.itemsize = operand.role == KernelOperand::Coordinate ? 1 : item_bytes;
    if (operand.itemsize < 1 || operand.itemsize > 16) {
      PyErr_Format(PyExc_ValueError, "Kernel: an item of %zd bytes", item_bytes);
      throw Failure();
    }
    operands.push_back(operand);
  }
  return operands;
}

PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"nest",    "compile", "operands",   "parallel",     "reduced", "scalars", "ints",
                                "scratch", "ordered", "splittable", "accumulators", "cost",    nullptr};
  PyObject *nest, *compile, *operands;
  auto kernel = std::make_unique<Kernel>();
  int parallel, reduced, scalars = 0, ints = 0, ordered = 0, splittable = 0, accumulators = 0;
  Py_ssize_t scratch = 0;
  double cost = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO!ii|iinppid:Kernel", const_cast<char **>(names), &nest, &compile,
                                   &PyTuple_Type, &operands, &parallel, &reduced, &scalars, &ints, &scratch,
                                   &ordered, &splittable, &accumulators, &cost)) {
    return nullptr;
  }
  if (!PyCallable_Check(compile)) {
    PyErr_SetString(PyExc_TypeError, "Kernel: compile must be callable");
    return nullptr;
  }
  bool possible = parallel >= 0 && reduced >= 0 && scalars >= 0 && ints >= 0 && scratch >= 0 && accumulators >= 0 &&
                  parallel <= 64 && reduced <= 64 && (!ordered || reduced == 1) && cost >= 0;
  if (!possible) {
    PyErr_SetString(PyExc_ValueError,
                    "Kernel: counts must not be negative, dims at most 64, and an ordered nest has one reduced dim");
    return nullptr;
  }
  try {
    kernel->operands = parse_operands(operands);
  } catch (const Failure &) {
    return nullptr;
  }
  kernel->parallel = parallel;
  kernel->reduced = reduced;
  kernel->scalars = scalars;
  kernel->ints = ints;
  kernel->scratch = scratch;
  kernel->ordered = ordered;
  kernel->splittable = splittable && accumulators > 0;
  kernel->cost = cost;
  KernelObject *self = as_kernel(type->tp_alloc(type, 0));
  if (!self) return nullptr;
  self->kernel = kernel.release();
  self->nest = Py_NewRef(nest);
  self->compile = Py_NewRef(compile);
  return reinterpret_cast<PyObject *>(self);
}

int kernel_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(as_kernel(object)->nest);
  Py_VISIT(as_kernel(object)->compile);
  return 0;
}

int kernel_clear(PyObject *object) {
  Py_CLEAR(as_kernel(object)->nest);
  Py_CLEAR(as_kernel(object)->compile);
  return 0;
}

void kernel_dealloc(PyObject *object) {
  PyObject_GC_UnTrack(object);
  kernel_clear(object);
  delete as_kernel(object)->kernel;
  Py_TYPE(object)->tp_free(object);
}

PyObject *kernel_variants(PyObject *object, PyObject *) {
  PyObject *names = PyList_New(0);
  if (!names) return nullptr;
  for (auto &entry : as_kernel(object)->kernel->variants) {
    PyObject *name = PyUnicode_FromStringAndSize(entry.first.data(), Py_ssize_t(entry.first.size()));
    if (!name || PyList_Append(names, name) < 0) {
      Py_XDECREF(name);
      Py_DECREF(names);
      return nullptr;
    }
    Py_DECREF(name);
  }
  return names;
}

PyObject *kernel_get_nest(PyObject *object, void *) {
  PyObject *nest = as_kernel(object)->nest;
  return Py_NewRef(nest ? nest : Py_None);
}

PyMethodDef kernel_methods[] = {
    {"variants", kernel_variants, METH_NOARGS, "Names of the variants compiled so far: vector, classes, loops, split."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef kernel_getset[] = {{"nest", kernel_get_nest, nullptr, "The loop nest it was made from.", nullptr},
                               {nullptr, nullptr, nullptr, nullptr, nullptr}};

// compile() returns (blob, entry) or (blob, entry, scratch bytes per reduced element).
KernelVariant load_variant(PyObject *compiled, int64_t scratch) {
  Py_buffer blob;
  Py_ssize_t entry, own_scratch = Py_ssize_t(scratch);
  if (!PyTuple_Check(compiled)) {
    PyErr_SetString(PyExc_TypeError, "Kernel: compile must return (blob, entry)");
    throw Failure();
  }
  if (!PyArg_ParseTuple(compiled, "y*n|n;compile must return (blob, entry)", &blob, &entry, &own_scratch)) {
    throw Failure();
  }
  Code *code = nullptr;
  if (entry < 0 || entry >= blob.len || own_scratch < 0) {
    PyErr_Format(PyExc_ValueError, "Kernel: entry point %zd of %zd bytes of code", entry, blob.len);
  } else {
    code = code_load(blob.buf, size_t(blob.len), size_t(entry));
  }
  PyBuffer_Release(&blob);
  if (!code) throw Failure();
  return {CodeReference(code), own_scratch};
}

PyObject *set_kernel_functions(PyObject *, PyObject *addresses) {
  PyObject *list = PySequence_Fast(addresses, "set_kernel_functions expects a sequence of addresses");
  if (!list) return nullptr;
  std::vector<void *> functions;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
    functions.push_back(PyLong_AsVoidPtr(PySequence_Fast_GET_ITEM(list, i)));
  }
  Py_DECREF(list);
  if (PyErr_Occurred()) return nullptr;
  kernel_functions = std::move(functions);
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"set_kernel_functions", set_kernel_functions, METH_O,
     "Set the table of external functions (addresses) that machine code calls through its last argument."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyTypeObject KernelType = {PyVarObject_HEAD_INIT(nullptr, 0)};

const KernelVariant &kernel_variant(KernelObject *object, char vector, const std::string &classes, int loops,
                                    const char *split) {
  std::string key = variant_key(vector, classes, loops, split);
  auto found = object->kernel->variants.find(key);
  if (found != object->kernel->variants.end()) return found->second;
  if (!object->compile) {
    PyErr_SetString(PyExc_RuntimeError, "Kernel: used after the garbage collector cleared it");
    throw Failure();
  }
  char axis[2] = {vector, 0};
  PyObject *compiled = PyObject_CallFunction(object->compile, "ssis", axis, classes.c_str(), loops, split);
  if (!compiled) throw Failure();
  KernelVariant variant;
  try {
    variant = load_variant(compiled, object->kernel->scratch);
  } catch (const Failure &) {
    Py_DECREF(compiled);
    throw;
  }
  Py_DECREF(compiled);
  return object->kernel->variants.emplace(key, std::move(variant)).first->second;  // unless a thread was quicker
}

int init_kernel(PyObject *module) {
  KernelType.tp_name = "rushlight._core.Kernel";
  KernelType.tp_doc =
      "Kernel(nest, compile, operands, parallel, reduced, scalars=0, ints=0, scratch=0, ordered=False,\n"
      "       splittable=False, accumulators=0, cost=1.0)\n\n"
      "A fused loop nest. operands: (role, level, itemsize) each; scratch: bytes per reduced element;\n"
      "compile(vector, classes, loops, split) -> (blob, entry[, scratch]) makes a variant when it is first needed.";
  KernelType.tp_basicsize = sizeof(KernelObject);
  KernelType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC;
  KernelType.tp_new = kernel_new;
  KernelType.tp_traverse = kernel_traverse;
  KernelType.tp_clear = kernel_clear;
  KernelType.tp_dealloc = kernel_dealloc;
  KernelType.tp_methods = kernel_methods;
  KernelType.tp_getset = kernel_getset;
  if (PyModule_AddFunctions(module, functions) < 0) return -1;
  return PyModule_AddType(module, &KernelType);
}

}  // namespace rushlight
