// Tensors that the backward pass makes by layout arithmetic and copies, without operators and outside the tape.
#include <algorithm>
#include <cstring>

#include "half.h"
#include "tape.h"

namespace rushlight {
namespace {

std::vector<int64_t> byte_strides(const Meta *m) {
  std::vector<int64_t> strides(m->strides(), m->strides() + m->ndim);
  for (int64_t &stride : strides) stride = wrapping_product(stride, itemsize(m->dtype));
  return strides;
}

// Dims of size > 1, smallest stride first.
std::vector<int> by_stride(const Meta *m) {
  std::vector<int> dims;
  for (int d = 0; d < m->ndim; ++d) {
    if (m->sizes()[d] != 1) dims.push_back(d);
  }
  std::sort(dims.begin(), dims.end(), [m](int a, int b) { return m->strides()[a] < m->strides()[b]; });
  return dims;
}

void write_one(DType dtype, char *to) {
  auto put = [to](auto value) { std::memcpy(to, &value, sizeof value); };
  switch (dtype) {
    case DType::Float16: return put(float_to_half(1));
    case DType::BFloat16: return put(float_to_bfloat16(1));
    case DType::Float32: return put(1.0f);
    case DType::Float64: return put(1.0);
    case DType::Complex32: return put(uint32_t(float_to_half(1)));
    case DType::Complex64: put(1.0f), to += 4; return put(0.0f);
    case DType::Complex128: put(1.0), to += 8; return put(0.0);
    default: return put(uint8_t(1));  // integers have no gradients
  }
}

void fill_with(Tensor *t, const char *element) {
  const Meta *m = t->meta;
  if (m->device) return;
  const std::vector<int64_t> to = byte_strides(m), from(m->ndim, 0);
  copy_strided(itemsize(m->dtype), m->ndim, m->sizes(), t->data, to.data(), element, from.data());
}

}  // namespace

bool same_sizes(const Meta *a, const Meta *b) {
  return a == b || (a->ndim == b->ndim && std::equal(a->sizes(), a->sizes() + a->ndim, b->sizes()));
}

bool never_overlaps(const Meta *m) {
  if (m->flags & kDense || m->numel == 0) return true;
  int64_t reach = 0;  // of the dims so far
  for (int d : by_stride(m)) {
    if (m->strides()[d] <= reach) return false;
    reach += (m->sizes()[d] - 1) * m->strides()[d];
  }
  return true;
}

bool native_arithmetic(const Tensor *t) {
  return !thread_state.grad_enabled && t->meta->device == 0 && tensor_exact(as_object(const_cast<Tensor *>(t)));
}

TensorRef tensor_alias(Tensor *t, const Layout &layout) {
  const Meta *m = t->meta;
  Meta *meta = meta_intern(m->dtype, m->device, int(layout.sizes.size()), layout.sizes.data(), layout.strides.data());
  if (!meta) return {};
  storage_incref(t->storage);
  const int64_t bytes = wrapping_product(layout.offset, itemsize(m->dtype));
  return TensorRef(tensor_new(meta, t->storage, offset_by(t->data, bytes)));
}

TensorRef tensor_strided(const Meta *like, bool zero) {
  Meta *meta = const_cast<Meta *>(like);
  meta_incref(meta);
  TensorRef t(tensor_empty(meta));
  if (t && zero && !meta->device && t->storage->bytes) std::memset(t->storage->data, 0, t->storage->bytes);
  return t;
}

TensorRef tensor_contiguous(DType dtype, int device, const std::vector<int64_t> &sizes, bool zero) {
  Meta *meta = meta_contiguous(dtype, device, int(sizes.size()), sizes.data());
  if (!meta) return {};
  TensorRef t = tensor_strided(meta, zero);
  meta_decref(meta);
  return t;
}

TensorRef tensor_ones(const Meta *like) {
  TensorRef t = tensor_contiguous(like->dtype, like->device, {like->sizes(), like->sizes() + like->ndim}, false);
  char one[16];
  write_one(like->dtype, one);
  if (t) fill_with(t.get(), one);
  return t;
}

void fill_zero(Tensor *t) {
  const char zero[16] = {};
  fill_with(t, zero);
}

void copy_into(Tensor *to, const Tensor *from) {
  if (to->meta->device || from->meta->device) return;
  const std::vector<int64_t> to_strides = byte_strides(to->meta), from_strides = byte_strides(from->meta);
  copy_strided(itemsize(to->meta->dtype), to->meta->ndim, to->meta->sizes(), to->data, to_strides.data(), from->data,
               from_strides.data());
}

TensorRef tensor_shaped(DType dtype, const Meta *like, bool zero) {
  const int64_t *sizes = like->sizes();
  Meta *meta = like->flags & kDense ? meta_intern(dtype, like->device, like->ndim, sizes, like->strides())
                                    : meta_contiguous(dtype, like->device, like->ndim, sizes);
  if (!meta) return {};
  TensorRef t = tensor_strided(meta, zero);
  meta_decref(meta);
  return t;
}

Meta *meta_of_pairs(const Meta *meta) {
  std::vector<int64_t> sizes(meta->sizes(), meta->sizes() + meta->ndim), strides;
  for (int d = 0; d < meta->ndim; ++d) strides.push_back(wrapping_product(2, meta->strides()[d]));
  sizes.push_back(2);
  strides.push_back(1);
  if (sizes.size() > kMaxDims) {
    PyErr_Format(PyExc_RuntimeError, "view_as_real: a tensor has at most %d dimensions", kMaxDims);
    return nullptr;
  }
  return meta_intern(real_of(meta->dtype), meta->device, int(sizes.size()), sizes.data(), strides.data());
}

Meta *meta_of_paired(const Meta *meta) {
  std::vector<int64_t> strides(meta->strides(), meta->strides() + meta->ndim - 1);
  for (int64_t &stride : strides) stride /= 2;
  return meta_intern(complex_of(meta->dtype), meta->device, meta->ndim - 1, meta->sizes(), strides.data());
}

TensorRef tensor_as_real(Tensor *t) {
  if (!is_complex(t->meta->dtype)) return TensorRef::borrow(t);
  if (!native_arithmetic(t)) return call_operator("view_as_real_copy", {as_object(t)});
  Meta *meta = meta_of_pairs(t->meta);
  if (!meta) return {};
  storage_incref(t->storage);
  return TensorRef(tensor_new(meta, t->storage, t->data));
}

TensorRef tensor_as_complex(Tensor *t) {
  const Meta *m = t->meta;
  if (is_complex(m->dtype)) return TensorRef::borrow(t);
  if (!native_arithmetic(t)) return call_operator("view_as_complex_copy", {as_object(t)});
  const int last = m->ndim - 1;
  bool paired = m->strides()[last] == 1 && reinterpret_cast<uintptr_t>(t->data) % size_t(2 * itemsize(m->dtype)) == 0;
  for (int d = 0; d < last; ++d) paired = paired && m->strides()[d] % 2 == 0;
  TensorRef copy;
  if (!paired) {
    copy = tensor_contiguous(m->dtype, m->device, {m->sizes(), m->sizes() + m->ndim}, false);
    if (!copy) return {};
    copy_into(copy.get(), t);
    t = copy.get();
  }
  Meta *meta = meta_of_paired(t->meta);
  if (!meta) return {};
  storage_incref(t->storage);
  return TensorRef(tensor_new(meta, t->storage, t->data));
}

TensorRef tensor_copy(Tensor *t, const Meta *like) {
  TensorRef copy = tensor_shaped(t->meta->dtype, like, false);
  if (copy) copy_into(copy.get(), t);
  return copy;
}

// Where the elements of a view lie in its base: indices into the flattened base, as a vector.
TensorRef tensor_positions(const Meta *base, const Meta *view, int64_t offset, int64_t outside) {
  TensorRef result = tensor_contiguous(DType::Int64, 0, {view->numel}, false);
  if (!result) return {};
  std::vector<int64_t> logical(base->ndim, 1);  // strides of the flattened base
  for (int d = base->ndim - 2; d >= 0; --d) logical[d] = logical[d + 1] * base->sizes()[d + 1];
  const std::vector<int> order = by_stride(base);
  int64_t *out = reinterpret_cast<int64_t *>(result->data);
  std::vector<int64_t> index(view->ndim, 0);
  for (int64_t i = 0; i < view->numel; ++i) {
    int64_t place = offset, position = 0;
    for (int d = 0; d < view->ndim; ++d) place += index[d] * view->strides()[d];
    bool inside = place >= 0;
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
      const int64_t stride = std::max<int64_t>(base->strides()[*d], 1), step = place / stride;
      inside = inside && step < base->sizes()[*d];
      place -= step * stride;
      position += step * logical[*d];
    }
    if (inside && place == 0) {
      out[i] = position;
    } else if (outside >= 0) {
      out[i] = outside;
    } else {
      PyErr_SetString(PyExc_RuntimeError,
                      "as_strided: cannot differentiate a view that reads memory outside of its base tensor");
      return {};
    }
    for (int d = view->ndim - 1; d >= 0 && ++index[d] == view->sizes()[d]; --d) index[d] = 0;
  }
  return result;
}

TensorRef tensor_places(const Meta *m, int64_t offset) {
  TensorRef result = tensor_contiguous(DType::Int64, 0, {m->numel}, false);
  if (!result) return {};
  int64_t *out = reinterpret_cast<int64_t *>(result->data);
  std::vector<int64_t> index(m->ndim, 0);
  for (int64_t i = 0; i < m->numel; ++i) {
    out[i] = offset;
    for (int d = 0; d < m->ndim; ++d) out[i] += index[d] * m->strides()[d];
    for (int d = m->ndim - 1; d >= 0 && ++index[d] == m->sizes()[d]; --d) index[d] = 0;
  }
  return result;
}

}  // namespace rushlight
