// Contractions over several dims, which is what convolutions are:
//   out[g, m, columns...] = sum over inner... of a[g, m, inner...] * b[g, inner..., columns...]
// Work is cut into pieces of columns, and these into pieces of the inner dims. A factor that BLAS cannot read as it
// lies, such as the windows of an image, is packed piece by piece into the thread's scratch memory.
#include "contraction.h"

namespace rushlight {
namespace {

using namespace contraction;

constexpr int64_t kDirectColumns = 2048;     // columns per piece if b is read as it lies

// ---------------------------------------------------------------- running

class ContractionRun {
 public:
  ContractionRun(const ContractionLaunch &launch, char *const *bases)
      : launch_(launch), item_(itemsize(launch.dtype)), a_(address_in(bases, launch.a)),
        b_(address_in(bases, launch.b)), out_(address_in(bases, launch.out)),
        column_pieces_(pieces_of(launch.columns, launch.column_split)),
        inner_pieces_(pieces_of(launch.inner, launch.inner_split)),
        inner_limit_(launch.inner_split.step * extent(launch.inner, launch.inner_split.dim + 1)),
        column_limit_(launch.column_split.step * extent(launch.columns, launch.column_split.dim + 1)) {}

  int64_t units() const { return launch_.batch * column_pieces_; }

  int64_t unit(int64_t index) const {
    int64_t group = index / column_pieces_;
    Piece columns = piece_of(launch_.columns, launch_.column_split, index % column_pieces_);
    char *packed_b = nullptr, *packed_a = nullptr, *packed_out = nullptr;
    if (!scratch(packed_a, packed_b, packed_out)) return kOutOfMemory;
    char *target = out_ + group * launch_.out_batch + columns.right;
    char *c = launch_.pack_out ? packed_out : target;
    int64_t ldc = launch_.pack_out ? columns.positions : launch_.out_row / item_;
    for (int64_t p = 0; p < inner_pieces_; ++p) {
      Piece inner = piece_of(launch_.inner, launch_.inner_split, p);
      multiply(group, inner, columns, packed_a, packed_b, c, ldc, p > 0);
    }
    if (launch_.pack_out) unpack(columns, packed_out, target);
    return 0;
  }

 private:

  bool scratch(char *&a, char *&b, char *&out) const {
    int64_t bytes_a = launch_.pack_a ? rounded(launch_.rows * inner_limit_ * item_) : 0;
    int64_t bytes_b = launch_.pack_b ? rounded(inner_limit_ * column_limit_ * item_) : 0;
    int64_t bytes_out = launch_.pack_out ? rounded(launch_.rows * column_limit_ * item_) : 0;
    if (bytes_a + bytes_b + bytes_out == 0) return true;
    b = thread_scratch(size_t(bytes_a + bytes_b + bytes_out));
    a = b + bytes_b;
    out = a + bytes_a;
    return b != nullptr;
  }

  void multiply(int64_t group, const Piece &inner, const Piece &columns, char *packed_a, char *packed_b, char *c,
                int64_t ldc, bool accumulate) const {
    const char *a = a_ + group * launch_.a_batch + inner.left;
    const char *b = b_ + group * launch_.b_batch + inner.right + columns.left;
    bool a_turned = launch_.a_reading_columns, b_turned = launch_.b_turned;
    int64_t lda = (a_turned ? launch_.inner.back().left : launch_.a_row) / item_;
    int64_t ldb = (b_turned ? launch_.columns.back().left : launch_.inner.back().right) / item_;
    if (launch_.pack_a) {
      pack_a(inner, packed_a, a);
      a = packed_a, a_turned = false, lda = inner.positions;
    }
    if (launch_.pack_b) {
      pack_b(inner, columns, packed_b, b);
      b = packed_b, ldb = b_turned ? inner.positions : columns.positions;
    }
    gemm_add(launch_.dtype, a_turned, b_turned, launch_.rows, columns.positions, inner.positions, a, lda, b, ldb,
             accumulate, c, ldc);
  }

