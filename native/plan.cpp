// Plans: parsing what the planner hands over. Everything that does not depend on sizes is checked here; what does is
// checked when an instance is built.
#include "plan.h"

#include <algorithm>

#include "parse.h"
#include "tape.h"

namespace rushlight {
namespace {

constexpr int kManyDims = 64;

class PlanParser {
 public:
  explicit PlanParser(PyObject *spec) : spec_(spec), plan_(std::make_unique<Plan>()) {}

  std::unique_ptr<Plan> parse() {
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

 private:
  // ---------------------------------------------------------------- fields

  void check_names() {
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

  // ---------------------------------------------------------------- shape program

  static IntOperation operation(PyObject *object) {
    static const char *names[] = {"add", "sub", "mul", "floordiv", "mod", "max", "min",
                                  "eq",  "ne",  "lt",  "le",       "gt",  "ge"};
    std::string text = text_of(object, "an operation");
    for (int i = 0; i < 13; ++i) {
      if (text == names[i]) return IntOperation(i);
    }
    fail(PyExc_ValueError, "Plan: unknown operation %R", object);
  }
  IntExpression expression(PyObject *object, const char *what) {
    Items items(object, what);
    items.require(3, what);
    return {operation(items[0]), slot(items[1], what), slot(items[2], what)};
  }

  void parse_shape_program() {
    each("constants", [&](PyObject *item) { plan_->constants.push_back(int_of(item, "a constant")); });
    each("sources", [&](PyObject *item) { plan_->sources.push_back(source(item)); });
    each("program", [&](PyObject *item) { plan_->program.push_back(expression(item, "program")); });
    each("guards", [&](PyObject *item) { plan_->guards.push_back(expression(item, "guards")); });
    each("scalar_guards", [&](PyObject *item) { plan_->scalar_guards.push_back(scalar_guard(item)); });
  }
  IntSource source(PyObject *object) {
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
  int scalar_word(PyObject *object) {
    int index = index_of(object, 0, 1 << 20, "a scalar word");
    plan_->scalar_words = std::max(plan_->scalar_words, index + 1);
    return index;
  }
  ScalarGuard scalar_guard(PyObject *object) {
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

  // ---------------------------------------------------------------- buffers and views

  void parse_buffers() {
    each("buffers", [&](PyObject *item) {
      Items items(item, "buffers");
      items.require(3, "a buffer");
      Buffer buffer;
      if (!dtype_from_object(items[0], &buffer.dtype)) {
        fail(PyExc_TypeError, "Plan: %R is no dtype", items[0]);
      }
      buffer.sizes = slots(items[2], "a buffer's sizes");
      if (buffer.sizes.size() > kManyDims) fail(PyExc_ValueError, "Plan: a buffer of %zu dims", buffer.sizes.size());
      parse_layout(items[1], buffer);
      plan_->buffers.push_back(std::move(buffer));
    });
  }
  void parse_layout(PyObject *object, Buffer &buffer) {
    buffer.kind = Buffer::Contiguous;
    if (PyUnicode_Check(object)) {
      if (PyUnicode_CompareWithASCIIString(object, "contiguous") == 0) return;
      fail(PyExc_ValueError, "Plan: unknown layout %R", object);
    }
    Items items(object, "a layout");
    items.require(2, "a layout");
    std::string kind = text_of(items[0], "a layout");
    if (kind == "like") {
      buffer.kind = Buffer::Like;
      buffer.layout = indices_of(items[1], 0, 1 << 20, "a layout's views");
    } else if (kind == "order") {
      buffer.kind = Buffer::Order;
      buffer.layout = permutation(items[1], buffer.sizes.size());
    } else {
      fail(PyExc_ValueError, "Plan: unknown layout %R", items[0]);
    }
  }
  static std::vector<int> permutation(PyObject *object, size_t count) {
    std::vector<int> dims = indices_of(object, 0, int64_t(count), "dims");
    std::vector<bool> seen(count);
    for (int dim : dims) seen[dim] = true;
    if (dims.size() != count || std::find(seen.begin(), seen.end(), false) != seen.end()) {
      fail(PyExc_ValueError, "Plan: %R is no permutation of %zu dims", object, count);
    }
    return dims;
  }

  void parse_views() {
    each("views", [&](PyObject *item) {
      Items items(item, "views");
      items.require(2, "a view");
      View view;
      view.buffer = index_of(items[0], 0, all_buffers(), "a view's buffer");
      Items chain(items[1], "a view's chain");
      for (size_t i = 0; i < chain.size(); ++i) view.chain.push_back(chain_step(chain[i]));
      plan_->views.push_back(std::move(view));
    });
  }
  ChainStep chain_step(PyObject *object) {
    Items items(object, "a view's step");
    if (items.size() < 2) fail(PyExc_ValueError, "Plan: a view's step is too short: %R", object);
    std::string kind = text_of(items[0], "a view's step");
    ChainStep step;
    if (kind == "slice") {
      items.require(5, "a slice");
      step.kind = ChainStep::Slice;
      step.dims = {index_of(items[1], 0, kManyDims, "a slice's dim")};
      for (size_t i = 2; i < 5; ++i) step.slots.push_back(slot(items[i], "a slice"));
      return step;
    }
    if (kind == "window") {
      items.require(6, "a window");
      step.kind = ChainStep::Window;
      step.dims = {index_of(items[1], 0, kManyDims, "a window's dim")};
      for (size_t i = 2; i < 6; ++i) step.slots.push_back(slot(items[i], "a window"));
      return step;
    }
    items.require(2, "a view's step");
    if (kind == "permute") {
      step.kind = ChainStep::Permute;
      step.dims = permutation(items[1], Items(items[1], "permute").size());
    } else if (kind == "flip") {
      step.kind = ChainStep::Flip;
      step.dims = indices_of(items[1], 0, kManyDims, "flip");
    } else if (kind == "expand" || kind == "reshape") {
      step.kind = kind == "expand" ? ChainStep::Expand : ChainStep::Reshape;
      step.slots = slots(items[1], "a view's sizes");
      if (step.slots.size() > kManyDims) fail(PyExc_ValueError, "Plan: a view of %zu dims", step.slots.size());
    } else if (kind == "copy") {
      std::string order = text_of(items[1], "a copy's layout");
      if (order != "like" && order != "contiguous") fail(PyExc_ValueError, "Plan: unknown layout %R", items[1]);
      step.kind = order == "like" ? ChainStep::Copy : ChainStep::RowMajor;
    } else {
      fail(PyExc_ValueError, "Plan: unknown view step %R", items[0]);
    }
    return step;
  }

  // The operands of a "like" layout must be known before the buffer is.
  void check_layouts() {
    for (size_t b = 0; b < plan_->buffers.size(); ++b) {
      const Buffer &buffer = plan_->buffers[b];
      if (buffer.kind != Buffer::Like) continue;
      for (int view : buffer.layout) {
        if (view >= int(plan_->views.size()) || plan_->views[view].buffer >= plan_->inputs + int(b)) {
          fail(PyExc_ValueError, "Plan: the layout of buffer %zu refers to view %d, which is not known before it", b,
               view);
        }
      }
    }
  }

  // ---------------------------------------------------------------- steps

  void parse_steps() {
    each("steps", [&](PyObject *item) {
      Items items(item, "steps");
      if (!items.size()) fail(PyExc_ValueError, "Plan: an empty step");
      std::string kind = text_of(items[0], "a step's kind");
      plan_->steps.emplace_back();
      Step &step = plan_->steps.back();
      if (kind == "kernel") {
        parse_kernel(items, step);
      } else if (kind == "gemm") {
        items.require(4, "a gemm step");
        step.kind = Step::Gemm;
        for (size_t i = 1; i < 4; ++i) step.views.push_back(use_view(items[i], i == 3));
      } else if (kind == "contract") {
        items.require(5, "a contraction");
        step.kind = Step::Contract;
        for (size_t i = 1; i < 4; ++i) step.views.push_back(use_view(items[i], i == 3));
        step.inner = index_of(items[4], 1, kManyDims, "a contraction's number of inner dims");
      } else if (kind == "spread") {
        items.require(5, "a spread step");
        step.kind = Step::Spread;
        for (size_t i = 1; i < 5; ++i) step.views.push_back(use_view(items[i], i >= 3));
      } else if (kind == "scatter") {
        parse_scatter(items, step);
      } else if (kind == "copy") {
        items.require(3, "a copy step");
        step.kind = Step::Copy;
        for (size_t i = 1; i < 3; ++i) step.views.push_back(use_view(items[i], i == 2));
      } else if (kind == "random") {
        parse_random(items, step);
      } else if (kind == "host") {
        parse_host(items, step);
      } else {
        fail(PyExc_ValueError, "Plan: unknown step %R", items[0]);
      }
    });
  }

  void use_buffer(int index, bool written) {
    if (index < plan_->inputs) {
      bool declared = std::find(plan_->mutated.begin(), plan_->mutated.end(), index) != plan_->mutated.end();
      if (written && !declared) fail(PyExc_ValueError, "Plan: input %d is written but not in 'mutated'", index);
      return;
    }
    Buffer &buffer = plan_->buffers[index - plan_->inputs];
    int now = int(plan_->steps.size()) - 1;
    if (buffer.first_step < 0) buffer.first_step = now;
    buffer.last_step = now;
  }
  int use_view(PyObject *object, bool written) {
    int index = view(object, "a step's view");
    use_buffer(plan_->views[index].buffer, written);
    return index;
  }

  void parse_kernel(const Items &items, Step &step) {
    items.require(7, "a kernel step");
    step.kind = Step::RunKernel;
    if (!PyObject_TypeCheck(items[1], &KernelType)) fail(PyExc_TypeError, "Plan: %R is no Kernel", items[1]);
    const Kernel &kernel = *reinterpret_cast<KernelObject *>(items[1])->kernel;
    step.object = Py_NewRef(items[1]);
    step.domain = slots(items[2], "a kernel's domain");
    int parallel = index_of(items[3], 0, kManyDims + 1, "the number of parallel dims");
    if (parallel != kernel.parallel || int(step.domain.size()) != kernel.parallel + kernel.reduced) {
      fail(PyExc_ValueError, "Plan: a kernel over %d + %d dims is given %d of %zu", kernel.parallel, kernel.reduced,
           parallel, step.domain.size());
    }
    Items operands(items[4], "a kernel's operands");
    operands.require(kernel.operands.size(), "a kernel's list of operands");
    for (size_t i = 0; i < operands.size(); ++i) {
      step.operands.push_back(operand(operands[i], kernel.operands[i], step.domain.size()));
    }
    Items scalars(items[5], "a kernel's scalars");
    scalars.require(size_t(kernel.scalars), "a kernel's list of scalars");
    for (size_t i = 0; i < scalars.size(); ++i) step.scalars.push_back(scalar_word(scalars[i]));
    Items ints(items[6], "a kernel's ints");
    ints.require(size_t(kernel.ints), "a kernel's list of ints");
    for (size_t i = 0; i < ints.size(); ++i) step.ints.push_back(kernel_int(ints[i]));
  }

  StepOperand operand(PyObject *object, const KernelOperand &expected, size_t dims) {
    Items items(object, "an operand");
    items.require(2, "an operand");
    StepOperand operand;
    if (PyUnicode_Check(items[0])) {
      int dim = index_of(items[1], 0, int64_t(dims), "a coordinate's dim");
      bool coordinate = std::string(text_of(items[0], "an operand")) == "coordinate";
      if (!coordinate || expected.role != KernelOperand::Coordinate) {
        fail(PyExc_ValueError, "Plan: the kernel does not take the operand %R there", object);
      }
      operand.view = -1;
      operand.map.assign(dims, -1);
      operand.map[dim] = 0;
      return operand;
    }
    if (expected.role == KernelOperand::Coordinate) fail(PyExc_ValueError, "Plan: %R is no coordinate", object);
    operand.view = use_view(items[0], expected.role == KernelOperand::Write);
    operand.map = indices_of(items[1], -1, kManyDims, "an operand's dim map");
    if (operand.map.size() != dims) fail(PyExc_ValueError, "Plan: a dim map of %zu dims", operand.map.size());
    std::vector<bool> seen(kManyDims);
    for (int dim : operand.map) {
      if (dim >= 0 && seen[dim]) fail(PyExc_ValueError, "Plan: a dim map uses dim %d twice", dim);
      if (dim >= 0) seen[dim] = true;
    }
    return operand;
  }

  KernelInt kernel_int(PyObject *object) {
    if (PyLong_Check(object)) return {slot(object, "a kernel's int"), -1, -1};
    Items items(object, "a kernel's int");
    items.require(3, "a kernel's stride");
    if (std::string(text_of(items[0], "a kernel's int")) != "stride") {
      fail(PyExc_ValueError, "Plan: unknown kernel int %R", object);
    }
    int index = use_view(items[1], false);
    return {-1, index, index_of(items[2], 0, kManyDims, "a kernel's stride")};
  }

  void parse_scatter(const Items &items, Step &step) {
    items.require(8, "a scatter step");
    step.kind = Step::Scatter;
    step.views = {use_view(items[1], true), use_view(items[2], false)};
    Items indices(items[3], "a scatter step's indices");
    for (size_t i = 0; i < indices.size(); ++i) step.views.push_back(use_view(indices[i], false));
    step.scatter.dims = indices_of(items[4], 0, kManyDims, "a scatter step's dims");
    step.scatter.walks = indices_of(items[5], -1, kManyDims, "a scatter step's walks");
    step.scatter.add = index_of(items[6], 0, 2, "whether a scatter step adds") != 0;
    step.scatter.wrap = index_of(items[7], 0, 2, "whether a scatter step's indices wrap") != 0;
  }

  void parse_random(const Items &items, Step &step) {
    items.require(4, "a random step");
    step.kind = Step::Random;
    step.buffer = index_of(items[1], plan_->inputs, all_buffers(), "a random step's buffer");
    step.bits = int(int_of(items[2], "bits"));
    const Buffer &buffer = plan_->buffers[step.buffer - plan_->inputs];
    if ((step.bits != 32 && step.bits != 64) || itemsize(buffer.dtype) * 8 != step.bits) {
      fail(PyExc_ValueError, "Plan: %d random bits in items of %lld bytes", step.bits,
           static_cast<long long>(itemsize(buffer.dtype)));
    }
    if (items[3] != Py_None && !PyObject_TypeCheck(items[3], &GeneratorType)) {
      fail(PyExc_TypeError, "Plan: %R is no generator", items[3]);
    }
    step.object = Py_NewRef(items[3]);
    use_buffer(step.buffer, true);
  }

  void parse_host(const Items &items, Step &step) {
    items.require(3, "a host step");
    step.kind = Step::Host;
    if (!PyCallable_Check(items[1])) fail(PyExc_TypeError, "Plan: the host function %R is not callable", items[1]);
    step.object = Py_NewRef(items[1]);
    Items views(items[2], "a host step's views");
    for (size_t i = 0; i < views.size(); ++i) {
      step.views.push_back(use_view(views[i], false));
      int buffer = plan_->views[step.views.back()].buffer;
      if (buffer >= plan_->inputs) plan_->buffers[buffer - plan_->inputs].storage = true;
    }
  }

  // ---------------------------------------------------------------- outputs and tape

  void parse_outputs() {
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

  void parse_result() {
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

  void parse_tape() {
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
  Recipe::Saved saved_value(PyObject *object, Recipe &recipe) {
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

  void parse_errors() {
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

  void parse_warnings() {
    PyObject *warnings = field("warnings");
    if (!warnings) return;
    Items items(warnings, "warnings");
    for (size_t i = 0; i < items.size(); ++i) {
      if (!PyUnicode_Check(items[i])) fail(PyExc_TypeError, "Plan: a warning must be a string, not %R", items[i]);
      plan_->warnings.push_back(Py_NewRef(items[i]));
    }
  }

  PyObject *spec_;
  std::unique_ptr<Plan> plan_;
};

}  // namespace

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
