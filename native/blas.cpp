// Matrix products: OpenBLAS from the Python package scipy_openblas32, called single-threaded from our own pool, and
// loops for what it is slow at (tiny products) or does not take.
#include "core.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace rushlight {
namespace {

constexpr int64_t kTinyWork = 256;               // below this many multiplications the loops are faster
constexpr int64_t kMaxDimension = INT64_C(1) << 30;  // OpenBLAS takes 32-bit sizes

// On some CPUs OpenBLAS multiplies factors of up to so many products as they lie, which is faster than its usual way
// of packing them first: larger products are cut into such pieces.
constexpr int64_t kSmallProducts = 1000000;
constexpr int64_t kSmallResult = 1200;           // at most so many results, if only the right factor is transposed
constexpr int64_t kSkinny = 64;                  // an extent that is small beside the others
constexpr int64_t kStepMultiple = 16;
// Other products go panel by panel of the right factor, packed by us.
constexpr int64_t kPanelRows = 48, kPanelColumns = 64, kPanelInner = 320;
constexpr int64_t kRowsPerPanel = 64;            // with fewer rows packing does not pay
constexpr int64_t kNearRows = 2048;              // bytes; rows further apart share few cache lines

struct Strided {  // element (i, j) of a factor is at data[i * row + j * column]
  const void *data;
  int64_t row, column;
};

template <class T> struct Complex {
  T re, im;
};
template <class T> inline void multiply_add(T &sum, T x, T y) { sum += x * y; }
template <class T> inline void multiply_add(Complex<T> &sum, Complex<T> x, Complex<T> y) {
  sum.re += x.re * y.re - x.im * y.im;
  sum.im += x.re * y.im + x.im * y.re;
}

// Columns j .. j + Width of one row of C.
template <class T, int Width, bool UnitColumn>
inline void multiply_row(const T *a, int64_t a_column, const T *b, int64_t b_row, int64_t b_column, int64_t k,
                         bool accumulate, T *c) {
  T sums[Width] = {};
  if (accumulate) std::copy(c, c + Width, sums);
  for (int64_t p = 0; p < k; ++p) {
    T x = a[p * a_column];
    const T *y = b + p * b_row;
    for (int j = 0; j < Width; ++j) multiply_add(sums[j], x, y[UnitColumn ? j : j * b_column]);
  }
  for (int j = 0; j < Width; ++j) c[j] = sums[j];
}

template <class T, bool UnitColumn>
void multiply_loops(int64_t m, int64_t n, int64_t k, Strided left, Strided right, bool accumulate, T *c,
                    int64_t ldc) {
  constexpr int kWidth = 4;
  const T *b = static_cast<const T *>(right.data);
  for (int64_t i = 0; i < m; ++i, c += ldc) {
    const T *a = static_cast<const T *>(left.data) + i * left.row;
    int64_t j = 0;
    for (; j + kWidth <= n; j += kWidth) {
      multiply_row<T, kWidth, UnitColumn>(a, left.column, b + j * right.column, right.row, right.column, k,
                                          accumulate, c + j);
    }
    for (; j < n; ++j) {
      multiply_row<T, 1, UnitColumn>(a, left.column, b + j * right.column, right.row, right.column, k, accumulate,
                                     c + j);
    }
  }
}

template <class T>
void multiply_loops(int64_t m, int64_t n, int64_t k, Strided left, Strided right, bool accumulate, void *c,
                    int64_t ldc) {
  if (right.column == 1) {
    multiply_loops<T, true>(m, n, k, left, right, accumulate, static_cast<T *>(c), ldc);
  } else {
    multiply_loops<T, false>(m, n, k, left, right, accumulate, static_cast<T *>(c), ldc);
  }
}

void multiply_loops(DType dtype, int64_t m, int64_t n, int64_t k, Strided left, Strided right, bool accumulate,
                    void *c, int64_t ldc) {
  switch (dtype) {
    case DType::Float32: return multiply_loops<float>(m, n, k, left, right, accumulate, c, ldc);
    case DType::Float64: return multiply_loops<double>(m, n, k, left, right, accumulate, c, ldc);
    case DType::Complex64: return multiply_loops<Complex<float>>(m, n, k, left, right, accumulate, c, ldc);
    case DType::Complex128: return multiply_loops<Complex<double>>(m, n, k, left, right, accumulate, c, ldc);
    default: return;
  }
}

// ---------------------------------------------------------------- OpenBLAS

enum { kRowMajor = 101, kNoTranspose = 111, kTranspose = 112 };
template <class Scalar>
using BlasGemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k, Scalar alpha, const void *a,
                          int lda, const void *b, int ldb, Scalar beta, void *c, int ldc);

struct OpenBlas {
  BlasGemm<float> sgemm;
  BlasGemm<double> dgemm;
  BlasGemm<const void *> cgemm, zgemm;
  bool multiplies_small;  // without packing
};
OpenBlas functions;
std::atomic<const OpenBlas *> loaded{nullptr};