  void pack_a(const Piece &inner, char *packed, const char *a) const {
    PieceCopy copy;
    copy.add(launch_.rows, inner.positions * item_, launch_.a_row);
    copy.add_piece(launch_.inner, launch_.inner_split, inner.count, item_, &Dim::left);
    copy.run(item_, packed, a);
  }
  void pack_b(const Piece &inner, const Piece &columns, char *packed, const char *b) const {
    int64_t inner_unit = launch_.b_turned ? item_ : columns.positions * item_;
    int64_t column_unit = launch_.b_turned ? inner.positions * item_ : item_;
    PieceCopy copy;
    copy.add_piece(launch_.inner, launch_.inner_split, inner.count, inner_unit, &Dim::right);
    copy.add_piece(launch_.columns, launch_.column_split, columns.count, column_unit, &Dim::left);
    copy.run(item_, packed, b);
  }
  void unpack(const Piece &columns, const char *packed, char *out) const {
    PieceCopy copy;
    copy.add(launch_.rows, launch_.out_row, columns.positions * item_);
    for (size_t d = launch_.column_split.dim; d < launch_.columns.size(); ++d) {
      const Dim &dim = launch_.columns[d];
      copy.add(d == launch_.column_split.dim ? columns.count : dim.size, dim.right,
               item_ * extent(launch_.columns, d + 1));
    }
    copy.run(item_, out, packed);
  }

