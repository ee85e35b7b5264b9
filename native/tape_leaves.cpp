// Gradients that arrive at leaves.
#include <thread>

#include "engine.h"

namespace rushlight {
namespace {

// One thread at a time adds to a leaf: operators release the GIL. A forked child does not wait for a thread that it
// lacks.
class LeafLock {
 public:
  explicit LeafLock(Node *node) : node_(node) {
    const unsigned long me = PyThread_get_thread_ident();
    if (node_->accumulating_forks != fork_count()) node_->accumulating = 0;
    while (node_->accumulating && node_->accumulating != me) {  // a finalizer may come back to a leaf of this thread
      Py_BEGIN_ALLOW_THREADS
      std::this_thread::yield();
      Py_END_ALLOW_THREADS
    }
    previous_ = node_->accumulating;
    node_->accumulating = me;
    node_->accumulating_forks = fork_count();
  }
  ~LeafLock() { node_->accumulating = previous_; }
  LeafLock(const LeafLock &) = delete;

 private:
  Node *node_;
  unsigned long previous_;
};

// May a gradient in this layout become the leaf's .grad? Strides must be the leaf's if the leaf is dense.
bool suits_leaf(const Meta *gradient, const Meta *leaf) {
  if (!(leaf->flags & kDense)) return gradient->contiguous();
  if (!(gradient->flags & kDense)) return false;
  for (int d = 0; d < leaf->ndim; ++d) {
    if (leaf->sizes()[d] > 1 && leaf->strides()[d] != gradient->strides()[d]) return false;
  }
  return true;
}

TensorRef first_gradient(Tensor *leaf, TensorRef g) {
  if (native_arithmetic(g.get())) {
    if (exclusively_owned(g.get()) && suits_leaf(g->meta, leaf->meta)) return g;
    return tensor_copy(g.get(), leaf->meta);
  }
  if (suits_leaf(g->meta, leaf->meta) || !tensor_exact(as_object(g.get()))) {
    return call_operator("clone", {as_object(g.get())});
  }
  TensorRef copy = tensor_shaped(g->meta->dtype, leaf->meta, false);
  return copy ? call_operator("copy_", {as_object(copy.get()), as_object(g.get())}) : TensorRef();
}

}  // namespace

bool exclusively_owned(const Tensor *t) {
  return Py_REFCNT(t) == 1 && t->storage->references == 1 && !t->storage->owner && !t->storage->readonly &&
         !t->autograd && !t->weakrefs && !t->dict && t->meta->flags & kDense;
}

bool accumulate_leaf(Node *node, TensorRef g) {
  if (!node->leaf || !g) return true;
  TensorRef leaf = TensorRef::borrow(node->leaf);
  if (tape_grad_fn(leaf.get())) {
    PyErr_Format(PyExc_RuntimeError,
                 "leaf variable has been moved into the graph interior: the tensor of shape %s was written with the "
                 "result of an operator after it had been used; write under no_grad()",
                 format_ints(leaf->meta->sizes(), leaf->meta->ndim).c_str());
  }
  if (PyErr_Occurred()) return false;
  if (!requires_grad(leaf.get())) return true;  // requires_grad_(False) since
  LeafLock lock(node);
  Autograd *a = leaf->autograd;
  if (!a->grad) {
    TensorRef first = first_gradient(leaf.get(), std::move(g));
    if (!first) return false;
    Py_XSETREF(a->grad, as_object(first.release()));
    return true;
  }
  ObjectRef present = ObjectRef::borrow(a->grad);
  const bool in_place = !thread_state.grad_enabled;
  TensorRef sum = call_operator(in_place ? "add_" : "add", {present.get(), as_object(g.get())});
  if (!sum) return false;
  if (!in_place) Py_XSETREF(a->grad, as_object(sum.release()));
  return true;
}

}  // namespace rushlight
