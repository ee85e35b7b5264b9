// From a nest's domain to loops: order, collapse, choose the vector loop and the variant.
#include <algorithm>
#include <cstdlib>

#include "instance.h"
#include "services.h"

namespace rushlight {
namespace {

constexpr int64_t kShortRow = 8;      // reduced loops this short waste most lanes of a vector
constexpr int64_t kVector = 16;
constexpr size_t kScratchSlack = 1024;  // the last vector may reach beyond the last element

// One loop of the domain; a stride per operand.
struct Loop {
  int64_t size;
  std::vector<int64_t> strides;
};
using Loops = std::vector<Loop>;

class LaunchBuilder {
 public:
  LaunchBuilder(KernelObject *object, const std::vector<DomainOperand> &operands, KernelLaunch &launch)
      : object_(object), kernel_(*object->kernel), operands_(operands), launch_(launch) {}

  bool build(const std::vector<int64_t> &domain) {
    size_t parallel_dims = size_t(kernel_.parallel);
    for (size_t d = 0; d < domain.size(); ++d) {
      if (domain[d] == 0 && d < parallel_dims) return false;
      if (domain[d] != 1) (d < parallel_dims ? parallel_ : reduced_).push_back(loop(domain[d], d));
    }
    sort_priority();
    arrange(parallel_, true);
    if (kernel_.reduced) arrange_reduced();
    choose_vector();
    choose_turned();
    give_single_loop_strides();
    fill_launch();
    load_code();
    return true;
  }

 private:
  size_t count() const { return operands_.size(); }

  Loop loop(int64_t size, size_t dim) const {
    Loop result{size, {}};
    for (const DomainOperand &operand : operands_) result.strides.push_back(operand.strides[dim]);
    return result;
  }

  // The operands that decide on the order of loops: what is written, then what is read.
  void sort_priority() {
    for (auto role : {KernelOperand::Write, KernelOperand::Read}) {
      for (size_t i = 0; i < count(); ++i) {
        if (kernel_.operands[i].role == role) priority_.push_back(i);
      }
    }
  }
  // Should loop a lie outside loop b? 1 yes, -1 no, 0 undecided.
  int compare(const Loop &a, const Loop &b) const {
    for (size_t operand : priority_) {
      int64_t x = std::abs(a.strides[operand]), y = std::abs(b.strides[operand]);
      if (x && y && x != y) return x > y ? 1 : -1;
    }
    return 0;
  }

  void arrange(Loops &loops, bool reorder) const {
    if (reorder) {
      for (size_t i = 1; i < loops.size(); ++i) {
        for (size_t j = i; j > 0 && compare(loops[j], loops[j - 1]) > 0; --j) std::swap(loops[j], loops[j - 1]);
      }
    }
    Loops merged;
    for (Loop &loop : loops) {
      if (!merged.empty() && mergeable(merged.back(), loop)) {
        merged.back() = {merged.back().size * loop.size, std::move(loop.strides)};
      } else {
        merged.push_back(std::move(loop));
      }
    }
    loops = std::move(merged);
  }
  bool mergeable(const Loop &outer, const Loop &inner) const {
    for (size_t i = 0; i < count(); ++i) {
      if (outer.strides[i] != inner.strides[i] * inner.size) return false;
    }
    return true;
  }

  // At least one reduced loop is left; an empty one swallows the others.
  void arrange_reduced() {
    bool empty = std::any_of(reduced_.begin(), reduced_.end(), [](const Loop &loop) { return loop.size == 0; });
    if (empty || reduced_.empty()) reduced_.assign(1, {empty ? 0 : 1, std::vector<int64_t>(count(), 0)});
    else arrange(reduced_, !kernel_.ordered);
  }

  // How many of the operands that vary over the whole domain lie contiguously along this loop.
  int contiguous_operands(const Loop &loop, KernelOperand::Role role) const {
    int result = 0;
    for (size_t i = 0; i < count(); ++i) {
      const KernelOperand &operand = kernel_.operands[i];
      if (operand.role != role || !operand.along_parallel || !operand.along_reduced) continue;
      result += loop.strides[i] == operand.itemsize;
    }
    return result;
  }
  void choose_vector() {
    vector_ = 'P';
    if (!kernel_.reduced) return;
    if (parallel_.empty()) {
      vector_ = 'R';
      return;
    }
    const Loop &row = reduced_.back(), &column = parallel_.back();
    int along_row = contiguous_operands(row, KernelOperand::Read);
    int along_column = contiguous_operands(column, KernelOperand::Read);
    if (along_row == along_column) {
      along_row += contiguous_operands(row, KernelOperand::Write);
      along_column += contiguous_operands(column, KernelOperand::Write);
    }
    bool short_rows = row.size < kShortRow && column.size >= kVector;
    vector_ = along_row >= along_column && !short_rows ? 'R' : 'P';
  }

  // Operands that lie contiguous along another loop than the vector loop, as in x.t() + y, are read in tiles that are
  // turned: that loop becomes the last but one.
  void choose_turned() {
    if (kernel_.reduced || parallel_.size() < 2 || parallel_.back().size < kVector) return;
    for (size_t i = 0; i < count(); ++i) {
      const KernelOperand &operand = kernel_.operands[i];
      int64_t stride = parallel_.back().strides[i], last = int64_t(parallel_.size()) - 2;
      if (operand.role != KernelOperand::Read || stride == 0 || stride == operand.itemsize) continue;
      auto along = [&](const Loop &loop) { return loop.size >= kVector && loop.strides[i] == operand.itemsize; };
      if (turned_.empty()) {
        auto found = std::find_if(parallel_.begin(), parallel_.end() - 1, along);
        if (found == parallel_.end() - 1) continue;
        std::rotate(found, found + 1, parallel_.end() - 1);
      }
      if (along(parallel_[size_t(last)])) turned_.push_back({i, operand.itemsize});
    }
  }
  bool is_turned(size_t operand) const {
    return std::any_of(turned_.begin(), turned_.end(), [&](auto &each) { return each.operand == operand; });
  }