  const ContractionLaunch &launch_;
  int64_t item_;
  char *a_, *b_, *out_;
  int64_t column_pieces_, inner_pieces_, inner_limit_, column_limit_;
};

// ---------------------------------------------------------------- building

// How the factors and the result lie; false if b must be packed.
bool read_directly(ContractionLaunch &launch, int64_t item) {
  if (launch.inner.size() > 1) return false;
  if (launch.columns.back().size < kFewColumns && launch.columns.size() > 1) return false;
  const Dim &inner = launch.inner[0], &column = launch.columns.back();
  Reading reading = reading_of(inner.size, column.size, inner.right, column.left, item);
  if (reading == Reading::None) return false;
  launch.b_turned = reading == Reading::Columns;
  launch.inner_split = {0, std::max<int64_t>(inner.size, 1)};
  launch.column_split = split_of({column}, kDirectColumns);
  launch.column_split.dim = launch.columns.size() - 1;
  return true;
}

// Packed rows follow whichever innermost dim gives the longer runs of neighbours, or of every other item, in b.
bool packs_turned(const ContractionLaunch &launch, int64_t item) {
  auto run = [&](int64_t size, int64_t stride) {
    return stride == item ? 4 * size : stride == 2 * item && item == 4 ? 3 * size : size;
  };
  return run(launch.inner.back().size, launch.inner.back().right) >
         run(launch.columns.back().size, launch.columns.back().left);
}

void choose_pieces(ContractionLaunch &launch) {
  int64_t item = itemsize(launch.dtype);
  launch.pack_b = !read_directly(launch, item);
  if (launch.pack_b) {
    launch.b_turned = packs_turned(launch, item);
    launch.inner_split = split_of(launch.inner, kInnerPiece);
    int64_t inner = launch.inner_split.step * extent(launch.inner, launch.inner_split.dim + 1);
    int64_t target = std::clamp<int64_t>(kPackedBytes / (std::max<int64_t>(inner, 1) * item), kFewColumns, 4096);
    int64_t share = std::max(extent(launch.columns, 0) / kPieces, kFewColumns);
    launch.column_split = split_of(launch.columns, std::min(target, share));
  }
  const Dim &last = launch.inner.back(), &column = launch.columns.back();
  int64_t inner = launch.inner_split.step * extent(launch.inner, launch.inner_split.dim + 1);
  int64_t columns = launch.column_split.step * extent(launch.columns, launch.column_split.dim + 1);
  Reading a = is_one(launch.inner, launch.inner_split.dim, &Dim::left)
                  ? reading_of(launch.rows, inner, launch.a_row, last.left, item)
                  : Reading::None;
  launch.pack_a = a == Reading::None;
  launch.a_reading_columns = a == Reading::Columns;
  launch.pack_out = !is_one(launch.columns, launch.column_split.dim, &Dim::right) ||
                    reading_of(launch.rows, columns, launch.out_row, column.right, item) != Reading::Rows;
}

void check_sizes(const Resolved &a, const Resolved &b, const Resolved &out, size_t inner) {
  const auto &x = a.layout.sizes, &y = b.layout.sizes, &z = out.layout.sizes;
  bool fits = inner >= 1 && x.size() == 2 + inner && y.size() >= 1 + inner && z.size() == y.size() + 1 - inner &&
              x[0] == y[0] && x[0] == z[0] && x[1] == z[1] &&
              std::equal(x.begin() + 2, x.end(), y.begin() + 1) &&
              std::equal(y.begin() + 1 + int64_t(inner), y.end(), z.begin() + 2);
  if (!fits) {
    fail(PyExc_RuntimeError, "plan: no contraction of sizes %s and %s over %zu dims with sizes %s",
         text_of_sizes(x).c_str(), text_of_sizes(y).c_str(), inner, text_of_sizes(z).c_str());
  }
  bool known = a.dtype == DType::Float32 || a.dtype == DType::Float64 || a.dtype == DType::Complex64 ||
               a.dtype == DType::Complex128;
  if (a.dtype != b.dtype || a.dtype != out.dtype || !known) {
    fail(PyExc_RuntimeError, "plan: a contraction takes factors of one dtype: float32, float64 or complex");
  }
}

}  // namespace

void build_contraction(const Resolved &a, const Resolved &b, const Resolved &out, int inner, Workspace &workspace) {
  check_sizes(a, b, out, size_t(inner));
  if (element_count(out.layout.sizes) == 0) return;
  if (gemm_load() < 0) throw Failure();
  int64_t item = itemsize(a.dtype);
  ContractionLaunch launch{a.dtype, a.address(), b.address(), out.address()};
  launch.batch = a.layout.sizes[0], launch.rows = a.layout.sizes[1];
  launch.a_batch = a.layout.strides[0] * item, launch.a_row = a.layout.strides[1] * item;
  launch.b_batch = b.layout.strides[0] * item;
  launch.out_batch = out.layout.strides[0] * item, launch.out_row = out.layout.strides[1] * item;
  for (size_t d = 0; d < size_t(inner); ++d) {
    launch.inner.push_back({a.layout.sizes[2 + d], a.layout.strides[2 + d] * item, b.layout.strides[1 + d] * item});
  }
  for (size_t d = 1 + size_t(inner); d < b.layout.sizes.size(); ++d) {
    int64_t stride = out.layout.strides[d + 1 - size_t(inner)] * item;
    launch.columns.push_back({b.layout.sizes[d], b.layout.strides[d] * item, stride});
  }
  launch.inner = collapsed(launch.inner);
  launch.columns = collapsed(launch.columns);
  if (extent(launch.inner, 0) == 0) launch.inner = {{0, item, item}};
  choose_pieces(launch);
  launch.work = double(element_count(out.layout.sizes)) * double(std::max<int64_t>(extent(launch.inner, 0), 1));
  workspace.add_launch(std::move(launch));
}

int64_t run_contraction(const ContractionLaunch &launch, char *const *bases) {
  ContractionRun run(launch, bases);
  auto task = [](void *context, int64_t begin, int64_t end) -> int64_t {
    int64_t status = 0;
    try {
      for (int64_t i = begin; i < end; ++i) status |= static_cast<ContractionRun *>(context)->unit(i);
    } catch (const std::bad_alloc &) {  // of long lists of dims
      return kOutOfMemory;
    }
    return status;
  };
  auto grain = int64_t(kParallelProducts / std::max(launch.work / double(run.units()), 1.0));
  return parallel_for(run.units(), std::max<int64_t>(grain, 1), task, &run);
}

}  // namespace rushlight
