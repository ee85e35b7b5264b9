// Buffers of a plan, and the views through which its steps see them.
#include <algorithm>

#include "plan_parser.h"

namespace rushlight {

void PlanParser::parse_buffers() {
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

void PlanParser::parse_layout(PyObject *object, Buffer &buffer) {
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
  } else if (kind == "channels") {
    buffer.kind = Buffer::Channels;
    buffer.layout = indices_of(items[1], 0, 1 << 20, "a layout's views");
  } else if (kind == "order") {
    buffer.kind = Buffer::Order;
    buffer.layout = permutation(items[1], buffer.sizes.size());
  } else {
    fail(PyExc_ValueError, "Plan: unknown layout %R", items[0]);
  }
}

std::vector<int> PlanParser::permutation(PyObject *object, size_t count) {
  std::vector<int> dims = indices_of(object, 0, int64_t(count), "dims");
  std::vector<bool> seen(count);
  for (int dim : dims) seen[dim] = true;
  if (dims.size() != count || std::find(seen.begin(), seen.end(), false) != seen.end()) {
    fail(PyExc_ValueError, "Plan: %R is no permutation of %zu dims", object, count);
  }
  return dims;
}

void PlanParser::parse_views() {
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

ChainStep PlanParser::chain_step(PyObject *object) {
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

// The operands of a layout must be known before the buffer is.
void PlanParser::check_layouts() {
  for (size_t b = 0; b < plan_->buffers.size(); ++b) {
    const Buffer &buffer = plan_->buffers[b];
    if (buffer.kind != Buffer::Like && buffer.kind != Buffer::Channels) continue;
    for (int view : buffer.layout) {
      if (view >= int(plan_->views.size()) || plan_->views[view].buffer >= plan_->inputs + int(b)) {
        fail(PyExc_ValueError, "Plan: the layout of buffer %zu refers to view %d, which is not known before it", b,
             view);
      }
    }
  }
}

}  // namespace rushlight
