// Layout arithmetic for instances: chains of views and the layouts of outputs.
#include <algorithm>
#include <numeric>

#include "instance.h"

namespace rushlight {
namespace {

using Sizes = std::vector<int64_t>;

void permute(const std::vector<int> &dims, Layout &layout) {
  if (dims.size() != layout.sizes.size()) {
    fail(PyExc_RuntimeError, "plan: permute of %zu dims over sizes %s", dims.size(),
         text_of_sizes(layout.sizes).c_str());
  }
  Layout result;
  for (int dim : dims) {
    result.sizes.push_back(layout.sizes[dim]);
    result.strides.push_back(layout.strides[dim]);
  }
  result.offset = layout.offset;
  layout = std::move(result);
}

void expand(const Sizes &sizes, Layout &layout) {
  size_t rank = layout.sizes.size();
  bool possible = sizes.size() >= rank;
  Sizes strides(sizes.size(), 0);
  for (size_t d = 0; possible && d < rank; ++d) {
    size_t to = sizes.size() - rank + d;
    if (layout.sizes[d] == sizes[to]) strides[to] = layout.strides[d];
    else if (layout.sizes[d] != 1) possible = false;
  }
  for (int64_t size : sizes) possible &= size >= 0;
  if (!possible) {
    fail(PyExc_RuntimeError, "plan: sizes %s do not expand to %s", text_of_sizes(layout.sizes).c_str(),
         text_of_sizes(sizes).c_str());
  }
  layout.sizes = sizes;
  layout.strides = std::move(strides);
}

bool reshape(const Sizes &sizes, Layout &layout) {
  bool same = true, overflow = false, empty = false;
  int64_t count = 1;
  for (int64_t size : sizes) {
    same &= size >= 0;
    empty |= size == 0;
    overflow |= __builtin_mul_overflow(count, size, &count);
  }
  same &= (empty ? 0 : overflow ? -1 : count) == element_count(layout.sizes);
  if (!same) {
    fail(PyExc_RuntimeError, "plan: sizes %s cannot be reshaped to %s", text_of_sizes(layout.sizes).c_str(),
         text_of_sizes(sizes).c_str());
  }
  return layout_reshape(layout, sizes.data(), int(sizes.size()));
}

void slice(int dim, int64_t start, int64_t step, int64_t length, Layout &layout) {
  bool possible = dim < int(layout.sizes.size()) && step > 0 && length >= 0 && start >= 0;
  if (possible && length > 0) {
    __int128 last = static_cast<__int128>(length - 1) * step + start;
    possible = last < layout.sizes[dim];
  }
  if (!possible) {
    fail(PyExc_RuntimeError, "plan: no slice of dim %d from %lld by %lld with %lld items in sizes %s", dim,
         static_cast<long long>(start), static_cast<long long>(step), static_cast<long long>(length),
         text_of_sizes(layout.sizes).c_str());
  }
  if (length > 0) {
    layout.offset = wrapping_sum(layout.offset, wrapping_product(start, layout.strides[dim]));
  }
  layout.sizes[dim] = length;
  if (length > 1) layout.strides[dim] = wrapping_product(layout.strides[dim], step);  // else it is never used
}

// Windows of `taps` items, `spacing` apart, begin at every `step` items of a dim: it becomes two dims.
void window(int dim, int64_t length, int64_t step, int64_t taps, int64_t spacing, Layout &layout) {
  bool possible = dim < int(layout.sizes.size()) && step > 0 && spacing > 0 && length >= 0 && taps >= 0;
  if (possible && length > 0 && taps > 0) {
    __int128 last = static_cast<__int128>(length - 1) * step + static_cast<__int128>(taps - 1) * spacing;
    possible = last < layout.sizes[dim];
  }
  if (!possible) {
    fail(PyExc_RuntimeError, "plan: no %lld windows of %lld items of dim %d in sizes %s",
         static_cast<long long>(length), static_cast<long long>(taps), dim, text_of_sizes(layout.sizes).c_str());
  }
  int64_t stride = layout.strides[dim];
  layout.sizes[dim] = length;
  layout.sizes.insert(layout.sizes.begin() + dim + 1, taps);
  if (length > 1 && taps > 0) layout.strides[dim] = wrapping_product(stride, step);  // else it is never used
  const int64_t inner = taps > 1 && length > 0 ? wrapping_product(stride, spacing) : stride;
  layout.strides.insert(layout.strides.begin() + dim + 1, inner);
}

void flip(const std::vector<int> &dims, Layout &layout) {
  for (int dim : dims) {
    if (dim >= int(layout.sizes.size())) {
      fail(PyExc_RuntimeError, "plan: flip of dim %d in sizes %s", dim, text_of_sizes(layout.sizes).c_str());
    }
    if (layout.sizes[dim] > 0) {
      const int64_t last = wrapping_product(layout.sizes[dim] - 1, layout.strides[dim]);
      layout.offset = wrapping_sum(layout.offset, last);
    }
    layout.strides[dim] = wrapping_product(-1, layout.strides[dim]);
  }
}

// The operand's strides after broadcasting to `sizes`.
Sizes broadcast_strides(const Sizes &sizes, const Layout &operand) {
  Sizes strides(sizes.size(), 0);
  size_t lead = sizes.size() - operand.sizes.size();
  for (size_t d = 0; d < operand.sizes.size(); ++d) {
    bool broadcast = operand.sizes[d] == 1 && sizes[lead + d] != 1;
    strides[lead + d] = broadcast ? 0 : operand.strides[d];
  }
  return strides;
}

bool is_dense(const Layout &layout) {
  std::vector<size_t> dims;
  for (size_t d = 0; d < layout.sizes.size(); ++d) {
    if (layout.sizes[d] != 1) dims.push_back(d);
  }
  std::sort(dims.begin(), dims.end(), [&](size_t a, size_t b) { return layout.strides[a] < layout.strides[b]; });
  int64_t expected = 1;
  for (size_t d : dims) {
    if (layout.strides[d] != expected) return false;
    expected = wrapping_product(expected, layout.sizes[d]);
  }
  return true;
}

// 1: dim a lies outside dim b; -1: the other way round; 0: the operands do not say. The first operand that has both
// dims and tells them apart decides.
int compare_dims(const Sizes &sizes, const std::vector<Sizes> &operands, size_t a, size_t b) {
  for (const Sizes &strides : operands) {
    if (strides[a] == 0 || strides[b] == 0) continue;
    if (strides[a] != strides[b]) return strides[a] > strides[b] ? 1 : -1;
    if (sizes[a] > sizes[b]) return 1;
  }
  return 0;
}

// The dims in channels-last order, from outermost to innermost: batch, spatial dims, channels.
std::vector<int> channels_last_order(size_t ndim) {
  std::vector<int> order(ndim, 0);
  std::iota(order.begin() + 1, order.end() - 1, 2);
  order.back() = 1;
  return order;
}

}  // namespace

std::string text_of_sizes(const std::vector<int64_t> &sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + "]";
}

int64_t element_count(const std::vector<int64_t> &sizes) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
}

