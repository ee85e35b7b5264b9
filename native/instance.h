// What the files that build instances share: layouts.cpp, launch.cpp, instance.cpp.
#pragma once
#include "parse.h"
#include "plan.h"

namespace rushlight {

// Apply a view's chain from step `first` on; returns the step that would need a copy, or the chain's length.
size_t apply_chain(const View &view, const std::vector<int64_t> &slots, size_t first, Layout &layout);
// Strides of a dense layout whose dims lie in `order`, outermost first.
std::vector<int64_t> dense_strides(const std::vector<int64_t> &sizes, const std::vector<int> &order);
std::vector<int64_t> contiguous_strides(const std::vector<int64_t> &sizes);
bool is_contiguous(const Layout &layout);
int64_t element_count(const std::vector<int64_t> &sizes);  // of a layout whose tensor exists
std::string text_of_sizes(const std::vector<int64_t> &sizes);

// A view of a buffer for one instance: `layout.offset` counts from the buffer's first element.
struct Resolved {
  int buffer;
  DType dtype;
  Layout layout;
  Address address() const { return {buffer, wrapping_product(layout.offset, itemsize(dtype))}; }
};

// One operand over the domain: bytes (or steps of a coordinate) per dim.
struct DomainOperand {
  Address address;
  std::vector<int64_t> strides;
};
// Order and collapse the domain's loops and pick the variant. False if there is nothing to do.
bool build_kernel_launch(KernelObject *object, const std::vector<int64_t> &domain,
                         const std::vector<DomainOperand> &operands, KernelLaunch &launch);
// Memory that only this instance needs, used while one step runs: returns the number of a new buffer.
class Workspace {
 public:
  virtual int add_buffer(int64_t bytes) = 0;
  virtual void add_launch(Launch launch) = 0;

 protected:
  ~Workspace() = default;
};
// The launches of out = a @ b, copies of what BLAS does not take included.
void build_gemm(const Resolved &a, const Resolved &b, const Resolved &out, Workspace &workspace);
// The launches of a contraction over the last `inner` dims of a; see contraction.cpp.
void build_contraction(const Resolved &a, const Resolved &b, const Resolved &out, int inner, Workspace &workspace);
// The launches of a product whose results are added up on windows of a tensor; see spread.cpp.
void build_spread(const Resolved &a, const Resolved &b, const Resolved &whole, const Resolved &windows,
                  Workspace &workspace);
// The launch that writes source into out at indices; see scatter.cpp.
void build_scatter(const Resolved &out, const Resolved &source, const std::vector<Resolved> &indices,
                   const ScatterShape &shape, Workspace &workspace);
CopyLaunch copy_between(const Resolved &from, const Resolved &to);

}  // namespace rushlight
