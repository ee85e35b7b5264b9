// Parses what the planner hands over into a Plan: each part in the file that its section names.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "parse.h"
#include "plan.h"
#include "tape.h"

namespace rushlight {

class PlanParser {
 public:
  explicit PlanParser(PyObject *spec) : spec_(spec), plan_(std::make_unique<Plan>()) {}
  std::unique_ptr<Plan> parse();

 private:
  static constexpr int kManyDims = 64;

  // ---------------------------------------------------------------- fields

  void check_names();
  PyObject *field(const char *name) {  // null if absent or None
    PyObject *value = PyDict_GetItemString(spec_, name);
    return value == Py_None ? nullptr : value;
  }
  PyObject *required(const char *name) {
    PyObject *value = field(name);
    if (!value) fail(PyExc_TypeError, "Plan: the field '%s' is missing", name);
    return value;
  }
  static std::vector<int> indices(PyObject *sequence, int64_t high, const char *what) {
    return sequence ? indices_of(sequence, 0, high, what) : std::vector<int>();
  }
  int slot(PyObject *object, const char *what) { return index_of(object, 0, plan_->slots(), what); }
  std::vector<int> slots(PyObject *object, const char *what) { return indices(object, plan_->slots(), what); }
  int all_buffers() const { return plan_->inputs + int(plan_->buffers.size()); }
  int view(PyObject *object, const char *what) { return index_of(object, 0, int64_t(plan_->views.size()), what); }

  template <class Function>
  void each(const char *name, Function function) {
    PyObject *value = field(name);
    if (!value) return;
    Items items(value, name);
    for (size_t i = 0; i < items.size(); ++i) function(items[i]);
  }

  // ---------------------------------------------------------------- shape program (plan.cpp)

  static IntOperation operation(PyObject *object);
  IntExpression expression(PyObject *object, const char *what);
  void parse_shape_program();
  IntSource source(PyObject *object);
  int scalar_word(PyObject *object);
  ScalarGuard scalar_guard(PyObject *object);

  // ---------------------------------------------------------------- buffers and views (plan_views.cpp)

  void parse_buffers();
  void parse_layout(PyObject *object, Buffer &buffer);
  static std::vector<int> permutation(PyObject *object, size_t count);
  void parse_views();
  ChainStep chain_step(PyObject *object);
  void check_layouts();

  // ---------------------------------------------------------------- steps (plan_steps.cpp)

  void parse_steps();
  void use_buffer(int index, bool written);
  int use_view(PyObject *object, bool written);
  void parse_kernel(const Items &items, Step &step);
  StepOperand operand(PyObject *object, const KernelOperand &expected, size_t dims);
  KernelInt kernel_int(PyObject *object);
  void parse_scatter(const Items &items, Step &step);
  void parse_random(const Items &items, Step &step);
  void parse_host(const Items &items, Step &step);

  // ---------------------------------------------------------------- outputs and tape (plan.cpp)

  void parse_outputs();
  void parse_result();
  void parse_tape();
  Recipe::Saved saved_value(PyObject *object, Recipe &recipe);
  void parse_errors();
  void parse_warnings();

  PyObject *spec_;
  std::unique_ptr<Plan> plan_;
};

}  // namespace rushlight
