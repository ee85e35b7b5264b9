// The gradients of a write into a view: of what was written, and of the base's former values.
#include <algorithm>

#include "small_vector.h"
#include "tape_apply.h"

namespace rushlight {
namespace {

bool check_part(Node *node, const Tensor *part, const Meta *view) {
  if (same_sizes(part->meta, view) && part->meta->dtype == view->dtype) return true;
  PyErr_Format(PyExc_RuntimeError, "Function %s returned an invalid gradient at index 0 - got %s but expected shape %s",
               node_name(node), format_ints(part->meta->sizes(), part->meta->ndim).c_str(),
               format_ints(view->sizes(), view->ndim).c_str());
  return false;
}

// A write into a view while gradients arrive, with complex numbers as pairs if only one of base and view is complex.
struct WrittenView {
  CopySlices *slices;
  const Meta *base, *view;
  bool pairs;
  Wanted wanted;  // of the node's edges
};

// Which edges of the written operator are wanted: the view's former value goes to the base, the others follow it.
Wanted wanted_inside(const WrittenView &written) {
  if (written.wanted == kAllEdges) return kAllEdges;
  Wanted inside = 0;
  uint32_t next = 1;
  for (uint32_t k = 0; k < written.slices->function->edges.count; ++k) {
    const uint32_t outer = int32_t(k) == written.slices->self_edge ? 0 : next++;
    if (written.wanted >> edge_bit(outer) & 1) inside |= Wanted(1) << edge_bit(k);
  }
  return inside;
}

// Runs the operator that wrote. `former` becomes the gradient of the view's former value, null if it has none.
bool apply_written(const WrittenView &written, TensorRef part, Gradients &results, TensorRef *former) {
  CopySlices *slices = written.slices;
  Ref<Node> function = Ref<Node>::borrow(slices->function);
  if (is_complex(slices->view_meta->dtype)) part = tensor_as_complex(part.get());
  if (!part) return false;
  SmallVector<Tensor *, 8> given(function->input_count);
  std::fill(given.begin(), given.end(), nullptr);
  given[slices->output] = part.get();
  results = Gradients(function->edges.count);
  if (!node_apply(function.get(), given.data(), results, wanted_inside(written))) return false;
  Tensor *own = slices->self_edge >= 0 ? results[slices->self_edge].get() : nullptr;
  if (!own) return true;
  if (!check_part(function.get(), own, slices->view_meta)) return false;
  *former = written.pairs ? tensor_as_real(own) : TensorRef::borrow(own);
  return bool(*former);
}

// Hands the gradients of the written operator on, except the one of the view's former value.
void forward_others(CopySlices *slices, Gradients &from, Gradients &to) {
  size_t next = 1;
  for (size_t k = 0; k < from.size(); ++k) {
    if (int32_t(k) != slices->self_edge) to[next++] = std::move(from[k]);
  }
}

bool copy_slices_natively(const WrittenView &written, Tensor *g, Gradients &inner, TensorRef *whole) {
  *whole = tensor_strided(written.base, false);
  if (!*whole) return false;
  copy_into(whole->get(), g);
  TensorRef region = tensor_alias(whole->get(), layout_at(written.view, written.slices->offset));
  TensorRef part = region ? tensor_copy(region.get(), written.view) : TensorRef(), former;
  if (!part || !apply_written(written, std::move(part), inner, &former)) return false;
  if (former) copy_into(region.get(), former.get());
  else fill_zero(region.get());
  return true;
}

bool copy_slices_by_operators(const WrittenView &written, Tensor *g, Gradients &inner, TensorRef *whole) {
  const Meta *base = written.base, *view = written.view;
  TensorRef positions = tensor_positions(base, view, written.slices->offset);
  TensorRef flat = positions ? reshape(g, {base->numel}) : TensorRef();
  ObjectRef dim(PyLong_FromLong(0));
  if (!flat || !dim) return false;
  TensorRef gathered = call_operator("gather", {as_object(flat.get()), dim.get(), as_object(positions.get())});
  TensorRef part = gathered ? reshape(gathered.get(), sizes_of(view)) : TensorRef(), former;
  if (!part || !apply_written(written, std::move(part), inner, &former)) return false;
  TensorRef source = former ? reshape(former.get(), {view->numel})
                            : tensor_contiguous(g->meta->dtype, g->meta->device, {view->numel}, true);
  if (!source) return false;
  TensorRef sum = call_operator("scatter", {as_object(flat.get()), dim.get(), as_object(positions.get()),
                                            as_object(source.get())});
  return sum && (*whole = reshape(sum.get(), sizes_of(base)));
}

}  // namespace

bool apply_copy_slices(Node *node, Tensor *given, Gradients &results, Wanted wanted) {
  CopySlices *slices = node->slices;
  if (!slices || !slices->function) return raise_twice();
  const bool pairs = mixes_parts(node->metas[0], slices->view_meta);
  const MetaRef base = meta_in(node->metas[0], pairs), view = meta_in(slices->view_meta, pairs);
  TensorRef g = !base || !view ? TensorRef() : pairs ? tensor_as_real(given) : TensorRef::borrow(given);
  if (!g) return false;
  const WrittenView written{slices, base.get(), view.get(), pairs, wanted};
  const bool native = native_arithmetic(g.get()) && g->meta->dtype == base->dtype && same_sizes(g->meta, base.get()) &&
                      never_overlaps(base.get()) && within(base.get(), view.get(), slices->offset);
  Gradients inner;
  TensorRef whole;
  const bool done = native ? copy_slices_natively(written, g.get(), inner, &whole)
                           : copy_slices_by_operators(written, g.get(), inner, &whole);
  if (!done) return false;
  forward_others(slices, inner, results);
  results[0] = is_complex(node->metas[0]->dtype) ? tensor_as_complex(whole.get()) : std::move(whole);
  return bool(results[0]);
}

}  // namespace rushlight
