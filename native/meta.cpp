// Interned tensor metadata: equal dtype, device, sizes and strides are one object, so comparing pointers is enough.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "tensor.h"

namespace rushlight {

namespace {

// ---------------------------------------------------------------- the table: open addressing, linear probing

Meta **table = nullptr;
size_t capacity = 0;  // a power of two
size_t used = 0;

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

uint64_t hash_of(DType dtype, int device, int ndim, const int64_t *sizes, const int64_t *strides) {
  uint64_t hash = mix(static_cast<uint64_t>(dtype) | uint64_t(device) << 8, uint64_t(ndim));
  for (int i = 0; i < ndim; ++i) hash = mix(mix(hash, uint64_t(sizes[i])), uint64_t(strides[i]));
  return mix(hash, 0);
}

bool matches(const Meta *m, uint64_t hash, DType dtype, int device, int ndim, const int64_t *sizes,
             const int64_t *strides) {
  const size_t bytes = size_t(ndim) * sizeof(int64_t);
  return m->hash == hash && m->dtype == dtype && m->device == device && m->ndim == ndim &&
         (ndim == 0 || (std::memcmp(m->sizes(), sizes, bytes) == 0 && std::memcmp(m->strides(), strides, bytes) == 0));
}

bool grow() {
  const size_t larger = capacity ? capacity * 2 : 1024;
  auto **slots = static_cast<Meta **>(std::calloc(larger, sizeof(Meta *)));
  if (!slots) return false;
  for (size_t i = 0; i < capacity; ++i) {
    if (!table[i]) continue;
    size_t at = table[i]->hash & (larger - 1);
    while (slots[at]) at = (at + 1) & (larger - 1);
    slots[at] = table[i];
  }
  std::free(table);
  table = slots;
  capacity = larger;
  return true;
}

void remove(const Meta *m) {
  const size_t mask = capacity - 1;
  size_t hole = m->hash & mask;
  while (table[hole] != m) hole = (hole + 1) & mask;
  for (size_t at = (hole + 1) & mask; table[at]; at = (at + 1) & mask) {  // close the gap
    const size_t home = table[at]->hash & mask;
    if (((at - home) & mask) < ((at - hole) & mask)) continue;  // may not move in front of its home
    table[hole] = table[at];
    hole = at;
  }
  table[hole] = nullptr;
  --used;
}

// ---------------------------------------------------------------- what follows from sizes and strides

bool is_contiguous(const Meta *m) {
  if (m->numel == 0) return true;
  int64_t expected = 1;
  for (int i = m->ndim - 1; i >= 0; --i) {
    if (m->sizes()[i] == 1) continue;
    if (m->strides()[i] != expected) return false;
    expected *= m->sizes()[i];
  }
  return true;
}

// From innermost to outermost: channels, spatial dims, batch.
int channels_last_dim(int i, int ndim) { return i == 0 ? 1 : i == ndim - 1 ? 0 : ndim - i; }

// Contiguous in the order batch, spatial dims, channels.
bool is_channels_last(const Meta *m, int ndim) {
  if (m->ndim != ndim) return false;
  int64_t expected = 1;
  for (int i = 0; i < ndim; ++i) {
    const int dim = channels_last_dim(i, ndim);
    if (m->sizes()[dim] != 1 && m->strides()[dim] != expected) return false;
    expected = wrapping_product(expected, m->sizes()[dim]);
  }
  return true;
}

bool is_dense(const Meta *m) {
  if (m->flags & kContiguous) return true;
  int order[kMaxDims];
  int count = 0;
  for (int i = 0; i < m->ndim; ++i) {
    if (m->sizes()[i] != 1) order[count++] = i;
  }
  std::sort(order, order + count, [m](int a, int b) { return m->strides()[a] < m->strides()[b]; });
  int64_t expected = 1;
  for (int i = 0; i < count; ++i) {
    if (m->strides()[order[i]] != expected) return false;
    expected *= m->sizes()[order[i]];
  }
  return true;
}

bool is_overlapping(const Meta *m) {
  if (m->numel == 0) return false;
  for (int i = 0; i < m->ndim; ++i) {
    if (m->sizes()[i] > 1 && m->strides()[i] == 0) return true;
  }
  return false;
}

// Ids are packed from the parts where they fit in 64 bits, else numbered.
uint64_t structure_of(const Meta *m) {
  constexpr int kPackedDims = 24;
  uint64_t id = static_cast<uint64_t>(m->dtype) | uint64_t(m->device & 7) << 4 | uint64_t(m->flags) << 7;
  auto size_class = [m](int i) { return static_cast<uint64_t>(std::min<int64_t>(m->sizes()[i], 2)); };
  if (m->ndim <= kPackedDims) {
    id |= uint64_t(m->ndim) << 10;
    for (int i = 0; i < m->ndim; ++i) id |= size_class(i) << (16 + 2 * i);
    return id;
  }
  static std::unordered_map<std::string, uint64_t> numbered;
  std::string key(reinterpret_cast<const char *>(&id), sizeof id);
  for (int i = 0; i < m->ndim; ++i) key.push_back(static_cast<char>(size_class(i)));
  const auto found = numbered.try_emplace(key, numbered.size()).first;
  return found->second << 16 | uint64_t(63) << 10;  // no packed id has 63 dims
}

// ---------------------------------------------------------------- checks

bool overflow_error(int ndim, const int64_t *sizes, const int64_t *strides) {
  const std::string text = format_ints(sizes, ndim);
  if (strides) {
    PyErr_Format(PyExc_RuntimeError, "Storage size calculation overflowed with sizes=%s and strides=%s", text.c_str(),
                 format_ints(strides, ndim).c_str());
  } else {
    PyErr_Format(PyExc_RuntimeError, "Storage size calculation overflowed with sizes=%s", text.c_str());
  }
  return false;
}

// Number of elements; false with an error set for negative sizes, too many dims, or sizes beyond 64 bits.
bool count_elements(DType dtype, int ndim, const int64_t *sizes, int64_t *numel) {
  if (ndim < 0 || ndim > kMaxDims) {
    PyErr_Format(PyExc_RuntimeError, "a tensor has at most %d dimensions, got %d", kMaxDims, ndim);
    return false;
  }
  int64_t count = 1;
  bool empty = false, overflow = false;
  for (int i = 0; i < ndim; ++i) {
    if (sizes[i] < 0) {
      PyErr_Format(PyExc_RuntimeError, "Trying to create tensor with negative dimension %lld: %s",
                   static_cast<long long>(sizes[i]), format_ints(sizes, ndim).c_str());
      return false;
    }
    empty |= sizes[i] == 0;
    overflow |= __builtin_mul_overflow(count, sizes[i], &count);
  }
  int64_t bytes;
  if (!empty && (overflow || __builtin_mul_overflow(count, itemsize(dtype), &bytes))) {
    return overflow_error(ndim, sizes, nullptr);
  }
  *numel = empty ? 0 : count;
  return true;
}

// Whether every element's distance in bytes from the first one fits in 64 bits.
bool extent_fits(DType dtype, int ndim, const int64_t *sizes, const int64_t *strides) {
  int64_t low = 0, high = itemsize(dtype);
  for (int i = 0; i < ndim; ++i) {
    int64_t distance, bytes;
    if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &distance) ||
        __builtin_mul_overflow(distance, itemsize(dtype), &bytes) ||
        __builtin_add_overflow(bytes < 0 ? low : high, bytes, bytes < 0 ? &low : &high)) {
      return false;
    }
  }
  return true;
}

