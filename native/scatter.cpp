// Writing at computed places: out[..., indices at their dims, ...] = source, or += source.
// Elements of `source` are walked in row-major order along the dims that no dim of `out` follows, so what falls on one
// place adds up, or is overwritten, in one order whatever the number of threads. All indices are checked before
// anything is written.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "instance.h"

namespace rushlight {
namespace {

constexpr double kElementCost = 4;       // of one write at a computed place, relative to an addition
constexpr int64_t kChecked = 16384;      // indices per unit of checking
constexpr int64_t kRowBytes = 64;        // rows are not cut into shorter parts

using Dim = ScatterLaunch::Dim;
using Index = ScatterLaunch::Index;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

template <typename T> T load(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <typename T> void store(char *to, T value) { std::memcpy(to, &value, sizeof value); }

// ---------------------------------------------------------------- one element, one row

template <typename T> struct Assign {
  static constexpr int64_t kItem = sizeof(T);
  static void element(char *out, const char *source) { std::memcpy(out, source, sizeof(T)); }
};
// Integers as unsigned ones, which wrap around.
template <typename T, int Parts = 1> struct Add {
  static constexpr int64_t kItem = sizeof(T) * Parts;
  static void element(char *out, const char *source) {
    for (int i = 0; i < Parts; ++i) {
      char *place = out + i * int64_t(sizeof(T));
      store<T>(place, T(load<T>(place) + load<T>(source + i * int64_t(sizeof(T)))));
    }
  }
};
struct Either {
  static constexpr int64_t kItem = 1;
  static void element(char *out, const char *source) { *out = *out || *source; }
};

template <typename Write> void write_row(char *out, const char *source, int64_t count, int64_t to, int64_t from) {
  constexpr int64_t item = Write::kItem;
  if (to == item && from == item) {
    for (int64_t i = 0; i < count; ++i) Write::element(out + i * item, source + i * item);
  } else {
    for (int64_t i = 0; i < count; ++i) Write::element(out + i * to, source + i * from);
  }
}

// Elements whose place along one dim an index gives, if it is in [low, high).
struct Line {
  char *out;
  const char *source, *index;
  int64_t count, to, from, step;  // bytes: along out, source and index
  int64_t stride, size;           // bytes per position of the indexed dim; added to negative indices
  int64_t low, high;
};
template <typename Write> void write_line(const Line &line) {
  for (int64_t i = 0; i < line.count; ++i) {
    auto place = load<int64_t>(line.index + i * line.step);
    if (place < 0) place += line.size;
    if (place < line.low || place >= line.high) continue;
    Write::element(line.out + i * line.to + place * line.stride, line.source + i * line.from);
  }
}

struct Writer {
  void (*row)(char *, const char *, int64_t, int64_t, int64_t);
  void (*line)(const Line &);
};
template <typename Write> constexpr Writer writer_of() { return {write_row<Write>, write_line<Write>}; }

template <int64_t Item> struct Bytes {
  char bytes[Item];
};
Writer assigning(int64_t item) {
  switch (item) {
    case 1: return writer_of<Assign<Bytes<1>>>();
    case 2: return writer_of<Assign<Bytes<2>>>();
    case 4: return writer_of<Assign<Bytes<4>>>();
    case 8: return writer_of<Assign<Bytes<8>>>();
    default: return writer_of<Assign<Bytes<16>>>();
  }
}
// Null for half precision, in which sums would be rounded at each step.
Writer adding(DType dtype) {
  switch (dtype) {
    case DType::Bool: return writer_of<Either>();
    case DType::UInt8:
    case DType::Int8: return writer_of<Add<uint8_t>>();
    case DType::UInt16:
    case DType::Int16: return writer_of<Add<uint16_t>>();
    case DType::UInt32:
    case DType::Int32: return writer_of<Add<uint32_t>>();
    case DType::UInt64:
    case DType::Int64: return writer_of<Add<uint64_t>>();
    case DType::Float32: return writer_of<Add<float>>();
    case DType::Float64: return writer_of<Add<double>>();
    case DType::Complex64: return writer_of<Add<float, 2>>();
    case DType::Complex128: return writer_of<Add<double, 2>>();
    default: return {nullptr, nullptr};
  }
}

// ---------------------------------------------------------------- checking

// One index tensor without the dims along which it is repeated.
struct IndexCheck {
  SmallVector<int64_t, 8> sizes, strides;
  const char *data;
  int64_t low, high, count = 1;

  IndexCheck(const ScatterLaunch &launch, size_t number, char *const *bases)
      : data(address_in(bases, launch.indices[number].address)),
        low(launch.wrap ? -launch.indices[number].size : 0), high(launch.indices[number].size) {
    for (size_t d = 0; d < launch.dims.size(); ++d) {
      int64_t stride = launch.index_strides[d * launch.indices.size() + number];
      if (stride == 0) continue;
      sizes.push_back(launch.dims[d].size);
      strides.push_back(stride);
      count *= launch.dims[d].size;
    }
  }
  const char *at(int64_t position) const {
    const char *result = data;
    for (size_t d = sizes.size(); d-- > 0; position /= sizes[d]) result += position % sizes[d] * strides[d];
    return result;
  }
  bool wrong(int64_t value) const { return value < low || value >= high; }
  // Whether any of these is out of range.
  bool range(int64_t begin, int64_t end) const {
    if (sizes.empty()) return begin < end && wrong(load<int64_t>(data));
    int64_t inner = sizes[sizes.size() - 1], step = strides[sizes.size() - 1];
    bool bad = false;
    while (begin < end) {
      int64_t taken = std::min(inner - begin % inner, end - begin);
      const char *first = at(begin);
      for (int64_t i = 0; i < taken; ++i) bad |= wrong(load<int64_t>(first + i * step));
      begin += taken;
    }
    return bad;
  }
  int64_t first_wrong() const {
    int64_t position = 0;
    while (!wrong(load<int64_t>(at(position)))) ++position;
    return load<int64_t>(at(position));
  }
};

bool all_in_range(const ScatterLaunch &launch, char *const *bases, WrongIndex &wrong) {
  for (size_t d = 0; d < launch.dims.size(); ++d) {
    if (launch.dims[d].size == 0) return true;  // no index is used
  }
  for (size_t k = 0; k < launch.indices.size(); ++k) {
    IndexCheck check(launch, k, bases);
    auto task = [](void *context, int64_t begin, int64_t end) -> int64_t {
      auto &each = *static_cast<IndexCheck *>(context);
      return each.range(begin * kChecked, std::min(end * kChecked, each.count));
    };
    if (parallel_for(divide_up(check.count, kChecked), 4, task, &check) == 0) continue;
    wrong = {check.first_wrong(), launch.indices[k].dim, launch.indices[k].size};
    return false;
  }
  return true;
}

// ---------------------------------------------------------------- writing

// A unit is one position of the independent dims, and a part of the row or of the first indexed dim.
class ScatterRun {
 public:
  ScatterRun(const ScatterLaunch &launch, char *const *bases)
      : launch_(launch), indices_(launch.indices.size()),
        writer_(launch.add ? adding(launch.dtype) : assigning(itemsize(launch.dtype))),
        out_(address_in(bases, launch.out)),
        source_(address_in(bases, launch.source)) {
    for (const Index &index : launch.indices) data_.push_back(address_in(bases, index.address));
    for (size_t d = 0; d < launch.independent; ++d) positions_ *= launch.dims[d].size;
    if (positions_ < thread_count() && launch.work > kParallelWork) cut();
  }
  int64_t units() const { return positions_ * parts_; }

  void unit(int64_t number) const {
    Place place{out_, source_, {}};
    for (const char *data : data_) place.indices.push_back(data);
    int64_t part = number % parts_, position = number / parts_;
    for (size_t d = launch_.independent; d-- > 0; position /= launch_.dims[d].size) {
      move(place, d, position % launch_.dims[d].size);
    }
    int64_t low = 0, high = INT64_MAX, begin = part * length_;
    if (has_rows()) {
      place.out += begin * launch_.dims[launch_.rows].out, place.source += begin * launch_.dims[launch_.rows].source;
    } else if (indices_) {
      low = begin, high = parts_ == 1 ? INT64_MAX : begin + length_;
    }
    int64_t row = has_rows() ? std::min(length_, launch_.dims[launch_.rows].size - begin) : 1;
    sequence(place, launch_.independent, row, low, high);
  }

 private:
  struct Place {
    char *out;
    const char *source;
    SmallVector<const char *, 8> indices;
  };
  bool has_rows() const { return launch_.rows < launch_.dims.size(); }
  void move(Place &place, size_t dim, int64_t count) const {
    place.out += count * launch_.dims[dim].out;
    place.source += count * launch_.dims[dim].source;
    for (size_t k = 0; k < indices_; ++k) place.indices[k] += count * launch_.index_strides[dim * indices_ + k];
  }
  // Too few positions for the threads: each takes a part of the row, or what falls on a part of the indexed dim.
  void cut() {
    int64_t wanted = divide_up(thread_count(), std::max<int64_t>(positions_, 1));
    int64_t extent = has_rows() ? launch_.dims[launch_.rows].size : indices_ ? launch_.indices[0].size : 1;
    int64_t inside = itemsize(launch_.dtype);
    for (size_t d = launch_.rows + 1; d < launch_.dims.size(); ++d) inside *= launch_.dims[d].size;
    length_ = std::max(divide_up(extent, wanted), divide_up(kRowBytes, inside));
    parts_ = std::max<int64_t>(divide_up(extent, length_), 1);
  }

  // The dims along which one place may be hit several times, one after the other.
  void sequence(const Place &place, size_t dim, int64_t row, int64_t low, int64_t high) const {
    if (dim == launch_.rows) return at_indices(place, row, low, high);
    const Dim &each = launch_.dims[dim];
    if (dim + 1 == launch_.rows && !has_rows() && indices_ == 1) {
      const Index &index = launch_.indices[0];
      return writer_.line({place.out, place.source, place.indices[0], each.size, each.out, each.source,
                           launch_.index_strides[dim], index.stride, index.size, low, high});
    }
    Place moved{place.out, place.source, {}};
    for (const char *data : place.indices) moved.indices.push_back(data);
    for (int64_t i = 0; i < each.size; ++i) {
      sequence(moved, dim + 1, row, low, high);
      move(moved, dim, 1);
    }
  }
  void at_indices(const Place &place, int64_t row, int64_t low, int64_t high) const {
    char *out = place.out;
    for (size_t k = 0; k < indices_; ++k) {
      const Index &index = launch_.indices[k];
      auto value = load<int64_t>(place.indices[k]);
      if (value < 0) value += index.size;
      if (k == 0 && (value < low || value >= high)) return;
      out += value * index.stride;
    }
    rows(out, place.source, launch_.rows, row);
  }
  void rows(char *out, const char *source, size_t dim, int64_t size) const {
    if (dim == launch_.dims.size()) return writer_.row(out, source, 1, 0, 0);
    const Dim &each = launch_.dims[dim];
    if (dim + 1 == launch_.dims.size()) return writer_.row(out, source, size, each.out, each.source);
    for (int64_t i = 0; i < size; ++i) {
      rows(out + i * each.out, source + i * each.source, dim + 1, launch_.dims[dim + 1].size);
    }
  }

  const ScatterLaunch &launch_;
  size_t indices_;
  Writer writer_;
  char *out_;
  const char *source_;
  SmallVector<const char *, 8> data_;
  int64_t positions_ = 1, parts_ = 1, length_ = INT64_MAX;
};

// ---------------------------------------------------------------- building

struct Walk {
  Dim dim;
  std::vector<int64_t> index_strides;
  bool follows_index() const {
    return std::any_of(index_strides.begin(), index_strides.end(), [](int64_t stride) { return stride != 0; });
  }
};

// Adds a dim behind the last one, of which it may be the continuation.
void append(std::vector<Walk> &dims, Walk walk) {
  if (!dims.empty()) {
    Walk &last = dims.back();
    auto continues = [&](int64_t outer, int64_t inner) { return outer == inner * walk.dim.size; };
    bool one = continues(last.dim.out, walk.dim.out) && continues(last.dim.source, walk.dim.source);
    for (size_t k = 0; k < walk.index_strides.size(); ++k) {
      one = one && continues(last.index_strides[k], walk.index_strides[k]);
    }
    if (one) {
      walk.dim.size *= last.dim.size;
      last = std::move(walk);
      return;
    }
  }
  dims.push_back(std::move(walk));
}

void place_dims(ScatterLaunch &launch, const std::vector<Walk> &walks, const std::vector<bool> &walked) {
  int64_t least = INT64_MAX;  // the smallest distance between places that an index tells apart
  for (const Index &index : launch.indices) least = std::min(least, std::abs(index.stride));
  // Independent dims that lie closer together than these are walked inside: with the same indices they are a row.
  enum Group { Outside, Shared, Inside, Row };
  std::vector<Walk> groups[4];
  for (size_t d = 0; d < walks.size(); ++d) {
    if (walks[d].dim.size == 1) continue;
    bool inside = std::abs(walks[d].dim.out) < least;
    append(groups[!walked[d] ? Shared : !inside ? Outside : walks[d].follows_index() ? Inside : Row], walks[d]);
  }
  launch.independent = groups[Outside].size();
  launch.rows = launch.independent + groups[Shared].size() + groups[Inside].size();
  for (const auto &group : groups) {
    for (const Walk &walk : group) {
      launch.dims.push_back(walk.dim);
      launch.index_strides.insert(launch.index_strides.end(), walk.index_strides.begin(), walk.index_strides.end());
    }
  }
}

void check_operands(const Resolved &out, const Resolved &source, const std::vector<Resolved> &indices,
                    const ScatterShape &shape, bool add) {
  const auto &sizes = source.layout.sizes;
  size_t rank = out.layout.sizes.size();
  bool fits = shape.walks.size() == sizes.size() && shape.dims.size() == indices.size() && out.dtype == source.dtype;
  std::vector<bool> used(rank);
  auto use = [&](int dim) {
    fits = fits && dim >= 0 && size_t(dim) < rank && !used[size_t(dim)];
    if (fits) used[size_t(dim)] = true;
  };
  for (int dim : shape.dims) use(dim);
  for (size_t d = 0; fits && d < sizes.size(); ++d) {
    if (shape.walks[d] < 0) continue;
    use(shape.walks[d]);
    fits = fits && sizes[d] <= out.layout.sizes[size_t(shape.walks[d])];
  }
  for (const Resolved &index : indices) {
    fits = fits && index.dtype == DType::Int64 && index.layout.sizes == sizes;
  }
  if (!fits || std::find(used.begin(), used.end(), false) != used.end()) {
    fail(PyExc_RuntimeError, "plan: sizes %s with %zu indices cannot be written into sizes %s",
         text_of_sizes(sizes).c_str(), indices.size(), text_of_sizes(out.layout.sizes).c_str());
  }
  if (add && !adding(out.dtype).row) fail(PyExc_RuntimeError, "plan: half precision is not added up in place");
}

}  // namespace

void build_scatter(const Resolved &out, const Resolved &source, const std::vector<Resolved> &indices,
                   const ScatterShape &shape, Workspace &workspace) {
  check_operands(out, source, indices, shape, shape.add);
  int64_t item = itemsize(out.dtype);
  ScatterLaunch launch{out.dtype, shape.add, shape.wrap, out.address(), source.address()};
  for (size_t k = 0; k < indices.size(); ++k) {
    auto dim = size_t(shape.dims[k]);
    launch.indices.push_back({indices[k].address(), out.layout.sizes[dim], out.layout.strides[dim] * item, int(dim)});
  }
  std::vector<Walk> walks;
  std::vector<bool> walked;
  for (size_t d = 0; d < shape.walks.size(); ++d) {
    int dim = shape.walks[d];
    walked.push_back(dim >= 0);
    Walk walk{{source.layout.sizes[d], dim < 0 ? 0 : out.layout.strides[size_t(dim)] * item,
               source.layout.strides[d] * item}, {}};
    for (const Resolved &index : indices) walk.index_strides.push_back(index.layout.strides[d] * itemsize(index.dtype));
    walks.push_back(std::move(walk));
  }
  place_dims(launch, walks, walked);
  launch.work = double(element_count(source.layout.sizes)) * kElementCost;
  workspace.add_launch(std::move(launch));
}

int64_t run_scatter(const ScatterLaunch &launch, char *const *bases, WrongIndex &wrong) try {
  if (launch.work == 0) return 0;  // no index is looked at: there may be none
  if (!all_in_range(launch, bases, wrong)) return kIndexOutOfRange;
  ScatterRun run(launch, bases);
  auto task = [](void *context, int64_t begin, int64_t end) -> int64_t {
    try {
      for (int64_t i = begin; i < end; ++i) static_cast<const ScatterRun *>(context)->unit(i);
    } catch (const std::bad_alloc &) {
      return kOutOfMemory;
    }
    return 0;
  };
  auto grain = int64_t(kParallelWork / std::max(launch.work / double(run.units()), 1.0));
  return parallel_for(run.units(), std::max<int64_t>(grain, 1), task, &run);
} catch (const std::bad_alloc &) {  // the caller may not hold the GIL
  return kOutOfMemory;
}

}  // namespace rushlight
