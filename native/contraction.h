// What contractions share: how work is cut into pieces, and how a piece is packed.
#pragma once
#include <algorithm>

#include "instance.h"

namespace rushlight::contraction {

using Dim = ContractionLaunch::Dim;
using Split = ContractionLaunch::Split;

constexpr int64_t kPackedBytes = 640 << 10;  // at a time: they stay in the second-level cache
constexpr int64_t kInnerPiece = 1024;        // products summed per call of BLAS, if the right factor is packed
constexpr int64_t kFewColumns = 64;          // fewer in a row are not worth a call of BLAS of their own
constexpr int64_t kPieces = 4;               // work is cut into at least so many pieces, for the threads
constexpr double kParallelProducts = 131072; // less work is not worth waking a thread

inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t extent(const std::vector<Dim> &dims, size_t first) {
  int64_t result = 1;
  for (size_t d = first; d < dims.size(); ++d) result *= dims[d].size;
  return result;
}

// Without dims of size 1; neighbours that are one dim in both tensors are merged.
inline std::vector<Dim> collapsed(const std::vector<Dim> &dims) {
  std::vector<Dim> result;
  for (const Dim &dim : dims) {
    if (dim.size == 1) continue;
    bool continues = !result.empty() && result.back().left == dim.left * dim.size &&
                     result.back().right == dim.right * dim.size;
    if (continues) result.back() = {result.back().size * dim.size, dim.left, dim.right};
    else result.push_back(dim);
  }
  if (result.empty()) result.push_back({1, 0, 0});
  return result;
}

// Pieces of about `target` positions: the dims before the split one by one, those after it whole.
inline Split split_of(const std::vector<Dim> &dims, int64_t target) {
  size_t dim = dims.size() - 1;
  int64_t inside = 1;
  while (dim > 0 && inside * dims[dim].size < target) inside *= dims[dim--].size;
  int64_t step = std::clamp<int64_t>(target / std::max<int64_t>(inside, 1), 1, std::max<int64_t>(dims[dim].size, 1));
  int64_t pieces = divide_up(std::max<int64_t>(dims[dim].size, 1), step);
  return {dim, divide_up(std::max<int64_t>(dims[dim].size, 1), pieces)};  // pieces of about equal length
}

inline int64_t pieces_of(const std::vector<Dim> &dims, Split split) {
  int64_t result = std::max<int64_t>(divide_up(dims[split.dim].size, split.step), 1);
  for (size_t d = 0; d < split.dim; ++d) result *= dims[d].size;
  return result;
}

struct Piece {
  int64_t left, right;  // bytes to its start in each tensor
  int64_t count;        // of the split dim
  int64_t positions;
};
inline Piece piece_of(const std::vector<Dim> &dims, Split split, int64_t index) {
  const Dim &dim = dims[split.dim];
  int64_t parts = std::max<int64_t>(divide_up(dim.size, split.step), 1), begin = index % parts * split.step;
  Piece piece{begin * dim.left, begin * dim.right, std::min(split.step, dim.size - begin), 0};
  index /= parts;
  for (size_t d = split.dim; d-- > 0; index /= dims[d].size) {
    piece.left += index % dims[d].size * dims[d].left;
    piece.right += index % dims[d].size * dims[d].right;
  }
  piece.positions = piece.count * extent(dims, split.dim + 1);
  return piece;
}

// Whether the dims from `first` on are one dim in a tensor.
inline bool is_one(const std::vector<Dim> &dims, size_t first, int64_t Dim::*stride) {
  for (size_t d = first; d + 1 < dims.size(); ++d) {
    if (dims[d].*stride != dims[d + 1].*stride * dims[d + 1].size) return false;
  }
  return true;
}

// How BLAS reads a matrix with these distances in bytes between rows and between columns.
enum class Reading { Rows, Columns, None };
inline Reading reading_of(int64_t rows, int64_t columns, int64_t row, int64_t column, int64_t item) {
  if ((column == item || columns == 1) && (row >= columns * item || rows == 1)) return Reading::Rows;
  if ((row == item || rows == 1) && (column >= rows * item || columns == 1)) return Reading::Columns;
  return Reading::None;
}

// Sizes and strides for copy_strided.
struct PieceCopy {
  SmallVector<int64_t, 16> sizes, to, from;
  void add(int64_t size, int64_t to_stride, int64_t from_stride) {
    sizes.push_back(size);
    to.push_back(to_stride);
    from.push_back(from_stride);
  }
  // The dims of a piece, of which neighbouring positions lie `unit` bytes apart where they are packed.
  void add_piece(const std::vector<Dim> &dims, Split split, int64_t count, int64_t unit, int64_t Dim::*stride) {
    for (size_t d = split.dim; d < dims.size(); ++d) {
      add(d == split.dim ? count : dims[d].size, unit * extent(dims, d + 1), dims[d].*stride);
    }
  }
  void run(int64_t item, char *target, const char *source) {
    copy_strided(item, int(sizes.size()), sizes.data(), target, to.data(), source, from.data());
  }
};

inline int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace rushlight::contraction
