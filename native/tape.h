// The tape: a graph of nodes, each able to turn gradients of an operator's outputs into gradients of its inputs.
// tape.cpp records, tape_views.cpp keeps the history of views, tape_node.cpp owns the Node type, tape_saved.cpp packs
// and unpacks saved values, tape_apply*.cpp compute a node's gradients, tape_leaves.cpp keeps those of leaves,
// engine*.cpp run the backward pass, tape_python.cpp is the interface to Python.
#pragma once
#include <memory>

#include "tensor.h"

namespace rushlight {

// ---------------------------------------------------------------- small owning helpers

// A strong reference to a Python object (Tensor and Node included), released at the end of the scope.
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T *owned) : pointer_(owned) {}
  static Ref borrow(T *object) {
    Py_XINCREF(reinterpret_cast<PyObject *>(object));
    return Ref(object);
  }
  Ref(Ref &&other) noexcept : pointer_(other.release()) {}
  Ref &operator=(Ref &&other) noexcept {
    T *old = pointer_;
    pointer_ = other.release();
    Py_XDECREF(reinterpret_cast<PyObject *>(old));
    return *this;
  }
  Ref(const Ref &) = delete;
  Ref &operator=(const Ref &) = delete;
  ~Ref() { Py_XDECREF(reinterpret_cast<PyObject *>(pointer_)); }
  T *get() const { return pointer_; }
  T *operator->() const { return pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }
  T *release() {
    T *result = pointer_;
    pointer_ = nullptr;
    return result;
  }

 private:
  T *pointer_ = nullptr;
};
using TensorRef = Ref<Tensor>;

// A strong reference to metadata.
struct MetaRelease {
  void operator()(Meta *meta) const { meta_decref(meta); }
};
using MetaRef = std::unique_ptr<Meta, MetaRelease>;
using ObjectRef = Ref<PyObject>;

inline PyObject *as_object(const Node *node) { return reinterpret_cast<PyObject *>(const_cast<Node *>(node)); }

// A fixed number of trivial elements, zeroed; the first N live inside the node.
template <class T, uint32_t N>
struct InlineArray {
  T *items;
  uint32_t count;
  T inlined[N];
  bool allocate(uint32_t n) {
    count = 0;
    items = n <= N ? inlined : static_cast<T *>(PyMem_Calloc(n, sizeof(T)));
    if (!items) return false;
    count = n;
    for (uint32_t i = 0; i < n && i < N; ++i) items[i] = T{};
    return true;
  }
  void release() {
    if (items && items != inlined) PyMem_Free(items);
    items = nullptr;
    count = 0;
  }
  T *begin() { return items; }
  T *end() { return items + count; }
  T &operator[](size_t i) { return items[i]; }
};

// ---------------------------------------------------------------- nodes

enum class NodeKind : uint8_t { Accumulate, Recipe, View, CopySlices, Python, Overwrite };

// Hooks and metadata of one node, allocated when first needed.
struct NodeExtras {
  struct TensorHooks {        // of the tensor that is output `index` of the node
    uint32_t index;
    PyObject *hooks;          // dict of functions, or null
    PyObject *retained;       // weak reference to a tensor whose .grad is to be set, or null
  };
  std::vector<TensorHooks> tensors;
  PyObject *before = nullptr;    // dicts of functions: Node.register_prehook,
  PyObject *after = nullptr;     // Node.register_hook
  PyObject *metadata = nullptr;  // dict
};

// What a write to a view does to the history of its base: gradients of the written region go through `function` (the
// node of the operator that wrote), the others go on to the base's former history.
struct CopySlices {
  Node *function;          // strong; null once a backward pass that does not keep the graph has used it
  std::vector<uint32_t> places;  // of the node's edges but the first, among the operands of the function
  uint32_t operands;
  uint32_t output;         // which output of `function` the written view is
  int32_t self_edge;       // edge of `function` that leads to the view's former value, or -1
  Meta *view_meta;
  int64_t offset;          // elements, from the base's first element to the view's
};

