// Plans: parsing what the planner hands over. Everything that does not depend on sizes is checked here; what does is
// checked when an instance is built.
#include "plan.h"

#include <algorithm>

#include "plan_parser.h"

namespace rushlight {

std::unique_ptr<Plan> PlanParser::parse() {
  check_names();
  plan_->inputs = index_of(required("inputs"), 0, 1 << 20, "inputs");
  if (PyObject *device = field("device")) plan_->device = index_of(device, -1, 2, "device");
  if (PyObject *leaf = field("requires_grad")) plan_->requires_grad = leaf == Py_True;
  parse_shape_program();
  parse_buffers();
  parse_views();
  check_layouts();
  plan_->mutated = indices(field("mutated"), plan_->inputs, "mutated");
  parse_steps();
  parse_outputs();
  parse_result();
  if (plan_->requires_grad && plan_->result_kind != ResultKind::Single) {
    fail(PyExc_ValueError, "Plan: only a single result can be made to require a gradient");
  }
  parse_tape();
  parse_errors();
  parse_warnings();
  return std::move(plan_);
}

void PlanParser::check_names() {
  static const char *names[] = {"constants", "sources", "program", "guards",  "scalar_guards",
                                "inputs",    "buffers", "views",   "steps",   "outputs",
                                "result",    "mutated", "tape",    "errors",  "device", "requires_grad",
                                "warnings"};
  PyObject *key, *value;
  for (Py_ssize_t position = 0; PyDict_Next(spec_, &position, &key, &value);) {
    bool known = false;
    for (const char *name : names) known |= PyUnicode_CompareWithASCIIString(key, name) == 0;
    if (!known) fail(PyExc_TypeError, "Plan: unknown field %R", key);
  }
}

// ---------------------------------------------------------------- shape program

IntOperation PlanParser::operation(PyObject *object) {
  static const char *names[] = {"add", "sub", "mul", "floordiv", "mod", "max", "min",
                                "eq",  "ne",  "lt",  "le",       "gt",  "ge"};
  std::string text = text_of(object, "an operation");
  for (int i = 0; i < 13; ++i) {
    if (text == names[i]) return IntOperation(i);
  }
  fail(PyExc_ValueError, "Plan: unknown operation %R", object);
}

IntExpression PlanParser::expression(PyObject *object, const char *what) {
  Items items(object, what);
  items.require(3, what);
  return {operation(items[0]), slot(items[1], what), slot(items[2], what)};
}

void PlanParser::parse_shape_program() {
  each("constants", [&](PyObject *item) { plan_->constants.push_back(int_of(item, "a constant")); });
  each("sources", [&](PyObject *item) { plan_->sources.push_back(source(item)); });
  each("program", [&](PyObject *item) { plan_->program.push_back(expression(item, "program")); });
  each("guards", [&](PyObject *item) { plan_->guards.push_back(expression(item, "guards")); });
  each("scalar_guards", [&](PyObject *item) { plan_->scalar_guards.push_back(scalar_guard(item)); });
}

IntSource PlanParser::source(PyObject *object) {
  Items items(object, "sources");
  if (!items.size()) fail(PyExc_ValueError, "Plan: an empty source");
  std::string kind = text_of(items[0], "a source's kind");
  if (kind == "int") {
    items.require(2, "an int source");
    int index = index_of(items[1], 0, 1 << 20, "an int source");
    plan_->ints = std::max(plan_->ints, index + 1);
    return {IntSource::Int, index, 0};
  }
  if (kind != "size" && kind != "stride") fail(PyExc_ValueError, "Plan: unknown source %R", items[0]);
  items.require(3, "a source");
  int index = index_of(items[1], 0, plan_->inputs, "a source's input");
  return {kind == "size" ? IntSource::Size : IntSource::Stride, index,
          index_of(items[2], 0, kManyDims, "a source's dim")};
}

int PlanParser::scalar_word(PyObject *object) {
  int index = index_of(object, 0, 1 << 20, "a scalar word");
  plan_->scalar_words = std::max(plan_->scalar_words, index + 1);
  return index;
}

ScalarGuard PlanParser::scalar_guard(PyObject *object) {
  Items items(object, "scalar_guards");
  items.require(3, "a scalar guard");
  if (std::string(text_of(items[0], "a comparison")) == "isnan") {
    return {IntOperation::Ne, scalar_word(items[1]), true, 0, 0, true};
  }
  ScalarGuard guard{operation(items[0]), scalar_word(items[1]), false, 0, 0, false};
  if (guard.operation < IntOperation::Eq) fail(PyExc_ValueError, "Plan: %R is no comparison", items[0]);
  guard.floating = PyFloat_Check(items[2]);
  if (guard.floating) {
    guard.number = PyFloat_AS_DOUBLE(items[2]);
  } else {
    guard.integer = int_of(items[2], "a scalar guard's number");
    guard.number = double(guard.integer);
  }
  return guard;
}

// ---------------------------------------------------------------- outputs and tape

void PlanParser::parse_outputs() {
  each("outputs", [&](PyObject *item) {
    if (item == Py_None) {
      plan_->outputs.push_back({Output::None, 0});
      return;
    }
    Items items(item, "outputs");
    items.require(2, "an output");
    std::string kind = text_of(items[0], "an output's kind");
    if (kind == "buffer") {
      int index = index_of(items[1], plan_->inputs, all_buffers(), "an output's buffer");
      plan_->buffers[index - plan_->inputs].output = true;
      plan_->outputs.push_back({Output::Buffer, index});
    } else if (kind == "input") {
      plan_->outputs.push_back({Output::Input, index_of(items[1], 0, plan_->inputs, "an output's input")});
    } else if (kind == "view") {
      int index = view(items[1], "an output's view");
      int buffer = plan_->views[index].buffer;
      if (buffer >= plan_->inputs) plan_->buffers[buffer - plan_->inputs].storage = true;
      plan_->outputs.push_back({Output::View, index});
    } else {
      fail(PyExc_ValueError, "Plan: unknown output %R", items[0]);
    }
  });
}

void PlanParser::parse_result() {
  PyObject *result = field("result");
  if (!result || PyUnicode_Check(result)) {
    static const char *names[] = {"single", "tuple", "list", "none"};
    std::string text = result ? text_of(result, "result") : plan_->outputs.size() == 1 ? "single" : "tuple";
    for (int i = 0; i < 4; ++i) {
      if (text == names[i]) {
        plan_->result_kind = ResultKind(i);
        if (i == 0 && plan_->outputs.size() != 1) {
          fail(PyExc_ValueError, "Plan: a single result of %zu outputs", plan_->outputs.size());
        }
        return;
      }
    }
    fail(PyExc_ValueError, "Plan: unknown result %R", result);
  }
  if (!PyCallable_Check(result)) fail(PyExc_TypeError, "Plan: the result %R is not callable", result);
  plan_->result_kind = ResultKind::Callable;
  plan_->result = Py_NewRef(result);
}

void PlanParser::parse_tape() {
  PyObject *tape = field("tape");
  if (!tape) return;
  Items items(tape, "tape");
  items.require(7, "tape");
  if (!PyCallable_Check(items[0])) fail(PyExc_TypeError, "Plan: the tape's maker %R is not callable", items[0]);
  std::string name = text_of(items[4], "the tape's name");
  plan_->recipe = new Recipe();
  Recipe &recipe = *plan_->recipe;
  recipe.references = 1;
  recipe.make = Py_NewRef(items[0]);
  recipe.name = name;
  recipe.grad_inputs = indices(items[2], plan_->inputs, "the tape's inputs");
  recipe.operands = index_of(items[6], 0, INT32_MAX, "the number of the tape's operands");
  recipe.places = indices(items[5], recipe.operands, "the places of the tape's inputs");
  if (recipe.places.size() != recipe.grad_inputs.size()) fail(PyExc_ValueError, "Plan: the tape's inputs lack places");
  recipe.grad_outputs = indices(items[3], int64_t(plan_->outputs.size()), "the tape's outputs");
  for (int j : recipe.grad_outputs) {
    if (plan_->outputs[j].kind == Output::None) fail(PyExc_ValueError, "Plan: output %d has no gradient", j);
  }
  Items saved(items[1], "the tape's saved values");
  for (size_t i = 0; i < saved.size(); ++i) recipe.saved.push_back(saved_value(saved[i], recipe));
}

Recipe::Saved PlanParser::saved_value(PyObject *object, Recipe &recipe) {
  Items items(object, "a saved value");
  items.require(3, "a saved value");
  std::string kind = text_of(items[0], "a saved value");
  recipe.saved_names.push_back(text_of(items[2], "a saved value's name"));
  if (kind == "input") return {0, index_of(items[1], 0, plan_->inputs, "a saved input")};
  if (kind == "output") {
    int index = index_of(items[1], 0, int64_t(plan_->outputs.size()), "a saved output");
    if (plan_->outputs[index].kind == Output::None) fail(PyExc_ValueError, "Plan: saved output %d is None", index);
    return {1, index};
  }
  if (kind == "hidden" || kind == "constant") {
    int index = index_of(items[1], plan_->inputs, all_buffers(), "a saved buffer");
    plan_->buffers[index - plan_->inputs].storage = true;
    recipe.hidden += kind == "hidden";
    return {uint8_t(kind == "hidden" ? 2 : 5), index};
  }
  if (kind == "copy") {
    Items copy(items[1], "a saved copy");
    copy.require(2, "a saved copy");
    int index = index_of(copy[0], plan_->inputs, all_buffers(), "a saved buffer");
    plan_->buffers[index - plan_->inputs].storage = true;
    return {6, index, index_of(copy[1], 0, int64_t(recipe.grad_inputs.size()), "a copied input")};
  }
  if (kind == "scalar") return {3, scalar_word(items[1])};
  if (kind == "int") return {4, slot(items[1], "a saved int")};
  fail(PyExc_ValueError, "Plan: unknown saved value %R", items[0]);
}

void PlanParser::parse_errors() {
  PyObject *errors = field("errors");
  if (!errors) return;
  if (!PyDict_Check(errors)) fail(PyExc_TypeError, "Plan: errors must be a dict");
  PyObject *key, *value;
  for (Py_ssize_t position = 0; PyDict_Next(errors, &position, &key, &value);) {
    int64_t bit = int_of(key, "a status bit");
    Items items(value, "an error");
    items.require(2, "an error");
    if (bit <= 0 || (bit & (bit - 1))) fail(PyExc_ValueError, "Plan: %R is no status bit", key);
    if (!PyExceptionClass_Check(items[0])) fail(PyExc_TypeError, "Plan: %R is no exception class", items[0]);
    if (!PyUnicode_Check(items[1]) && !PyCallable_Check(items[1])) {
      fail(PyExc_TypeError, "Plan: an error's message must be a string or callable, not %R", items[1]);
    }
    plan_->errors.push_back({bit, Py_NewRef(items[0]), Py_NewRef(items[1])});
  }
}

void PlanParser::parse_warnings() {
  PyObject *warnings = field("warnings");
  if (!warnings) return;
  Items items(warnings, "warnings");
  for (size_t i = 0; i < items.size(); ++i) {
    if (!PyUnicode_Check(items[i])) fail(PyExc_TypeError, "Plan: a warning must be a string, not %R", items[i]);
    plan_->warnings.push_back(Py_NewRef(items[i]));
  }
}

// ---------------------------------------------------------------- plans

Plan::~Plan() {
  for (Step &step : steps) Py_XDECREF(step.object);
  for (StatusError &error : errors) {
    Py_DECREF(error.type);
    Py_DECREF(error.message);
  }
  for (PyObject *message : warnings) Py_DECREF(message);
  Py_XDECREF(result);
  if (recipe) recipe_decref(recipe);
}

std::unique_ptr<Plan> parse_plan(PyObject *spec) { return PlanParser(spec).parse(); }

}  // namespace rushlight
