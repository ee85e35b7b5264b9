// Copies between two layouts of one shape: dims are merged, ordered by the destination and split over threads; inner
// loops are memcpy, tight loops per item size, or blocked transposes.
#include "core.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace rushlight {
namespace {

constexpr int kMaxDims = 64;                  // more dims of size 2 would have over 2^63 elements
constexpr int64_t kSerialBytes = 256 << 10;   // smaller copies stay on one thread
constexpr int64_t kRowItems = 16 << 10;       // longer rows are cut, so that threads can share them
constexpr int64_t kTile = 16;                 // items per side of a transposed tile
constexpr int64_t kPanel = 4 * kTile;         // rows of one unit of transposing work

struct Dim {
  int64_t size, to, from;  // strides in bytes
};

// The inner two dims, outer one first.
using InnerCopy = void (*)(int64_t item, Dim outer, Dim inner, char *to, const char *from);

template <int64_t Item> struct Bytes {
  char bytes[Item];
};

template <int64_t Item> inline void copy_item(char *to, const char *from) {
  Bytes<Item> value;
  std::memcpy(&value, from, Item);
  std::memcpy(to, &value, Item);
}

// Rows of 4 to 128 bytes, for which a call of memcpy would take longer than the copy: the last step overlaps.
template <int64_t Step> void copy_short_row(int64_t bytes, char *to, const char *from) {
  const int64_t last = bytes - Step;
  for (int64_t at = 0; at < last; at += Step) copy_item<Step>(to + at, from + at);
  copy_item<Step>(to + last, from + last);
}
template <int64_t Step> void copy_short_rows(int64_t item, Dim outer, Dim inner, char *to, const char *from) {
  for (int64_t i = 0; i < outer.size; ++i, to += outer.to, from += outer.from) {
    copy_short_row<Step>(inner.size * item, to, from);
  }
}

void copy_rows_contiguous(int64_t item, Dim outer, Dim inner, char *to, const char *from) {
  for (int64_t i = 0; i < outer.size; ++i) {
    std::memcpy(to + i * outer.to, from + i * outer.from, size_t(inner.size * item));
  }
}

// Every other 4-byte item of at least four, four at a time; the last step overlaps and reads no further than the items.
inline void gather_alternate(int64_t count, char *to, const char *from) {
  using Four = int32_t __attribute__((vector_size(16)));
  for (int64_t j = 0;;) {
    Four first, second;
    std::memcpy(&first, from + j * 8, sizeof first);
    std::memcpy(&second, from + j * 8 + 12, sizeof second);
    Four gathered = __builtin_shufflevector(first, second, 0, 2, 5, 7);
    std::memcpy(to + j * 4, &gathered, sizeof gathered);
    if (j == count - 4) return;
    j = std::min(j + 4, count - 4);
  }
}

template <int64_t Item> void copy_rows(int64_t, Dim outer, Dim inner, char *to, const char *from) {
  for (int64_t i = 0; i < outer.size; ++i, to += outer.to, from += outer.from) {
    if (inner.to == Item && inner.from == 0) {
      Bytes<Item> value;
      std::memcpy(&value, from, Item);
      for (int64_t j = 0; j < inner.size; ++j) std::memcpy(to + j * Item, &value, Item);
    } else if (Item == 4 && inner.to == 4 && inner.from == 8 && inner.size >= 4) {
      gather_alternate(inner.size, to, from);
    } else if (inner.to == Item) {
      for (int64_t j = 0; j < inner.size; ++j) copy_item<Item>(to + j * Item, from + j * inner.from);
    } else {
      for (int64_t j = 0; j < inner.size; ++j) copy_item<Item>(to + j * inner.to, from + j * inner.from);
    }
  }
}

void copy_rows_any(int64_t item, Dim outer, Dim inner, char *to, const char *from) {
  for (int64_t i = 0; i < outer.size; ++i) {
    for (int64_t j = 0; j < inner.size; ++j) {
      std::memcpy(to + i * outer.to + j * inner.to, from + i * outer.from + j * inner.from, size_t(item));
    }
  }
}

// Four rows of four 4-byte items, turned in registers.
inline void turn_four(char *to, int64_t to_stride, const char *from, int64_t from_stride) {
  using Row = int32_t __attribute__((vector_size(16)));
  Row rows[4];
  for (int r = 0; r < 4; ++r) std::memcpy(&rows[r], from + r * from_stride, sizeof(Row));
  Row low = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  Row high = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  Row other_low = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  Row other_high = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  Row turned[4] = {__builtin_shufflevector(low, other_low, 0, 1, 4, 5),
                   __builtin_shufflevector(low, other_low, 2, 3, 6, 7),
                   __builtin_shufflevector(high, other_high, 0, 1, 4, 5),
                   __builtin_shufflevector(high, other_high, 2, 3, 6, 7)};
  for (int r = 0; r < 4; ++r) std::memcpy(to + r * to_stride, &turned[r], sizeof(Row));
}

// One full tile, through a buffer on the stack: rows that lie a power of two apart share few cache lines.
template <int64_t Item> void transpose_tile(char *to, int64_t to_stride, const char *from, int64_t from_stride) {
  Bytes<Item> tile[kTile][kTile], turned[kTile][kTile];
  for (int64_t c = 0; c < kTile; ++c) std::memcpy(tile[c], from + c * from_stride, sizeof tile[c]);
  if constexpr (Item == 4) {
    for (int64_t c = 0; c < kTile; c += 4) {
      for (int64_t r = 0; r < kTile; r += 4) {
        turn_four(turned[r][c].bytes, sizeof turned[0], tile[c][r].bytes, sizeof tile[0]);
      }
    }
  } else {
    for (int64_t c = 0; c < kTile; ++c) {
      for (int64_t r = 0; r < kTile; ++r) turned[r][c] = tile[c][r];
    }
  }
  for (int64_t r = 0; r < kTile; ++r) std::memcpy(to + r * to_stride, turned[r], sizeof turned[r]);
}

// The source is contiguous along the outer dim, the destination along the inner one.
template <int64_t Item> void copy_transposed(int64_t, Dim outer, Dim inner, char *to, const char *from) {
  for (int64_t j = 0; j < inner.size; j += kTile) {
    int64_t columns = std::min(kTile, inner.size - j);
    for (int64_t i = 0; i < outer.size; i += kTile) {
      int64_t rows = std::min(kTile, outer.size - i);
      char *target = to + i * outer.to + j * Item;
      const char *source = from + i * Item + j * inner.from;
      if (rows == kTile && columns == kTile) {
        transpose_tile<Item>(target, outer.to, source, inner.from);
        continue;
      }
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c) {
          copy_item<Item>(target + r * outer.to + c * Item, source + r * Item + c * inner.from);
        }
      }
    }
  }
}