struct Node {
  PyObject_HEAD
  union {
    uint64_t sequence;     // later nodes run first
    Node *next_dying;      // while it is being deallocated
  };
  NodeKind kind;
  ViewKind view_kind;      // View
  bool released;           // saved values were freed by a backward pass
  bool shared;             // a CopySlices node runs it too: saved values live as long as the node
  bool custom;             // Python: an instance of a FunctionNode class, without callable
  uint32_t accumulating_forks;  // Accumulate: fork_count() of the process whose thread `accumulating` is
  unsigned long accumulating;  // Accumulate: the thread that is adding to the leaf's gradient, or 0
  uint32_t input_count;    // gradients taken: outputs, then hidden values
  InlineArray<Edge, 3> edges;
  InlineArray<Meta *, 1> metas;  // of the outputs (CopySlices: of the base)
  std::vector<SavedValue> saved;
  std::vector<int64_t> arguments;  // View: see views.cpp
  union {
    Recipe *recipe;
    Meta *base_meta;         // View
    Tensor *leaf;            // Accumulate, strong; null after the garbage collector broke a cycle
    PyObject *callable;      // Python
    CopySlices *slices;
  };
  NodeExtras *extras;
};

// What users see of a node's edges: an operand that needs no gradient has a place among them, too.
inline uint32_t operand_count(const Node *node) {
  if (node->kind == NodeKind::Recipe && node->recipe) return uint32_t(node->recipe->operands);
  return node->kind == NodeKind::CopySlices && node->slices ? node->slices->operands : node->edges.count;
}
inline uint32_t operand_of(const Node *node, uint32_t edge) {
  if (node->kind == NodeKind::Recipe && node->recipe) return uint32_t(node->recipe->places[edge]);
  return node->kind == NodeKind::CopySlices && node->slices && edge ? node->slices->places[edge - 1] : edge;
}

extern PyTypeObject NodeType;
inline bool node_check(PyObject *o) { return PyObject_TypeCheck(o, &NodeType); }
const char *node_name(const Node *node);    // "AddBackward0"
inline uint32_t node_outputs(const Node *node) {  // the gradients taken, without those of hidden values
  return node->input_count - (node->kind == NodeKind::Recipe && node->recipe ? uint32_t(node->recipe->hidden) : 0);
}

// tape_node.cpp
PyTypeObject *node_type(const char *name);  // borrowed from a table of all types; null with an error set
Node *node_new(NodeKind kind, PyTypeObject *type, uint32_t edges, uint32_t inputs);
void node_initialize(Node *node, NodeKind kind, uint32_t inputs);  // all but the edges
NodeExtras *node_extras(Node *node);          // allocated at the first call; null with an error set
void node_release_saved(Node *node);
bool node_holds_tensors(const Node *node);    // among its saved values, which else are numbers
void recipe_decref(Recipe *recipe);
int init_node(PyObject *module);

// tape.cpp
bool edge_of(Tensor *t, Edge *edge);          // the edge that gradients of t take; false with an error set
int tape_set_history(Tensor *t, Node *node, uint32_t index);  // also moves what retain_grad() asked for
int move_retained(Tensor *t, Node *to, uint32_t index);       // that alone
// Output `index` of the node was written into t, to whose former value edge `self_edge` of the node leads (-1: none).
int tape_write_history(Tensor *t, Node *node, uint32_t index, int32_t self_edge);
NodeExtras::TensorHooks *tensor_hooks(Node *node, uint32_t index);  // added if absent; null with an error set
Node *accumulator_of(Tensor *leaf);           // new reference

// tape_views.cpp
extern constinit thread_local PyObject *write_observer;  // called with a tensor before it is written, or null
int tensor_detach_in_place(Tensor *t);                     // Tensor.detach_(); -1 with an error set
// The tensor becomes what `view`, a view of it, is: for transpose_() and the like. The view's node is renamed.
int tensor_take_view(Tensor *t, Tensor *view, const char *name);

// tape_saved.cpp
// Where the gradient of a saved value goes that is no input: to the node itself, as that of its output number `index`,
// or where the node's input goes that the value is a copy of; nowhere.
Edge saved_edge(Node *node, uint32_t index);
extern const char kFreed[];                                     // what reading them says after they were freed
void saved_release(SavedValue &value);
PyObject *saved_unpack(Node *node, const SavedValue &value);  // new reference; null with an error set
bool saved_pack_check(const SavedValue &value);                 // may it be saved at all?

// tape_attributes.cpp: node._saved_NAME and node._raw_saved_NAME
PyObject *node_attribute(PyObject *node, PyObject *name);
PyObject *raw_saved_tensor(Node *node, size_t place);           // a handle on what the node saved there
int init_attributes(PyObject *module);

