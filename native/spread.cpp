// Contractions whose results fall on overlapping windows, which is what transposed convolutions are:
//   whole = 0, then
//   windows[g, i, taps..., n, positions...] += sum over o of a[g, i, taps..., o] * b[g, o, n, positions...]
// where `windows` is a view of `whole`. A unit of work is a range of i and of n: no other unit writes its part of
// `whole`. Its products are computed piece by piece of the positions in scratch memory, and added from there.
#include "contraction.h"

#include <cstring>
#include <type_traits>

namespace rushlight {
namespace {

using namespace contraction;

constexpr int64_t kRows = 1024;       // products of channels and taps per unit
constexpr int64_t kColumns = 1024;    // columns per piece

// ---------------------------------------------------------------- adding

typedef float FloatLanes __attribute__((vector_size(16)));
typedef double DoubleLanes __attribute__((vector_size(16)));

template <typename T> inline void add_row(char *to, const char *from, int64_t count, int64_t stride) {
  auto add = [](char *place, const char *value) {
    T a, b;
    std::memcpy(&a, place, sizeof a);
    std::memcpy(&b, value, sizeof b);
    a += b;
    std::memcpy(place, &a, sizeof a);
  };
  constexpr int64_t item = sizeof(T);
  if (stride == item) {
    constexpr int64_t lanes = 16 / item;
    using Lanes = std::conditional_t<sizeof(T) == 4, FloatLanes, DoubleLanes>;
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      Lanes a, b;
      std::memcpy(&a, to + i * item, sizeof a);
      std::memcpy(&b, from + i * item, sizeof b);
      a += b;
      std::memcpy(to + i * item, &a, sizeof a);
    }
    for (; i < count; ++i) add(to + i * item, from + i * item);
  } else {
    for (int64_t i = 0; i < count; ++i) add(to + i * stride, from + i * item);
  }
}

struct Extent {
  int64_t size, to, from;  // bytes
};
// Adds a contiguous innermost dim of `from` into `to`; `parts` real numbers are one element.
template <typename T> void add_dims(const Extent *dims, size_t count, char *to, const char *from, int64_t parts) {
  if (count > 2) {
    for (int64_t i = 0; i < dims[0].size; ++i) {
      add_dims<T>(dims + 1, count - 1, to + i * dims[0].to, from + i * dims[0].from, parts);
    }
    return;
  }
  constexpr int64_t item = sizeof(T);
  const Extent &row = dims[count - 1], outer = count == 2 ? dims[0] : Extent{1, 0, 0};
  bool together = parts == 1 || row.to == parts * item;
  for (int64_t i = 0; i < outer.size; ++i, to += outer.to, from += outer.from) {
    if (together) {
      add_row<T>(to, from, row.size * parts, parts == 1 ? row.to : item);
    } else {
      for (int64_t j = 0; j < row.size; ++j) add_row<T>(to + j * row.to, from + j * row.from, parts, item);
    }
  }
}

void clear(const std::vector<SpreadLaunch::Plane> &plane, size_t dim, char *to, int64_t item) {
  if (dim == plane.size()) {
    std::memset(to, 0, size_t(item));
  } else if (dim + 1 == plane.size() && plane[dim].stride == item) {
    std::memset(to, 0, size_t(plane[dim].size * item));
  } else {
    for (int64_t i = 0; i < plane[dim].size; ++i) clear(plane, dim + 1, to + i * plane[dim].stride, item);
  }
}

// ---------------------------------------------------------------- running

class SpreadRun {
 public:
  SpreadRun(const SpreadLaunch &launch, char *const *bases)
      : launch_(launch), item_(itemsize(launch.dtype)), a_(address_in(bases, launch.a)),
        b_(address_in(bases, launch.b)), whole_(address_in(bases, launch.whole)),
        windows_(address_in(bases, launch.windows)),
        channel_parts_(divide_up(launch.channels, launch.channel_step)),
        image_parts_(divide_up(launch.columns[0].size, launch.image_step)) {}

  int64_t units() const { return launch_.groups * image_parts_ * channel_parts_; }