Meta *insert(uint64_t hash, DType dtype, int device, int ndim, const int64_t *sizes, const int64_t *strides) {
  int64_t numel;
  if (!count_elements(dtype, ndim, sizes, &numel)) return nullptr;
  if (numel && !extent_fits(dtype, ndim, sizes, strides)) {
    overflow_error(ndim, sizes, strides);
    return nullptr;
  }
  auto *m = static_cast<Meta *>(std::malloc(offsetof(Meta, dims) + sizeof(int64_t) * size_t(std::max(2 * ndim, 1))));
  if (!m || (used * 2 >= capacity && !grow())) {
    std::free(m);
    PyErr_NoMemory();
    return nullptr;
  }
  m->hash = hash;
  m->references = 1;
  m->numel = numel;
  m->ndim = ndim;
  m->dtype = dtype;
  m->device = static_cast<uint8_t>(device);
  std::copy(sizes, sizes + ndim, m->dims);
  std::copy(strides, strides + ndim, m->dims + ndim);
  m->flags = is_contiguous(m) ? kContiguous : 0;
  if (is_dense(m)) m->flags |= kDense;
  if (is_overlapping(m)) m->flags |= kOverlapping;
  m->structure = structure_of(m);
  size_t at = hash & (capacity - 1);
  while (table[at]) at = (at + 1) & (capacity - 1);
  table[at] = m;
  ++used;
  return m;
}

}  // namespace

int meta_in_format(const Meta *m, PyObject *format) {
  if (format == registered("contiguous_format")) return m->contiguous();
  if (format == registered("channels_last")) return is_channels_last(m, 4);
  if (format == registered("channels_last_3d")) return is_channels_last(m, 5);
  return -1;
}

// As PyTorch guesses it: where strides are ambiguous, as those of dims of size 1 are, the dims count as row-major.
bool suggests_channels_last(const int64_t *sizes, const int64_t *strides, int ndim) {
  if (strides[1] == 0) return false;
  int64_t least = 0;
  for (int i = 0; i < ndim; ++i) {
    const int dim = channels_last_dim(i, ndim);
    if (sizes[dim] == 0 || strides[dim] < least || (dim == 0 && least == strides[1])) return false;
    least = wrapping_product(strides[dim], sizes[dim]);
  }
  return true;
}

