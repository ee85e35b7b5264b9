// Steps of a plan: kernels, products, copies, random numbers, host functions.
#include <algorithm>

#include "plan_parser.h"

namespace rushlight {

void PlanParser::parse_steps() {
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

void PlanParser::use_buffer(int index, bool written) {
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

int PlanParser::use_view(PyObject *object, bool written) {
  int index = view(object, "a step's view");
  use_buffer(plan_->views[index].buffer, written);
  return index;
}

void PlanParser::parse_kernel(const Items &items, Step &step) {
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

StepOperand PlanParser::operand(PyObject *object, const KernelOperand &expected, size_t dims) {
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

KernelInt PlanParser::kernel_int(PyObject *object) {
  if (PyLong_Check(object)) return {slot(object, "a kernel's int"), -1, -1};
  Items items(object, "a kernel's int");
  items.require(3, "a kernel's stride");
  if (std::string(text_of(items[0], "a kernel's int")) != "stride") {
    fail(PyExc_ValueError, "Plan: unknown kernel int %R", object);
  }
  int index = use_view(items[1], false);
  return {-1, index, index_of(items[2], 0, kManyDims, "a kernel's stride")};
}

void PlanParser::parse_scatter(const Items &items, Step &step) {
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

void PlanParser::parse_random(const Items &items, Step &step) {
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

void PlanParser::parse_host(const Items &items, Step &step) {
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

}  // namespace rushlight
