// What the parts of computing a node's gradients share (tape_apply*.cpp).
#pragma once
#include "engine.h"

namespace rushlight {

bool raise_twice();  // the graph was freed: false, with an error set
TensorRef reshape(Tensor *t, const std::vector<int64_t> &sizes);
inline std::vector<int64_t> sizes_of(const Meta *m) { return {m->sizes(), m->sizes() + m->ndim}; }

// tape_apply_views.cpp
TensorRef view_gradient(Node *node, Tensor *const *given);
Layout layout_at(const Meta *m, int64_t offset);
// Does a view at this offset stay within the memory of a tensor laid out like `base`?
bool within(const Meta *base, const Meta *view, int64_t offset);
// A tensor's metadata, with complex numbers as pairs of real ones if `pairs`; empty with an error set.
MetaRef meta_in(Meta *meta, bool pairs);
// Is one of a base and its view complex and the other real?
inline bool mixes_parts(const Meta *base, const Meta *view) { return is_complex(base->dtype) != is_complex(view->dtype); }

// tape_apply_writes.cpp
bool apply_copy_slices(Node *node, Tensor *given, Gradients &results, Wanted wanted);

}  // namespace rushlight