  // A vector loop of one step has no strides of its own: give it those that share the code of the usual variant.
  void give_single_loop_strides() {
    if (vector_ == 'P' && parallel_.empty()) parallel_.push_back({1, std::vector<int64_t>(count(), 0)});
    Loop &loop = vector_ == 'P' ? parallel_.back() : reduced_.back();
    if (loop.size > 1) return;
    for (size_t i = 0; i < count(); ++i) {
      const KernelOperand &operand = kernel_.operands[i];
      bool varies = vector_ == 'P' ? operand.along_parallel : operand.along_reduced;
      if (operand.role != KernelOperand::Base) loop.strides[i] = varies ? operand.itemsize : 0;
    }
  }

  void fill_launch() {
    size_t outer = parallel_.size() > 2 ? parallel_.size() - 2 : 0;
    std::vector<const Loop *> inner;
    Loop missing{1, std::vector<int64_t>(count(), 0)};
    for (size_t i = parallel_.size(); i < 2; ++i) inner.push_back(&missing);
    for (size_t i = outer; i < parallel_.size(); ++i) inner.push_back(&parallel_[i]);
    for (const Loop &loop : reduced_) inner.push_back(&loop);
    for (const Loop *loop : inner) launch_.sizes.push_back(loop->size);
    for (size_t i = 0; i < outer; ++i) launch_.outer_sizes.push_back(parallel_[i].size);
    for (size_t i = 0; i < count(); ++i) {
      launch_.operands.push_back(operands_[i].address);
      for (const Loop *loop : inner) launch_.strides.push_back(loop->strides[i]);
      for (size_t o = 0; o < outer; ++o) launch_.outer_strides.push_back(parallel_[o].strides[i]);
    }
    launch_.vector = vector_;
    if (!turned_.empty()) fill_tile();
    launch_.rows = launch_.sizes[0];
    for (int64_t size : launch_.outer_sizes) launch_.rows *= size;
    launch_.work = kernel_.cost * double(launch_.rows) * double(launch_.sizes[1]);
    for (const Loop &loop : reduced_) launch_.work *= double(std::max<int64_t>(loop.size, 1));
  }

  void fill_tile() {
    launch_.turned = turned_;
    launch_.tile_strides = launch_.strides;
    for (const TurnedOperand &each : turned_) {
      int64_t *strides = &launch_.tile_strides[each.operand * 2];  // no reduced loops: P1 and P0
      strides[0] = kTileColumns * each.itemsize, strides[1] = each.itemsize;
      launch_.scratch += size_t(kTileRows * kTileColumns * each.itemsize);
    }
  }

  std::string classes() const {
    const Loop &loop = vector_ == 'P' ? parallel_.back() : reduced_.back();
    std::string letters;
    for (size_t i = 0; i < count(); ++i) {
      int64_t stride = loop.strides[i];
      letters += stride == 0 ? 'B' : stride == kernel_.operands[i].itemsize || is_turned(i) ? 'C' : 'S';
    }
    return letters;
  }
  void load_code() {
    int loops = int(reduced_.size());
    const KernelVariant &variant = kernel_variant(object_, vector_, classes(), loops, "");
    launch_.code = variant.code.share();
    int64_t bytes = variant.scratch;
    for (const Loop &loop : reduced_) {
      if (__builtin_mul_overflow(bytes, loop.size, &bytes)) fail(PyExc_MemoryError, "a reduction is too large");
    }
    if (variant.scratch) launch_.scratch = size_t(bytes) + kScratchSlack;
    int threads = std::max(thread_count(), default_thread_count());  // set_num_threads may be called later
    int64_t units = parallel_units(launch_);
    bool worth_splitting = threads > 1 && units < 2 * threads && launch_.work > 2 * kParallelWork * double(units);
    if (kernel_.splittable && worth_splitting && launch_.outer_sizes.empty()) load_split(loops);
  }

  void load_split(int loops) {
    SplitReduction split;
    auto first = launch_.sizes.begin() + 2;
    split.loop = size_t(std::max_element(first, launch_.sizes.end()) - launch_.sizes.begin());
    std::string letters = classes();
    for (size_t i = 0; i < count(); ++i) {
      if (kernel_.operands[i].role != KernelOperand::Write) continue;
      split.written.push_back(i);
      letters[i] = vector_ == 'P' ? 'S' : 'B';  // accumulators lie in slots, not as the results do
    }
    split.partial = kernel_variant(object_, vector_, letters, loops, "partial").code.share();
    split.finish = kernel_variant(object_, vector_, std::string(count(), 'S'), 1, "finish").code.share();
    launch_.split = std::move(split);
  }

  KernelObject *object_;
  const Kernel &kernel_;
  const std::vector<DomainOperand> &operands_;
  KernelLaunch &launch_;
  Loops parallel_, reduced_;
  std::vector<size_t> priority_;
  std::vector<TurnedOperand> turned_;
  char vector_ = 'P';
};

}  // namespace

bool build_kernel_launch(KernelObject *object, const std::vector<int64_t> &domain,
                         const std::vector<DomainOperand> &operands, KernelLaunch &launch) {
  return LaunchBuilder(object, operands, launch).build(domain);
}

}  // namespace rushlight