template <int64_t Item> InnerCopy choose_for_item(bool transposed) {
  return transposed ? copy_transposed<Item> : copy_rows<Item>;
}

InnerCopy choose(int64_t item, Dim inner, bool transposed) {
  if (inner.to == item && inner.from == item) {
    const int64_t bytes = inner.size * item;
    if (bytes < 4 || bytes > 128) return copy_rows_contiguous;
    return bytes >= 16 ? copy_short_rows<16> : bytes >= 8 ? copy_short_rows<8> : copy_short_rows<4>;
  }
  switch (item) {
    case 1: return choose_for_item<1>(transposed);
    case 2: return choose_for_item<2>(transposed);
    case 4: return choose_for_item<4>(transposed);
    case 8: return choose_for_item<8>(transposed);
    case 16: return choose_for_item<16>(transposed);
    default: return copy_rows_any;
  }
}

class StridedCopy {
 public:
  StridedCopy(int64_t item, char *to, const char *from) : item_(item), to_(to), from_(from) {}

  // Returns false when there is nothing to copy.
  bool set_dims(int ndim, const int64_t *sizes, const int64_t *to_strides, const int64_t *from_strides) {
    for (int i = 0; i < ndim; ++i) {
      if (sizes[i] == 0) return false;
      if (sizes[i] == 1) continue;
      dims_[count_++] = {sizes[i], to_strides[i], from_strides[i]};
    }
    order();
    merge();
    return true;
  }

  void run() {
    if (count_ == 0) return copy_rows_any(item_, {1, 0, 0}, {1, 0, 0}, to_, from_);
    cut_long_row();
    if (count_ == 1) insert(0, {1, 0, 0});
    bool transposed = bring_contiguous_source_next_to_inner();
    inner_copy_ = choose(item_, dims_[count_ - 1], transposed);
    Dim &outer = dims_[count_ - 2];
    int64_t row_bytes = dims_[count_ - 1].size * item_;
    block_ = transposed ? kPanel : std::max<int64_t>(1, kRowItems * 4 / row_bytes);
    blocks_ = (outer.size - 1) / block_ + 1;
    int64_t units = blocks_, bytes = outer.size * row_bytes;
    for (int i = 0; i < count_ - 2; ++i) units *= dims_[i].size, bytes *= dims_[i].size;
    int64_t grain = std::max<int64_t>(1, units / std::max<int64_t>(1, bytes / kSerialBytes));
    parallel_for(units, grain, &StridedCopy::task, this);
  }