  int64_t unit(int64_t index) const {
    int64_t channel = index % channel_parts_ * launch_.channel_step;
    int64_t image = index / channel_parts_ % image_parts_ * launch_.image_step;
    int64_t group = index / channel_parts_ / image_parts_;
    int64_t channels = std::min(launch_.channel_step, launch_.channels - channel);
    std::vector<Dim> columns = launch_.columns;
    columns[0].size = std::min(launch_.image_step, columns[0].size - image);
    char *whole = whole_ + group * launch_.whole_group + channel * launch_.whole_channel + image * launch_.whole_image;
    for (int64_t i = 0; i < channels; ++i) {
      for (int64_t n = 0; n < columns[0].size; ++n) {
        clear(launch_.plane, 0, whole + i * launch_.whole_channel + n * launch_.whole_image, item_);
      }
    }
    if (launch_.inner == 0) return 0;
    int64_t rows = channels * launch_.taps, limit = launch_.split.step * extent(columns, launch_.split.dim + 1);
    int64_t b_bytes = launch_.pack_b ? rounded(std::min(launch_.inner, kInnerPiece) * limit * item_) : 0;
    char *packed = thread_scratch(size_t(b_bytes + rows * limit * item_));
    if (!packed) return kOutOfMemory;
    const char *a = a_ + group * launch_.a_group + channel * launch_.taps * launch_.a_row;
    const char *b = b_ + group * launch_.b_group + image * launch_.columns[0].left;
    char *windows = windows_ + (whole - whole_);
    int64_t pieces = pieces_of(columns, launch_.split);
    for (int64_t p = 0; p < pieces; ++p) {
      Piece piece = piece_of(columns, launch_.split, p);
      multiply(a, b + piece.left, rows, piece, columns, packed, packed + b_bytes);
      add(channels, piece, columns, windows + piece.right, packed + b_bytes);
    }
    return 0;
  }

 private:

  void multiply(const char *a, const char *b, int64_t rows, const Piece &piece, const std::vector<Dim> &columns,
                char *packed, char *c) const {
    for (int64_t o = 0; o < launch_.inner; o += kInnerPiece) {
      int64_t inner = std::min(kInnerPiece, launch_.inner - o), ldb = launch_.b_inner / item_;
      const char *right = b + o * launch_.b_inner;
      if (launch_.pack_b) {
        PieceCopy copy;
        copy.add(inner, piece.positions * item_, launch_.b_inner);
        copy.add_piece(columns, launch_.split, piece.count, item_, &Dim::left);
        copy.run(item_, packed, right);
        right = packed, ldb = piece.positions;
      }
      int64_t lda = (launch_.a_turned ? launch_.a_inner : launch_.a_row) / item_;
      gemm_add(launch_.dtype, launch_.a_turned, false, rows, piece.positions, inner, a + o * launch_.a_inner, lda,
               right, ldb, o > 0, c, piece.positions);
    }
  }

  void add(int64_t channels, const Piece &piece, const std::vector<Dim> &columns, char *windows, const char *c) const {
    SmallVector<Extent, 16> dims;
    int64_t row = piece.positions * item_;
    dims.push_back({channels, launch_.whole_channel, row * launch_.taps});
    int64_t inside = launch_.taps;
    for (const SpreadLaunch::Plane &tap : launch_.tap_dims) {
      inside /= tap.size;
      dims.push_back({tap.size, tap.stride, row * inside});
    }
    for (size_t d = launch_.split.dim; d < columns.size(); ++d) {
      int64_t size = d == launch_.split.dim ? piece.count : columns[d].size;
      dims.push_back({size, columns[d].right, item_ * extent(columns, d + 1)});
    }
    bool wide = real_of(launch_.dtype) == DType::Float64;
    auto function = wide ? add_dims<double> : add_dims<float>;
    function(dims.data(), dims.size(), windows, c, item_ / (wide ? 8 : 4));
  }

