// The form of gradients: the shape, dtype and device of what they are the gradients of.
#include "engine.h"

namespace rushlight {
namespace {

bool can_expand(const Meta *from, const Meta *to) {
  if (from->ndim > to->ndim) return false;
  const int lead = to->ndim - from->ndim;
  for (int d = 0; d < from->ndim; ++d) {
    if (from->sizes()[d] != 1 && from->sizes()[d] != to->sizes()[lead + d]) return false;
  }
  return true;
}

}  // namespace

const Meta *expected_meta(const Node *node, uint32_t index) {
  if (node->kind == NodeKind::Accumulate) return node->leaf ? node->leaf->meta : nullptr;
  return index < node->metas.count ? node->metas.items[index] : nullptr;
}

bool conform(TensorRef &gradient, const Node *to, uint32_t output, const char *from, size_t index) {
  const Meta *expected = expected_meta(to, output);
  if (!expected) return true;
  const DType dtype = to->kind == NodeKind::Accumulate ? gradient_dtype(to->leaf, gradient->meta->dtype)
                                                       : expected->dtype;
  if (gradient->meta == expected && dtype == expected->dtype) return true;
  if (!same_sizes(gradient->meta, expected)) {
    if (!can_expand(expected, gradient->meta)) {
      PyErr_Format(PyExc_RuntimeError,
                   "Function %s returned an invalid gradient at index %zu - got %s but expected shape compatible "
                   "with %s", from, index, shape_of(gradient->meta).c_str(), shape_of(expected).c_str());
      return false;
    }
    ObjectRef sizes(int_tuple(expected->sizes(), expected->ndim));
    gradient = sizes ? call_operator("sum_to_size", {as_object(gradient.get()), sizes.get()}) : TensorRef();
    if (!gradient) return false;
  }
  if (gradient->meta->device != expected->device) {
    PyErr_Format(PyExc_RuntimeError, "Function %s returned an invalid gradient at index %zu - its device is not that "
                 "of the value it is the gradient of", from, index);
    return false;
  }
  if (is_complex(gradient->meta->dtype) && !is_complex(dtype)) {
    gradient = call_operator("real", {as_object(gradient.get())});
  }
  if (gradient && gradient->meta->dtype != dtype) {
    gradient = call_operator("to", {as_object(gradient.get()), dtype_object(dtype)});
  }
  return bool(gradient);
}

// What operators return for a real value may be complex, its real part counts; users must not rely on it.
bool check_user_gradient(const Tensor *gradient, const Meta *expected) {
  if (!expected || !is_complex(gradient->meta->dtype) || is_complex(expected->dtype)) return true;
  PyErr_Format(PyExc_RuntimeError,
               "a gradient of dtype torch.%s was returned for a value of dtype torch.%s, but input_is_complex == "
               "grad_is_complex has to hold there; return its .real",
               dtype_name(gradient->meta->dtype), dtype_name(expected->dtype));
  return false;
}

}  // namespace rushlight