 private:
  static int64_t task(void *self, int64_t begin, int64_t end) {
    static_cast<const StridedCopy *>(self)->copy_units(begin, end);
    return 0;
  }

  // A unit is `block_` steps of the last dim but one, at one place of the dims before it.
  void copy_units(int64_t begin, int64_t end) const {
    int64_t index[kMaxDims + 2];
    char *to = to_;
    const char *from = from_;
    int64_t block = begin % blocks_, rest = begin / blocks_;
    for (int i = count_ - 3; i >= 0; --i) {
      index[i] = rest % dims_[i].size;
      rest /= dims_[i].size;
      to += index[i] * dims_[i].to, from += index[i] * dims_[i].from;
    }
    Dim outer = dims_[count_ - 2];
    const int64_t rows = outer.size;
    for (int64_t unit = begin; unit < end; ++unit) {
      int64_t first = block * block_;
      outer.size = std::min(block_, rows - first);
      inner_copy_(item_, outer, dims_[count_ - 1], to + first * outer.to, from + first * outer.from);
      if (++block < blocks_) continue;
      block = 0;
      for (int i = count_ - 3; i >= 0; --i) {
        to += dims_[i].to, from += dims_[i].from;
        if (++index[i] < dims_[i].size) break;
        index[i] = 0;
        to -= dims_[i].size * dims_[i].to, from -= dims_[i].size * dims_[i].from;
      }
    }
  }

  // Largest stride of the destination first; among equals the source decides.
  void order() {
    for (int i = 1; i < count_; ++i) {
      for (int j = i; j > 0 && before(dims_[j], dims_[j - 1]); --j) std::swap(dims_[j], dims_[j - 1]);
    }
  }
  static bool before(const Dim &a, const Dim &b) {
    int64_t x = std::llabs(a.to), y = std::llabs(b.to);
    return x != y ? x > y : std::llabs(a.from) > std::llabs(b.from);
  }

  void merge() {
    int kept = 0;
    for (int i = 0; i < count_; ++i) {
      Dim *last = kept ? &dims_[kept - 1] : nullptr;
      if (last && last->to == dims_[i].to * dims_[i].size && last->from == dims_[i].from * dims_[i].size) {
        *last = {last->size * dims_[i].size, dims_[i].to, dims_[i].from};
      } else {
        dims_[kept++] = dims_[i];
      }
    }
    count_ = kept;
  }

  void insert(int at, Dim dim) {
    for (int i = count_; i > at; --i) dims_[i] = dims_[i - 1];
    dims_[at] = dim;
    ++count_;
  }

  // Cuts the last dim into rows of kRowItems; a remainder is copied here and now.
  void cut_long_row() {
    Dim &last = dims_[count_ - 1];
    if (last.size < 2 * kRowItems) return;
    int64_t rows = last.size / kRowItems, rest = last.size % kRowItems;
    if (rest) {
      StridedCopy tail = *this;
      tail.dims_[count_ - 1].size = rest;
      tail.to_ += rows * kRowItems * last.to, tail.from_ += rows * kRowItems * last.from;
      tail.run();
    }
    Dim outer = {rows, last.to * kRowItems, last.from * kRowItems};
    last.size = kRowItems;
    insert(count_ - 1, outer);
  }

  // A transpose, if the inner dim is contiguous in the destination only and another one in the source.
  bool bring_contiguous_source_next_to_inner() {
    const Dim &inner = dims_[count_ - 1];
    if (inner.to != item_ || inner.from == item_ || inner.from == 0 || inner.size < kTile / 2) return false;
    for (int i = count_ - 2; i >= 0; --i) {
      if (dims_[i].from != item_ || dims_[i].size < kTile / 2) continue;
      std::rotate(dims_ + i, dims_ + i + 1, dims_ + count_ - 1);
      return true;
    }
    return false;
  }

  int64_t item_;
  char *to_;
  const char *from_;
  int count_ = 0;
  Dim dims_[kMaxDims + 2];
  InnerCopy inner_copy_ = nullptr;
  int64_t block_ = 1, blocks_ = 1;
};

}  // namespace

void copy_strided(int64_t item, int ndim, const int64_t *sizes, char *to, const int64_t *to_strides, const char *from,
                  const int64_t *from_strides) {
  StridedCopy copy(item, to, from);
  if (copy.set_dims(ndim, sizes, to_strides, from_strides)) copy.run();
}

}  // namespace rushlight