  const SpreadLaunch &launch_;
  int64_t item_;
  const char *a_, *b_;
  char *whole_, *windows_;
  int64_t channel_parts_, image_parts_;
};

// ---------------------------------------------------------------- building

void check_sizes(const Resolved &a, const Resolved &b, const Resolved &whole, const Resolved &windows, size_t rank) {
  const auto &x = a.layout.sizes, &y = b.layout.sizes, &w = whole.layout.sizes, &z = windows.layout.sizes;
  bool fits = x.size() == 3 + rank && y.size() == 3 + rank && w.size() == 3 + rank && z.size() == 3 + 2 * rank &&
              x[0] == y[0] && x[0] == w[0] && x[0] == z[0] && x[1] == w[1] && x[1] == z[1] && x.back() == y[1] &&
              y[2] == w[2] && y[2] == z[2 + rank] && std::equal(x.begin() + 2, x.end() - 1, z.begin() + 2) &&
              std::equal(y.begin() + 3, y.end(), z.begin() + 3 + int64_t(rank));
  if (!fits) {
    fail(PyExc_RuntimeError, "plan: a product of sizes %s and %s over %zu dims cannot be spread over sizes %s and %s",
         text_of_sizes(x).c_str(), text_of_sizes(y).c_str(), rank, text_of_sizes(w).c_str(), text_of_sizes(z).c_str());
  }
  bool known = a.dtype == DType::Float32 || a.dtype == DType::Float64 || a.dtype == DType::Complex64 ||
               a.dtype == DType::Complex128;
  bool alike = a.dtype == b.dtype && a.dtype == whole.dtype && a.dtype == windows.dtype && known;
  const auto &outer = whole.layout.strides, &strides = windows.layout.strides;
  bool inside = whole.buffer == windows.buffer && outer[0] == strides[0] && outer[1] == strides[1] &&
                outer[2] == strides[2 + rank];
  if (!alike || !inside) fail(PyExc_RuntimeError, "plan: operands of different dtypes, or windows of another tensor");
}

// The left factor with its channels and taps as one dim: a copy if it does not lie so.
Resolved with_rows(const Resolved &a, Workspace &workspace) {
  const auto &sizes = a.layout.sizes, &strides = a.layout.strides;
  bool one = true;
  for (size_t d = 1; d + 2 < sizes.size(); ++d) one = one && strides[d] == strides[d + 1] * sizes[d + 1];
  int64_t item = itemsize(a.dtype), rows = 1;
  for (size_t d = 1; d + 1 < sizes.size(); ++d) rows *= sizes[d];
  int64_t row = strides[sizes.size() - 2] * item;
  if (one && reading_of(rows, sizes.back(), row, strides.back() * item, item) != Reading::None) return a;
  Resolved copy{workspace.add_buffer(element_count(sizes) * item), a.dtype, a.layout};
  copy.layout.offset = 0;
  copy.layout.strides = contiguous_strides(sizes);
  workspace.add_launch(copy_between(a, copy));
  return copy;
}

void choose_pieces(SpreadLaunch &launch) {
  int64_t item = itemsize(launch.dtype);
  launch.channel_step = std::clamp<int64_t>(kRows / launch.taps, 1, launch.channels);
  int64_t rows = launch.channel_step * launch.taps;
  int64_t target = std::clamp<int64_t>(kPackedBytes / (rows * item), kFewColumns, kColumns);
  launch.split = split_of(launch.columns, target);
  launch.image_step = launch.split.dim == 0 ? launch.split.step : 1;
  int64_t parts = launch.groups * divide_up(launch.columns[0].size, launch.image_step);
  int64_t wanted = divide_up(launch.channels, divide_up(kPieces, parts));
  launch.channel_step = std::min(launch.channel_step, wanted);
  size_t first = launch.split.dim + (launch.split.step == 1 ? 1 : 0);
  bool single = first == launch.columns.size();
  int64_t step = single ? item : launch.columns.back().left, columns = single ? 1 : extent(launch.columns, first);
  launch.pack_b = !is_one(launch.columns, first, &Dim::left) ||
                  reading_of(launch.inner, columns, launch.b_inner, step, item) != Reading::Rows;
}

// Windows of one element each that together are the whole: nothing overlaps.
bool are_the_whole(const Resolved &whole, const Resolved &windows, size_t rank) {
  for (size_t d = 0; d < rank; ++d) {
    size_t position = 3 + rank + d;
    if (windows.layout.sizes[2 + d] != 1 || windows.layout.sizes[position] != whole.layout.sizes[3 + d] ||
        windows.layout.strides[position] != whole.layout.strides[3 + d]) {
      return false;
    }
  }
  return true;
}

}  // namespace

