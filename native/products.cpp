// Matrix products of strided views, made to fit BLAS.
#include <algorithm>

#include "instance.h"

namespace rushlight {
namespace {

struct Matrix {
  Resolved view;
  int64_t rows, columns;
  GemmLaunch::Matrix placed;
};

bool supported(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Complex64 ||
         dtype == DType::Complex128;
}

// False if BLAS cannot read or write the view as it lies.
bool place(Matrix &matrix) {
  const Layout &layout = matrix.view.layout;
  size_t rank = layout.sizes.size();
  int64_t rows = matrix.rows, columns = matrix.columns;
  int64_t row = layout.strides[rank - 2], column = layout.strides[rank - 1];
  if ((column == 1 || columns <= 1) && (rows <= 1 || row >= std::max<int64_t>(columns, 1))) {
    matrix.placed.transposed = false;
    matrix.placed.leading = rows <= 1 ? std::max<int64_t>(columns, 1) : row;
  } else if ((row == 1 || rows <= 1) && (columns <= 1 || column >= std::max<int64_t>(rows, 1))) {
    matrix.placed.transposed = true;
    matrix.placed.leading = columns <= 1 ? std::max<int64_t>(rows, 1) : column;
  } else {
    return false;
  }
  matrix.placed.address = matrix.view.address();
  matrix.placed.batch_strides.clear();
  for (size_t d = 0; d + 2 < rank; ++d) {
    bool varies = layout.sizes[d] > 1;
    matrix.placed.batch_strides.push_back(varies ? layout.strides[d] * itemsize(matrix.view.dtype) : 0);
  }
  return true;
}

Matrix matrix_of(const Resolved &view) {
  size_t rank = view.layout.sizes.size();
  return {view, view.layout.sizes[rank - 2], view.layout.sizes[rank - 1], {}};
}

// A contiguous buffer of the matrix's shape; dims along which nothing changes stay shared.
Resolved packed_like(const Matrix &matrix, Workspace &workspace) {
  Resolved packed = matrix.view;
  std::vector<int64_t> distinct = packed.layout.sizes;
  for (size_t d = 0; d + 2 < distinct.size(); ++d) {
    if (packed.layout.strides[d] == 0) distinct[d] = 1;
  }
  packed.buffer = workspace.add_buffer(element_count(distinct) * itemsize(packed.dtype));
  packed.layout.offset = 0;
  std::vector<int64_t> strides = contiguous_strides(distinct);
  for (size_t d = 0; d < distinct.size(); ++d) packed.layout.strides[d] = distinct[d] == 1 ? 0 : strides[d];
  return packed;
}

void place_factor(Matrix &matrix, Workspace &workspace) {
  if (place(matrix)) return;
  Resolved packed = packed_like(matrix, workspace), from = matrix.view, to = packed;
  for (size_t d = 0; d + 2 < to.layout.sizes.size(); ++d) {
    if (to.layout.strides[d] == 0) from.layout.sizes[d] = to.layout.sizes[d] = 1;
  }
  workspace.add_launch(copy_between(from, to));
  matrix.view = packed;
  place(matrix);
}

// Batch dims of the left factor that continue its rows, with one right factor for all, are rows.
void merge_batch_into_rows(GemmLaunch &launch) {
  int64_t item = itemsize(launch.dtype);
  while (!launch.batch.empty() && !launch.a.transposed) {
    bool continues = launch.b.batch_strides.back() == 0 &&
                     launch.a.batch_strides.back() == launch.m * launch.a.leading * item &&
                     launch.out.batch_strides.back() == launch.m * launch.out.leading * item;
    if (launch.batch.back() != 1 && !continues) return;
    launch.m *= launch.batch.back();
    launch.batch.pop_back();
    for (GemmLaunch::Matrix *matrix : {&launch.a, &launch.b, &launch.out}) matrix->batch_strides.pop_back();
  }
}

void check_factors(const Resolved &a, const Resolved &b, const Resolved &out) {
  const auto &x = a.layout.sizes, &y = b.layout.sizes, &z = out.layout.sizes;
  size_t rank = z.size();
  bool fits = rank >= 2 && x.size() == rank && y.size() == rank && std::equal(x.begin(), x.end() - 2, z.begin()) &&
              std::equal(y.begin(), y.end() - 2, z.begin()) && x[rank - 2] == z[rank - 2] &&
              x[rank - 1] == y[rank - 2] && y[rank - 1] == z[rank - 1];
  if (!fits) {
    fail(PyExc_RuntimeError, "plan: no product of sizes %s and %s with sizes %s", text_of_sizes(x).c_str(),
         text_of_sizes(y).c_str(), text_of_sizes(z).c_str());
  }
  if (a.dtype != b.dtype || a.dtype != out.dtype || !supported(a.dtype)) {
    fail(PyExc_RuntimeError, "plan: a matrix product takes factors of one dtype: float32, float64 or complex");
  }
}

}  // namespace

void build_gemm(const Resolved &left, const Resolved &right, const Resolved &result, Workspace &workspace) {
  check_factors(left, right, result);
  if (element_count(result.layout.sizes) == 0) return;
  if (gemm_load() < 0) throw Failure();
  Matrix a = matrix_of(left), b = matrix_of(right), out = matrix_of(result);
  place_factor(a, workspace);
  place_factor(b, workspace);
  bool direct = place(out);
  if (!direct) {
    out.view = packed_like(out, workspace);
    place(out);
  }
  GemmLaunch launch{left.dtype, out.rows, out.columns, a.columns, {}, a.placed, b.placed, out.placed};
  launch.batch.assign(result.layout.sizes.begin(), result.layout.sizes.end() - 2);
  if (launch.out.transposed) {  // the transposed result is the product of the transposed factors, exchanged
    std::swap(launch.a, launch.b);
    std::swap(launch.m, launch.n);
    for (GemmLaunch::Matrix *matrix : {&launch.a, &launch.b, &launch.out}) matrix->transposed = !matrix->transposed;
  }
  merge_batch_into_rows(launch);
  workspace.add_launch(std::move(launch));
  if (!direct) workspace.add_launch(copy_between(out.view, result));
}

}  // namespace rushlight