std::vector<int64_t> dense_strides(const std::vector<int64_t> &sizes, const std::vector<int> &order) {
  std::vector<int64_t> strides(sizes.size());
  uint64_t stride = 1;  // may wrap for an empty layout; sizes that matter are checked by meta_intern
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = int64_t(stride);
    stride *= uint64_t(std::max<int64_t>(sizes[order[i]], 1));
  }
  return strides;
}

std::vector<int64_t> contiguous_strides(const std::vector<int64_t> &sizes) {
  std::vector<int> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  return dense_strides(sizes, order);
}

bool is_contiguous(const Layout &layout) {
  if (element_count(layout.sizes) == 0) return true;
  int64_t expected = 1;
  for (size_t d = layout.sizes.size(); d-- > 0;) {
    if (layout.sizes[d] == 1) continue;
    if (layout.strides[d] != expected) return false;
    expected *= layout.sizes[d];
  }
  return true;
}

size_t apply_chain(const View &view, const std::vector<int64_t> &slots, size_t first, Layout &layout) {
  for (size_t i = first; i < view.chain.size(); ++i) {
    const ChainStep &step = view.chain[i];
    Sizes values;
    for (int slot : step.slots) values.push_back(slots[slot]);
    switch (step.kind) {
      case ChainStep::Permute: permute(step.dims, layout); break;
      case ChainStep::Expand: expand(values, layout); break;
      case ChainStep::Reshape:
        if (!reshape(values, layout)) return i;
        break;
      case ChainStep::Slice: slice(step.dims[0], values[0], values[1], values[2], layout); break;
      case ChainStep::Flip: flip(step.dims, layout); break;
      case ChainStep::Window: window(step.dims[0], values[0], values[1], values[2], values[3], layout); break;
      case ChainStep::Copy:  // also keeps the strides of dims of size 1, which may decide on orders of dims
        if (!is_dense(layout)) layout.strides = elementwise_strides(layout.sizes, {layout});
        break;
      case ChainStep::RowMajor: layout.strides = contiguous_strides(layout.sizes); break;
    }
  }
  return view.chain.size();
}

std::vector<int64_t> elementwise_strides(const std::vector<int64_t> &sizes, const std::vector<Layout> &operands) {
  bool same_shape = true, contiguous = true, alike = true;
  std::vector<Sizes> strides;
  for (const Layout &operand : operands) {
    same_shape &= operand.sizes == sizes;
    contiguous &= is_contiguous(operand);
    alike &= is_dense(operand) && operand.strides == operands[0].strides;
    strides.push_back(broadcast_strides(sizes, operand));
  }
  if (operands.empty() || (same_shape && contiguous)) return contiguous_strides(sizes);
  if (same_shape && alike) return operands[0].strides;
  // Insertion sort from the innermost dim outwards: comparisons may be ambiguous, so the method is part of the result.
  std::vector<int> inner_first(sizes.size());
  std::iota(inner_first.rbegin(), inner_first.rend(), 0);
  for (size_t i = 1; i < inner_first.size(); ++i) {
    size_t moving = i;
    for (size_t other = i; other-- > 0;) {
      int order = compare_dims(sizes, strides, size_t(inner_first[other]), size_t(inner_first[moving]));
      if (order < 0) break;
      if (order == 0) continue;
      std::swap(inner_first[other], inner_first[moving]);
      moving = other;
    }
  }
  return dense_strides(sizes, {inner_first.rbegin(), inner_first.rend()});
}

std::vector<int64_t> channels_strides(const std::vector<int64_t> &sizes, const std::vector<Layout> &operands) {
  bool last = false, possible = sizes.size() == 4 || sizes.size() == 5;
  for (const Layout &operand : operands) {
    last |= possible && operand.sizes.size() == sizes.size() &&
            suggests_channels_last(operand.sizes.data(), operand.strides.data(), int(sizes.size()));
  }
  if (!last) return contiguous_strides(sizes);
  return dense_strides(sizes, channels_last_order(sizes.size()));
}

}  // namespace rushlight