int meta_suggests_format(const Meta *m, PyObject *format) {
  const bool last = (m->ndim == 4 || m->ndim == 5) && suggests_channels_last(m->sizes(), m->strides(), m->ndim);
  if (format == registered("contiguous_format")) return !last;
  if (format == registered("channels_last")) return m->ndim == 4 && last;
  if (format == registered("channels_last_3d")) return m->ndim == 5 && last;
  return -1;
}

Meta *meta_intern(DType dtype, int device, int ndim, const int64_t *sizes, const int64_t *strides) {
  const uint64_t hash = hash_of(dtype, device, ndim, sizes, strides);
  if (capacity) {
    for (size_t at = hash & (capacity - 1); table[at]; at = (at + 1) & (capacity - 1)) {
      if (!matches(table[at], hash, dtype, device, ndim, sizes, strides)) continue;
      meta_incref(table[at]);
      return table[at];
    }
  }
  return insert(hash, dtype, device, ndim, sizes, strides);
}

Meta *meta_contiguous(DType dtype, int device, int ndim, const int64_t *sizes) {
  int64_t numel, strides[kMaxDims];
  if (!count_elements(dtype, ndim, sizes, &numel)) return nullptr;
  int64_t stride = 1;
  for (int i = ndim - 1; i >= 0; --i) {
    strides[i] = stride;
    if (i > 0 && __builtin_mul_overflow(stride, std::max<int64_t>(sizes[i], 1), &stride)) {
      PyErr_Format(PyExc_RuntimeError, "Stride calculation overflowed with sizes=%s", format_ints(sizes, ndim).c_str());
      return nullptr;
    }
  }
  return meta_intern(dtype, device, ndim, sizes, strides);
}

void meta_free(Meta *m) {
  remove(m);
  std::free(m);
}

void meta_extent(const Meta *m, int64_t *low, int64_t *high) {
  *low = *high = 0;
  if (m->numel == 0) return;
  const int64_t item = itemsize(m->dtype);
  *high = item;
  for (int i = 0; i < m->ndim; ++i) {
    const int64_t distance = (m->sizes()[i] - 1) * m->strides()[i] * item;
    *(distance < 0 ? low : high) += distance;
  }
}

Layout layout_of(const Meta *m) {
  return {{m->sizes(), m->sizes() + m->ndim}, {m->strides(), m->strides() + m->ndim}, 0};
}

namespace {

// Strides of an empty tensor: as if it were contiguous.
void empty_strides(const int64_t *sizes, int ndim, int64_t *strides) {
  uint64_t stride = 1;  // may wrap: no element is ever addressed
  for (int i = ndim - 1; i >= 0; --i) {
    strides[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(std::max<int64_t>(sizes[i], 1));
  }
}

// Runs of the old dims without gaps between them are split up anew among the new dims.
bool split_runs(const Layout &layout, const int64_t *sizes, int ndim, int64_t *strides) {
  int new_dim = ndim - 1;
  size_t old_dim = layout.sizes.size();
  while (old_dim > 0) {
    int64_t run = layout.sizes[old_dim - 1], run_stride = layout.strides[old_dim - 1];
    for (--old_dim; old_dim > 0; --old_dim) {  // extend the run to the left
      const int64_t size = layout.sizes[old_dim - 1];
      if (size != 1 && run != 1 && layout.strides[old_dim - 1] != wrapping_product(run, run_stride)) break;
      if (run == 1) run_stride = layout.strides[old_dim - 1];
      run *= size;
    }
    int64_t covered = 1;
    for (; new_dim >= 0 && (covered < run || sizes[new_dim] == 1); --new_dim) {
      strides[new_dim] = wrapping_product(run_stride, covered);
      covered *= sizes[new_dim];
    }
    if (covered != run) return false;
  }
  for (; new_dim >= 0; --new_dim) strides[new_dim] = 1;  // sizes of 1 over a 0-d tensor
  return true;
}

}  // namespace

bool layout_reshape(Layout &layout, const int64_t *sizes, int ndim) {
  const bool empty = std::find(layout.sizes.begin(), layout.sizes.end(), 0) != layout.sizes.end();
  if (empty && std::equal(layout.sizes.begin(), layout.sizes.end(), sizes, sizes + ndim)) return true;
  std::vector<int64_t> strides(static_cast<size_t>(ndim));
  if (empty) {
    empty_strides(sizes, ndim, strides.data());
  } else if (!split_runs(layout, sizes, ndim, strides.data())) {
    return false;
  }
  layout.sizes.assign(sizes, sizes + ndim);
  layout.strides = std::move(strides);
  return true;
}

}  // namespace rushlight
