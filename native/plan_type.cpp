// The Plan and Direct types, and the evaluation of a plan's shape program and guards.
#include "parse.h"
#include "plan.h"

namespace rushlight {
namespace {

int64_t live_plans = 0;

PlanObject *as_plan(PyObject *object) { return reinterpret_cast<PlanObject *>(object); }
DirectObject *as_direct(PyObject *object) { return reinterpret_cast<DirectObject *>(object); }

// ---------------------------------------------------------------- Plan

PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  if (PyTuple_GET_SIZE(args) || !kwargs) {
    PyErr_SetString(PyExc_TypeError, "Plan takes its fields as keyword arguments");
    return nullptr;
  }
  std::unique_ptr<Plan> plan;
  try {
    plan = parse_plan(kwargs);
  } catch (const Failure &) {
    return nullptr;
  } catch (const std::bad_alloc &) {
    return PyErr_NoMemory();
  }
  PyObject *object = type->tp_alloc(type, 0);
  if (!object) return nullptr;
  ++live_plans;
  as_plan(object)->plan = plan.release();
  as_plan(object)->spec = Py_NewRef(kwargs);
  return object;
}

int plan_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(as_plan(object)->spec);
  if (const Plan *plan = as_plan(object)->plan) {
    for (const Step &step : plan->steps) Py_VISIT(step.object);
    Py_VISIT(plan->result);
  }
  return 0;
}

// Only the dict is cleared: cycles run through an operator, which lets go of its plans.
int plan_clear(PyObject *object) {
  Py_CLEAR(as_plan(object)->spec);
  return 0;
}

void plan_dealloc(PyObject *object) {
  PyObject_GC_UnTrack(object);
  plan_clear(object);
  if (as_plan(object)->plan) --live_plans;
  delete as_plan(object)->plan;
  Py_TYPE(object)->tp_free(object);
}

PyObject *plan_get_spec(PyObject *object, void *) {
  PyObject *spec = as_plan(object)->spec;
  return spec ? PyDict_Copy(spec) : PyDict_New();
}

PyGetSetDef plan_getset[] = {{"spec", plan_get_spec, nullptr, "The fields it was made from.", nullptr},
                             {nullptr, nullptr, nullptr, nullptr, nullptr}};

// ---------------------------------------------------------------- Direct

PyObject *direct_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"function", nullptr};
  PyObject *function;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Direct", const_cast<char **>(names), &function)) return nullptr;
  if (!PyCallable_Check(function)) return PyErr_Format(PyExc_TypeError, "Direct: %R is not callable", function);
  PyObject *object = type->tp_alloc(type, 0);
  if (object) as_direct(object)->function = Py_NewRef(function);
  return object;
}

int direct_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(as_direct(object)->function);
  return 0;
}

void direct_dealloc(PyObject *object) {
  PyObject_GC_UnTrack(object);
  Py_CLEAR(as_direct(object)->function);
  Py_TYPE(object)->tp_free(object);
}

PyObject *direct_get_function(PyObject *object, void *) { return Py_NewRef(as_direct(object)->function); }