// tape_layout.cpp: tensors made by layout arithmetic, outside the tape
TensorRef tensor_alias(Tensor *t, const Layout &layout);        // layout.offset is relative to t's first element
TensorRef tensor_strided(const Meta *like, bool zero);          // own storage, exactly these sizes and strides
TensorRef tensor_contiguous(DType dtype, int device, const std::vector<int64_t> &sizes, bool zero);
TensorRef tensor_ones(const Meta *like);
// Flat indices of the view's elements; `outside`: the index of those that are no elements of the base, -1: an error.
TensorRef tensor_positions(const Meta *base, const Meta *view, int64_t offset, int64_t outside = -1);
TensorRef tensor_places(const Meta *m, int64_t offset);  // of the elements in memory, counted in elements
TensorRef tensor_shaped(DType dtype, const Meta *like, bool zero);  // the layout of `like` if dense, else contiguous
TensorRef tensor_copy(Tensor *t, const Meta *like);             // likewise
void copy_into(Tensor *to, const Tensor *from);                 // of the same dtype and sizes
void fill_zero(Tensor *t);
// Complex numbers as pairs of real ones along a new last dim, and the reverse; what is so already stays.
TensorRef tensor_as_real(Tensor *t);
TensorRef tensor_as_complex(Tensor *t);
bool never_overlaps(const Meta *m);
bool same_sizes(const Meta *a, const Meta *b);
bool native_arithmetic(const Tensor *t);       // may layout arithmetic stand in for operators?

// tape_apply.cpp
using Gradients = std::vector<TensorRef>;
// A bit for each edge whose gradient somebody wants; the last stands for all further edges, too.
using Wanted = uint64_t;
constexpr Wanted kAllEdges = ~Wanted(0);
constexpr uint32_t edge_bit(uint32_t edge) { return edge < 63 ? edge : 63; }
// Gradients of the node's inputs, one per edge, null where undefined. `given`: input_count borrowed tensors or null.
bool node_apply(Node *node, Tensor *const *given, Gradients &results, Wanted wanted = kAllEdges);
bool accumulate_slice(Node *node, Tensor *gradient, Tensor *buffer);  // Slice, Select: add to a buffer of the base
TensorRef call_operator(const char *name, std::initializer_list<PyObject *> arguments);  // must return a tensor
bool accumulate_leaf(Node *node, TensorRef gradient);
bool exclusively_owned(const Tensor *t);       // may its memory be reused? `t` is the caller's only reference
void node_release(Node *node);                  // what only one backward pass needs

// engine.cpp
struct BackwardOptions {
  bool keep_graph, create_graph, allow_unreachable, accumulate;
};
PyObject *run_backward(PyObject *tensors, PyObject *gradients, PyObject *inputs, BackwardOptions options);

int init_engine(PyObject *module);

// tape_tools.cpp
extern constinit thread_local PyObject *saved_hooks;  // (pack, unpack, those below or None), or null
extern constinit thread_local Node *running_node;     // borrowed; of the innermost backward pass
extern bool anomaly_mode;
// Hands a saved value to the pack hook; `t`: the tensor it came from, or null; `edge`: where its gradients go;
// `hooks`: (pack, unpack, ...).
bool saved_pack(SavedValue &value, Tensor *t, const Edge *edge, PyObject *hooks);
PyObject *saved_unpack_hooked(Node *node, const SavedValue &value);
bool anomaly_record(Node *node);                                  // notes the stack; false with an error set
void anomaly_report(Node *node);
bool anomaly_check(Node *node, const Gradients &results);         // false with an error set if there are NaNs
PyObject *node_call(PyObject *self, PyObject *args, PyObject *keywords);
int init_tools(PyObject *module);

// tape_function.cpp
int init_function(PyObject *module);

// tape_hooks.cpp
int retain_gradient(Tensor *t);                                   // Tensor.retain_grad(); -1 with an error set
int retain_gradient_at(Tensor *t, Node *node, uint32_t index);    // that output of the node is the tensor
int keep_hooks(Tensor *t);        // before detach_(): what was registered goes on if the tensor becomes a leaf
PyObject *new_hooks();                                            // an empty dict of hooks
PyObject *add_hook(PyObject *hooks, PyObject *function);          // a handle that removes it again
bool run_tensor_hooks(Node *node, Tensor **gradients);            // replaces gradients; false with an error set
bool run_node_prehooks(Node *node, Tensor **gradients);
bool run_node_hooks(Node *node, Gradients &results, Tensor *const *given);
bool run_post_accumulate_hooks(Tensor *leaf);
int init_hooks(PyObject *module);

// Sets this thread's grad mode for a scope.
class GradMode {
 public:
  explicit GradMode(bool enabled);
  ~GradMode();
  GradMode(const GradMode &) = delete;

 private:
  bool previous_;
};
void set_grad_enabled(bool enabled);
void set_inference_mode(bool enabled);

}  // namespace rushlight