// The path of the library; a new reference or null with an error set.
PyObject *library_path() {
  PyObject *package = PyImport_ImportModule("scipy_openblas32");
  if (!package) return nullptr;
  PyObject *folder = PyObject_CallMethod(package, "get_lib_dir", nullptr);
  PyObject *name = folder ? PyObject_CallMethod(package, "get_library", "O", Py_True) : nullptr;
  PyObject *path = name ? PyUnicode_FromFormat("%S/%S", folder, name) : nullptr;
  Py_XDECREF(folder);
  Py_XDECREF(name);
  Py_DECREF(package);
  return path;
}

template <class Function> bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function) PyErr_Format(PyExc_ImportError, "scipy-openblas32 has no function %s; reinstall the package", name);
  return function != nullptr;
}

int load_library(const char *path) {
  // Finding the path ran Python, so another thread may have been quicker, and the functions are in use.
  if (loaded.load(std::memory_order_acquire)) return 0;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    PyErr_Format(PyExc_ImportError, "cannot load OpenBLAS: %s; reinstall the package scipy-openblas32", dlerror());
    return -1;
  }
  void (*set_num_threads)(int);
  if (!find(library, "scipy_openblas_set_num_threads", set_num_threads) ||
      !find(library, "scipy_cblas_sgemm", functions.sgemm) || !find(library, "scipy_cblas_dgemm", functions.dgemm) ||
      !find(library, "scipy_cblas_cgemm", functions.cgemm) || !find(library, "scipy_cblas_zgemm", functions.zgemm)) {
    return -1;
  }
  set_num_threads(1);
  if (auto core_name = reinterpret_cast<const char *(*)()>(dlsym(library, "scipy_openblas_get_corename"))) {
    for (const char *name : {"SkylakeX", "Cooperlake", "SapphireRapids"}) {
      functions.multiplies_small |= std::strcmp(core_name(), name) == 0;
    }
  }
  loaded.store(&functions, std::memory_order_release);
  return 0;
}

// OpenBLAS if it is loaded or can be loaded here: a pool thread must not wait for the GIL that its caller may hold.
const OpenBlas *open_blas() {
  const OpenBlas *blas = loaded.load(std::memory_order_acquire);
  if (blas || !PyGILState_Check()) return blas;
  if (gemm_load() < 0) PyErr_Clear();
  return loaded.load(std::memory_order_acquire);
}

// C = A B + beta C, all sizes within 32 bits.
void call_blas(const OpenBlas &blas, DType dtype, int ta, int tb, int m, int n, int k, const void *a, int lda,
               const void *b, int ldb, bool accumulate, void *c, int ldc) {
  static const float one_f[2] = {1, 0}, zero_f[2] = {0, 0};
  static const double one_d[2] = {1, 0}, zero_d[2] = {0, 0};
  switch (dtype) {
    case DType::Float32:
      return blas.sgemm(kRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, accumulate ? 1 : 0, c, ldc);
    case DType::Float64:
      return blas.dgemm(kRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, accumulate ? 1 : 0, c, ldc);
    case DType::Complex64:
      return blas.cgemm(kRowMajor, ta, tb, m, n, k, one_f, a, lda, b, ldb, accumulate ? one_f : zero_f, c, ldc);
    case DType::Complex128:
      return blas.zgemm(kRowMajor, ta, tb, m, n, k, one_d, a, lda, b, ldb, accumulate ? one_d : zero_d, c, ldc);
    default: return;
  }
}

const char *element(const void *data, int64_t index, int64_t item) {
  return static_cast<const char *>(data) + index * item;
}

// BLAS demands a leading dimension of at least the row's length, even if there is only one row. False: rows overlap.
bool fix_leading(int64_t rows, int64_t columns, int64_t *leading) {
  if (rows <= 1) *leading = std::max<int64_t>(columns, 1);
  return *leading >= std::max<int64_t>(columns, 1) && *leading <= INT32_MAX;
}

struct Sizes {
  int64_t m, n, k;
};
// C = A B, or C += A B, in calls for parts of it.
struct Product {
  DType dtype;
  Sizes sizes;
  Strided left, right;
  bool transpose_a, transpose_b;
  int64_t lda, ldb;
  bool accumulate;
  void *c;
  int64_t ldc;

  bool only_right_turned() const { return transpose_b && !transpose_a; }
  const char *at(const Strided &factor, int64_t row, int64_t column) const {
    return element(factor.data, row * factor.row + column * factor.column, itemsize(dtype));
  }
  void call(const OpenBlas &blas, Sizes first, Sizes part) const {
    call_with(blas, first, part, at(right, first.k, first.n), transpose_b, ldb);
  }
  // With this as the part of the right factor.
  void call_with(const OpenBlas &blas, Sizes first, Sizes part, const void *b, bool turned, int64_t leading) const {
    auto flag = [](bool transpose) { return transpose ? kTranspose : kNoTranspose; };
    char *result = const_cast<char *>(element(c, first.m * ldc + first.n, itemsize(dtype)));
    call_blas(blas, dtype, flag(transpose_a), flag(turned), int(part.m), int(part.n), int(part.k),
              at(left, first.m, first.k), int(lda), b, int(leading), accumulate || first.k > 0, result, int(ldc));
  }
};