void build_spread(const Resolved &left, const Resolved &b, const Resolved &whole, const Resolved &windows,
                  Workspace &workspace) {
  size_t rank = whole.layout.sizes.size() - std::min<size_t>(whole.layout.sizes.size(), 3);
  check_sizes(left, b, whole, windows, rank);
  if (element_count(whole.layout.sizes) == 0) return;
  if (are_the_whole(whole, windows, rank) && rank > 0) {
    Resolved a = left;
    for (auto *each : {&a.layout.sizes, &a.layout.strides}) each->erase(each->begin() + 2, each->end() - 1);
    return build_contraction(a, b, whole, 1, workspace);
  }
  if (gemm_load() < 0) throw Failure();
  Resolved a = with_rows(left, workspace);
  int64_t item = itemsize(a.dtype);
  auto bytes = [item](const Resolved &x, size_t dim) { return x.layout.strides[dim] * item; };
  SpreadLaunch launch{a.dtype, a.address(), b.address(), whole.address(), windows.address()};
  launch.groups = a.layout.sizes[0], launch.channels = a.layout.sizes[1], launch.inner = a.layout.sizes.back();
  launch.a_group = bytes(a, 0), launch.a_row = bytes(a, rank + 1), launch.a_inner = bytes(a, rank + 2);
  launch.b_group = bytes(b, 0), launch.b_inner = bytes(b, 1);
  launch.whole_group = bytes(whole, 0), launch.whole_channel = bytes(whole, 1), launch.whole_image = bytes(whole, 2);
  std::vector<Dim> positions;
  for (size_t d = 0; d < rank; ++d) {
    launch.taps *= a.layout.sizes[2 + d];
    launch.tap_dims.push_back({a.layout.sizes[2 + d], bytes(windows, 2 + d)});
    positions.push_back({b.layout.sizes[3 + d], bytes(b, 3 + d), bytes(windows, 3 + rank + d)});
  }
  for (size_t d = 3; d < 3 + rank; ++d) {
    bool continues = !launch.plane.empty() && launch.plane.back().stride == bytes(whole, d) * whole.layout.sizes[d];
    if (continues) launch.plane.back() = {launch.plane.back().size * whole.layout.sizes[d], bytes(whole, d)};
    else launch.plane.push_back({whole.layout.sizes[d], bytes(whole, d)});
  }
  launch.columns = collapsed(positions);
  launch.columns.insert(launch.columns.begin(), {b.layout.sizes[2], bytes(b, 2), bytes(windows, 2 + rank)});
  launch.a_turned = reading_of(launch.channels * launch.taps, launch.inner, launch.a_row, launch.a_inner, item) ==
                    Reading::Columns;
  launch.work = double(extent(launch.columns, 0)) * double(launch.groups * launch.channels * launch.taps) *
                double(std::max<int64_t>(launch.inner, 1));
  choose_pieces(launch);
  workspace.add_launch(std::move(launch));
}

int64_t run_spread(const SpreadLaunch &launch, char *const *bases) {
  SpreadRun run(launch, bases);
  auto task = [](void *context, int64_t begin, int64_t end) -> int64_t {
    int64_t status = 0;
    try {
      for (int64_t i = begin; i < end; ++i) status |= static_cast<const SpreadRun *>(context)->unit(i);
    } catch (const std::bad_alloc &) {  // the caller may not hold the GIL
      return kOutOfMemory;
    }
    return status;
  };
  auto grain = int64_t(kParallelProducts / std::max(launch.work / double(run.units()), 1.0));
  return parallel_for(run.units(), std::max<int64_t>(grain, 1), task, &run);
}

}  // namespace rushlight