PyGetSetDef direct_getset[] = {{"function", direct_get_function, nullptr, "What is called.", nullptr},
                               {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyObject *plan_count(PyObject *, PyObject *) { return PyLong_FromLongLong(live_plans); }

PyMethodDef functions[] = {{"plan_count", plan_count, METH_NOARGS, "The number of plans that are alive."},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyTypeObject PlanType = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject DirectType = {PyVarObject_HEAD_INIT(nullptr, 0)};

// ---------------------------------------------------------------- evaluation

bool evaluate(IntOperation operation, int64_t a, int64_t b, int64_t *result) {
  switch (operation) {
    case IntOperation::Add: return !__builtin_add_overflow(a, b, result);
    case IntOperation::Sub: return !__builtin_sub_overflow(a, b, result);
    case IntOperation::Mul: return !__builtin_mul_overflow(a, b, result);
    case IntOperation::FloorDiv:
    case IntOperation::Mod: {
      if (b == 0 || (a == INT64_MIN && b == -1)) return false;
      int64_t quotient = a / b - (a % b != 0 && (a < 0) != (b < 0));
      *result = operation == IntOperation::FloorDiv ? quotient : a - quotient * b;
      return true;
    }
    case IntOperation::Max: *result = a > b ? a : b; return true;
    case IntOperation::Min: *result = a < b ? a : b; return true;
    case IntOperation::Eq: *result = a == b; return true;
    case IntOperation::Ne: *result = a != b; return true;
    case IntOperation::Lt: *result = a < b; return true;
    case IntOperation::Le: *result = a <= b; return true;
    case IntOperation::Gt: *result = a > b; return true;
    case IntOperation::Ge: *result = a >= b; return true;
  }
  return false;
}

namespace {

bool compare_numbers(IntOperation operation, double a, double b) {
  switch (operation) {
    case IntOperation::Eq: return a == b;
    case IntOperation::Ne: return a != b;
    case IntOperation::Lt: return a < b;
    case IntOperation::Le: return a <= b;
    case IntOperation::Gt: return a > b;
    default: return a >= b;
  }
}

bool source_value(const IntSource &source, const Call &call, int64_t *value) {
  if (source.kind == IntSource::Int) {
    *value = call.ints[source.index];
    return true;
  }
  const Meta *meta = call.tensors[source.index]->meta;
  if (source.dim >= meta->ndim) return false;
  *value = source.kind == IntSource::Size ? meta->sizes()[source.dim] : meta->strides()[source.dim];
  return true;
}

}  // namespace

bool scalar_guards_hold(const Plan &plan, const Call &call) {
  for (const ScalarGuard &guard : plan.scalar_guards) {
    int64_t word = call.scalars[guard.scalar];
    if (call.kinds[guard.scalar] == 'f') {
      double number;
      std::memcpy(&number, &word, sizeof number);
      if (guard.is_nan ? number == number : !compare_numbers(guard.operation, number, guard.number)) return false;
    } else if (guard.is_nan) {
      return false;
    } else if (guard.floating) {
      if (!compare_numbers(guard.operation, double(word), guard.number)) return false;
    } else {
      int64_t holds;
      if (!evaluate(guard.operation, word, guard.integer, &holds) || !holds) return false;
    }
  }
  return true;
}

void check_plan_fits(const Plan &plan, const Call &call) {
  if (plan.inputs != int(call.tensors.size()) || plan.ints > int(call.ints.size()) ||
      plan.scalar_words > int(call.scalars.size())) {
    fail(PyExc_RuntimeError,
         "plan: made for %d tensors, %d size ints and %d scalar words, but the call has %zu, %zu and %zu", plan.inputs,
         plan.ints, plan.scalar_words, call.tensors.size(), call.ints.size(), call.scalars.size());
  }
  for (const ScalarGuard &guard : plan.scalar_guards) {
    char kind = call.kinds[guard.scalar];
    if (kind == 'c' || kind == '-') fail(PyExc_RuntimeError, "plan: a guard compares a complex number");
  }
}

bool evaluate_slots(const Plan &plan, const Call &call, std::vector<int64_t> &slots) {
  slots.assign(plan.constants.begin(), plan.constants.end());
  for (const IntSource &source : plan.sources) {
    int64_t value;
    if (!source_value(source, call, &value)) return false;
    slots.push_back(value);
  }
  for (const IntExpression &expression : plan.program) {
    int64_t value;
    if (!evaluate(expression.operation, slots[expression.a], slots[expression.b], &value)) return false;
    slots.push_back(value);
  }
  for (const IntExpression &guard : plan.guards) {
    int64_t holds;
    if (!evaluate(guard.operation, slots[guard.a], slots[guard.b], &holds) || !holds) return false;
  }
  return true;
}

void raise_status(const Plan &plan, int64_t status, const char *name, const WrongIndex &wrong) {
  if (status & kOutOfMemory) {
    PyErr_NoMemory();
    return;
  }
  for (const StatusError &error : plan.errors) {
    if (!(status & error.bit)) continue;
    if (error.bit == kIndexOutOfRange && wrong.dim >= 0) {
      PyErr_Format(error.type, "%s(): index %lld is out of bounds for dimension %d with size %lld", name,
                   static_cast<long long>(wrong.value), wrong.dim, static_cast<long long>(wrong.size));
      return;
    }
    if (PyUnicode_Check(error.message)) {
      PyErr_SetObject(error.type, error.message);
      return;
    }
    PyObject *message = PyObject_CallNoArgs(error.message);
    if (!message) return;
    PyErr_SetObject(error.type, message);
    Py_DECREF(message);
    return;
  }
  if (status & kIndexOutOfRange) {
    PyErr_SetString(PyExc_IndexError, "index out of range in self");
  } else if (status & kDivisionByZero) {
    PyErr_SetString(PyExc_RuntimeError, "ZeroDivisionError");
  } else {
    PyErr_Format(PyExc_RuntimeError, "a kernel failed with status %lld", static_cast<long long>(status));
  }
}

int init_plan(PyObject *module) {
  PlanType.tp_name = "rushlight._core.Plan";
  PlanType.tp_doc = "Plan(**fields): how calls of one structure run. See docs/design.md, \"Plans\".";
  PlanType.tp_basicsize = sizeof(PlanObject);
  PlanType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC;
  PlanType.tp_new = plan_new;
  PlanType.tp_traverse = plan_traverse;
  PlanType.tp_clear = plan_clear;
  PlanType.tp_dealloc = plan_dealloc;
  PlanType.tp_getset = plan_getset;
  DirectType.tp_name = "rushlight._core.Direct";
  DirectType.tp_doc = "Direct(function): calls of this structure go to a Python function.";
  DirectType.tp_basicsize = sizeof(DirectObject);
  DirectType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC;
  DirectType.tp_new = direct_new;
  DirectType.tp_traverse = direct_traverse;
  DirectType.tp_dealloc = direct_dealloc;
  DirectType.tp_getset = direct_getset;
  if (PyModule_AddType(module, &PlanType) < 0 || PyModule_AddType(module, &DirectType) < 0) return -1;
  if (PyModule_AddFunctions(module, functions) < 0) return -1;
  return init_kernel(module);
}

}  // namespace rushlight