// Rows and columns per call, if a product with one small extent can be cut into small ones.
struct Steps {
  int64_t rows, columns;
};
Steps steps_of(const Product &product) {
  auto [m, n, k] = product.sizes;
  Steps steps{kMaxDimension, kMaxDimension};
  if (std::min(m, std::min(n, k)) > kSkinny || k > kSmallProducts) return steps;
  int64_t smaller = std::min(m, n), larger = std::max(m, n);
  if (smaller > kSmallProducts / k) return steps;
  int64_t step = kSmallProducts / (smaller * k);
  if (product.only_right_turned()) step = k < kSkinny ? 0 : std::min(step, kSmallResult / smaller);
  step = step / kStepMultiple * kStepMultiple;
  if (step > 0 && step < larger) (m > n ? steps.rows : steps.columns) = step;
  return steps;
}

void multiply_steps(const OpenBlas &blas, const Product &product, Steps steps) {
  auto [m, n, k] = product.sizes;
  for (int64_t i = 0; i < m; i += steps.rows) {
    for (int64_t j = 0; j < n; j += steps.columns) {
      for (int64_t p = 0; p < k; p += kMaxDimension) {
        product.call(blas, {i, j, p}, {std::min(steps.rows, m - i), std::min(steps.columns, n - j),
                                       std::min(kMaxDimension, k - p)});
      }
    }
  }
}

// False if there is no memory for a panel.
bool multiply_panels(const OpenBlas &blas, const Product &product) {
  auto [m, n, k] = product.sizes;
  int64_t item = itemsize(product.dtype);
  char *panel = thread_scratch(size_t(kPanelInner * kPanelColumns * item), ScratchUse::Product);
  if (!panel) return false;
  for (int64_t p = 0; p < k; p += kPanelInner) {
    for (int64_t j = 0; j < n; j += kPanelColumns) {
      int64_t sizes[2] = {std::min(kPanelInner, k - p), std::min(kPanelColumns, n - j)};
      int64_t to[2] = {sizes[1] * item, item}, from[2] = {product.right.row * item, product.right.column * item};
      copy_strided(item, 2, sizes, panel, to, product.at(product.right, p, j), from);
      for (int64_t i = 0; i < m; i += kPanelRows) {
        Sizes part{std::min(kPanelRows, m - i), sizes[1], sizes[0]};
        product.call_with(blas, {i, j, p}, part, panel, false, sizes[1]);
      }
    }
  }
  return true;
}

}  // namespace

int gemm_load() {
  if (loaded.load(std::memory_order_acquire)) return 0;
  PyObject *path = library_path();
  PyObject *encoded = path ? PyUnicode_EncodeFSDefault(path) : nullptr;
  int status = encoded ? load_library(PyBytes_AS_STRING(encoded)) : -1;
  Py_XDECREF(encoded);
  Py_XDECREF(path);
  return status;
}

void gemm(DType dtype, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
          const void *b, int64_t ldb, void *c, int64_t ldc) {
  gemm_add(dtype, transpose_a, transpose_b, m, n, k, a, lda, b, ldb, false, c, ldc);
}

void gemm_add(DType dtype, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void *a,
              int64_t lda, const void *b, int64_t ldb, bool accumulate, void *c, int64_t ldc) {
  if (m <= 0 || n <= 0) return;
  Strided left = transpose_a ? Strided{a, 1, lda} : Strided{a, lda, 1};
  Strided right = transpose_b ? Strided{b, 1, ldb} : Strided{b, ldb, 1};
  // Products are compared by division: m * n * k may exceed 64 bits.
  if (k <= 0) left = right = Strided{nullptr, 0, 0};  // of which nothing is read
  bool tiny = k <= 0 || (m <= kTinyWork && n <= kTinyWork / m && k <= kTinyWork / (m * n));
  const OpenBlas *blas = tiny ? nullptr : open_blas();
  bool suitable = blas && fix_leading(transpose_a ? k : m, transpose_a ? m : k, &lda) &&
                  fix_leading(transpose_b ? n : k, transpose_b ? k : n, &ldb) && fix_leading(m, n, &ldc);
  if (!suitable) return multiply_loops(dtype, m, n, std::max<int64_t>(k, 0), left, right, accumulate, c, ldc);
  Product product{dtype, {m, n, k}, left, right, transpose_a, transpose_b, lda, ldb, accumulate, c, ldc};
  bool large = m > kSmallProducts / k || n > kSmallProducts / (m * k);
  Steps steps{kMaxDimension, kMaxDimension};
  if (blas->multiplies_small && !is_complex(dtype) && large) {
    steps = steps_of(product);
    bool whole = steps.rows == kMaxDimension && steps.columns == kMaxDimension;
    bool worthwhile = product.only_right_turned() ? whole || m > kSkinny || k < 4 * kSkinny
                                                  : whole || ldb * itemsize(dtype) > kNearRows;
    if (m >= kRowsPerPanel && worthwhile && multiply_panels(*blas, product)) return;
  }
  multiply_steps(*blas, product, steps);
}

}  // namespace rushlight
