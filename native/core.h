// Shared declarations of the native core. All functions need the GIL unless said otherwise.
#pragma once
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rushlight {

// ---------------------------------------------------------------- dtypes (codes as in dtypes.py)

enum class DType : uint8_t {
  Bool, UInt8, Int8, Int16, Int32, Int64, UInt16, UInt32, UInt64,
  Float16, BFloat16, Float32, Float64, Complex32, Complex64, Complex128, Count
};
int64_t itemsize(DType dtype);
PyObject *dtype_object(DType dtype);                 // borrowed; registered by dtypes.py
bool dtype_from_object(PyObject *object, DType *out);  // false (no error set) if not a dtype
inline bool is_floating(DType d) { return d >= DType::Float16 && d <= DType::Float64; }
inline bool is_complex(DType d) { return d >= DType::Complex32 && d <= DType::Complex128; }
DType real_of(DType dtype);  // of the parts of a complex type; other types stay
DType complex_of(DType dtype);  // with parts of this type; other types than float16, float32 and float64 stay
inline bool is_differentiable(DType d) { return d >= DType::Float16; }

// ---------------------------------------------------------------- metadata (interned, reference counted)

enum MetaFlag : uint8_t {
  kContiguous = 1,    // row-major without gaps (sizes 1 ignored; empty tensors count)
  kDense = 2,         // non-overlapping and dense in some order of the dims
  kOverlapping = 4,   // certainly overlapping: a size > 1 with stride 0
};

struct Meta {
  uint64_t hash;
  int64_t references;
  int64_t numel;
  uint64_t structure;  // interned id of the layout class: dtype, rank, 0/1/other sizes, flags
  int32_t ndim;
  DType dtype;
  uint8_t device;      // 0 cpu, 1 meta
  uint8_t flags;       // MetaFlag
  int64_t dims[1];     // sizes[ndim], then strides[ndim] in elements
  const int64_t *sizes() const { return dims; }
  const int64_t *strides() const { return dims + ndim; }
  bool contiguous() const { return flags & kContiguous; }
};
Meta *meta_intern(DType dtype, int device, int ndim, const int64_t *sizes, const int64_t *strides);  // new reference
Meta *meta_contiguous(DType dtype, int device, int ndim, const int64_t *sizes);                      // new reference
inline void meta_incref(Meta *m) { ++m->references; }
void meta_free(Meta *m);
inline void meta_decref(Meta *m) { if (--m->references == 0) meta_free(m); }
// Whether the dims lie without gaps in the order of a memory format; -1: the format says no order, or it is none.
int meta_in_format(const Meta *m, PyObject *format);
// The same for what to(memory_format=...) leaves as it is, whatever gaps it has.
int meta_suggests_format(const Meta *m, PyObject *format);
// Whether the strides of a layout of 4 or 5 dims grow from the channels (dim 1) outwards.
bool suggests_channels_last(const int64_t *sizes, const int64_t *strides, int ndim);
// Lowest and one-past-highest byte touched, relative to the first element's address.
void meta_extent(const Meta *m, int64_t *low, int64_t *high);

// ---------------------------------------------------------------- storage

struct Storage {
  char *data;
  size_t bytes;
  int64_t references;
  uint32_t version;             // grows with each write; shared by all views
  bool readonly;
  void (*release)(Storage *);   // frees data (not the struct); may be null
  PyObject *owner;              // kept alive for borrowed memory (NumPy, DLPack); may be null
  bool inference = false;       // made in inference mode (storage_new sets it from thread_state.inference)
  Storage *shared = nullptr;    // strong: these are that storage's bytes, with versions of their own (x.data)
};
Storage *storage_new(size_t bytes);  // from the caching allocator; sets MemoryError-like error and returns null
Storage *storage_borrow(void *data, size_t bytes, PyObject *owner, bool readonly);
Storage *storage_share(Storage *s, uint32_t version);  // the same bytes, counting versions from there
void storage_free(Storage *s);
inline void storage_incref(Storage *s) { ++s->references; }
inline Storage *storage_memory(Storage *s) { return s && s->shared ? s->shared : s; }  // equal: the same bytes
inline void storage_decref(Storage *s) { if (--s->references == 0) storage_free(s); }

// ---------------------------------------------------------------- tensor

struct Node;
struct Tensor;

// How a view came about, if writing to it is an error while operators are recorded.
enum class ViewOrigin : uint8_t { Plain, NoGrad, Inference, SeveralViews, Function };

struct Autograd {               // allocated when a tensor first needs it
  PyObject *grad;               // Tensor or null
  Node *grad_fn;                // strong or null (leaf)
  uint32_t output_index;        // which output of grad_fn
  bool requires_grad;           // set on leaves
  bool retains_grad;
  Tensor *base;                 // strong; set on differentiable views
  uint32_t view_version;        // views: storage version for which grad_fn holds; see tape_grad_fn
  ViewOrigin origin;
  int16_t grad_dtype;           // of .grad: a DType, kOwnDType or kAnyDType
  Node *accumulator;            // weak: cleared by the node when it dies
  PyObject *hooks;              // leaves: dict of hook dicts, or null
};
constexpr int16_t kOwnDType = 0, kAnyDType = -1;  // others: DType + 1
// The gradient function to read instead of autograd->grad_fn: a view whose base was written since gets a new one.
// Borrowed; null for leaves (and, with an error set, when memory runs out or the history cannot be told).
Node *tape_grad_fn(Tensor *t);

struct Tensor {
  PyObject_HEAD
  Meta *meta;
  Storage *storage;
  char *data;                   // storage->data + offset in bytes
  Autograd *autograd;           // null for most
  PyObject *weakrefs;
  PyObject *dict;
};

extern PyTypeObject TensorType;
extern PyTypeObject *ParameterType;  // set from Python; an exact Parameter takes the fast path too
extern int dual_levels;                // levels of forward mode that were entered, in all threads
PyObject *tensor_tangent(Tensor *t);   // in forward mode; borrowed, null if there is none
// A tensor for which natively all is known: operators need not ask Python about it.
inline bool tensor_exact(PyObject *o) {
  const bool plain = Py_TYPE(o) == &TensorType || Py_TYPE(o) == ParameterType;
  return plain && (!dual_levels || !tensor_tangent(reinterpret_cast<Tensor *>(o)));
}
inline bool tensor_check(PyObject *o) {
  return Py_TYPE(o) == &TensorType || Py_TYPE(o) == ParameterType || PyObject_TypeCheck(o, &TensorType);
}
Tensor *tensor_new(Meta *meta, Storage *storage, char *data);      // takes both references over; null on error
Tensor *tensor_empty(Meta *meta);                                    // takes the reference over
inline bool requires_grad(const Tensor *t) {
  const Autograd *a = t->autograd;
  return a && (a->requires_grad || a->grad_fn || (a->base && requires_grad(a->base)));
}

// For strides and offsets along which no second element is ever addressed: these may be out of range.
inline int64_t wrapping_product(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }
inline int64_t wrapping_sum(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
// Also where there is no memory: tensors without elements, or on the meta device.
inline char *offset_by(const char *data, int64_t bytes) {
  return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(data) + uint64_t(bytes));
}

// Layout arithmetic: sizes, strides (elements) and offset (elements) of a view being built.
struct Layout {
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
};
Layout layout_of(const Meta *m);
bool layout_reshape(Layout &layout, const int64_t *sizes, int ndim);  // false: needs a copy; sizes hold no -1

// ---------------------------------------------------------------- thread state (per Python thread)

struct ThreadState {
  bool grad_enabled = true;     // are operators recorded? Grad mode is on, inference mode is off
  bool grad_mode = true;
  bool inference = false;
  uint32_t mode_bits = 1;       // part of every key: bit 0 grad mode, bit 1 inference; autocast, active modes ...
};
#ifdef __ELF__
__attribute__((tls_model("initial-exec")))  // read in every call: no function call for its address
#endif
extern constinit thread_local ThreadState thread_state;  // tape.cpp
extern uint32_t global_mode_bits;  // default dtype and the like, part of every key

// ---------------------------------------------------------------- tape (tape.cpp)

struct Edge {
  Node *node;      // strong, or null: no gradient wanted
  uint32_t index;  // which of the node's gradients
};

struct SavedValue {
  enum Kind : uint8_t { Input, Output, Hidden, Object } kind;
  Tensor *tensor = nullptr;     // Input: the tensor itself when it is a leaf or has another grad_fn; else null
  PyObject *object = nullptr;   // Object: number or size
  Meta *meta = nullptr;         // Output, Hidden: rebuilt from these
  Storage *storage = nullptr;
  char *data = nullptr;
  uint32_t version = 0;         // storage version when saved
  uint32_t output_index = 0;    // Output, Hidden: where its gradient goes under create_graph, see saved_edge()
  bool computed = false;        // Input: the tensor was no leaf
};

struct Recipe {                 // shared by all nodes that one plan creates
  int64_t references;
  PyObject *make;         // callable: the wanted ones of grad_inputs, or None for all -> Operator for their gradients
  std::vector<std::pair<uint64_t, PyObject *>> operators;  // those made so far, by the edges that are wanted
  std::string name;             // e.g. "AddBackward0"
  // kind: 0 input, 1 output, 2 hidden buffer, 3 scalar, 4 int slot, 5 hidden buffer that no gradient flows through,
  // 6 hidden copy of the input number `edge` of the grad_inputs
  struct Saved { uint8_t kind; int index; int edge = -1; };
  std::vector<Saved> saved;
  std::vector<std::string> saved_names;  // of the arguments, "result", or empty
  std::vector<int> grad_inputs;   // tensor inputs that get a gradient
  std::vector<int> places;        // where these stand among the operands that users see, with or without gradient
  int operands = 0;               // the number of those
  std::vector<int> grad_outputs;  // outputs that are differentiable
  int hidden = 0;                 // number of hidden outputs, numbered after the grad_outputs
  PyTypeObject *node_type = nullptr;  // set by the tape when it first records
};

// Attach a node for one replay. `inputs`: the plan's tensor inputs; `outputs`: its outputs; `saved` is filled by the
// caller in the order of recipe->saved (ownership moves). In-place outputs (outputs[j] == inputs[i]) are rebased.
// `edges`: where gradients of the recipe's grad_inputs go, taken before anything was written (ownership moves); empty if
// nothing was. Returns -1 with an error set.
int tape_record(Recipe *recipe, Tensor *const *inputs, Tensor *const *outputs, std::vector<SavedValue> &&saved,
                std::vector<Edge> &edges);
// What every in-place operator must check before writing: leaf rules, views, inference tensors. `recorded`: does a
// tensor that the new content depends on require a gradient? -1 with an error set.
int tape_check_inplace(Tensor *t, const char *name, bool recorded);
// A view made natively: kind says how to turn a gradient of the view into one of the base tensor.
enum class ViewKind : uint8_t {
  Reshape, Permute, Transpose, T, Expand, Slice, Select, Unsqueeze, Squeeze, AsStrided, Real, Imag, AsReal, AsComplex,
  Unbind, Detach, Alias
};
int tape_record_view(ViewKind kind, Tensor *base, Tensor *view, const std::vector<int64_t> &arguments);
// An operator's output that aliases an input (after tape_record, if that is called): writes reach the base's history.
// `several`: it is one of the views that one call returned.
int tape_mark_view(Tensor *base, Tensor *view, bool several = false);
// The views that unbind(base, dim) returned.
int tape_record_unbind(Tensor *base, PyObject *views, int64_t dim);
// After a write that no recipe describes because the new values depend on nothing (zero_, fill_ with a number) or not
// differentiably (eq_): the tensor's former values get zeros, and so do `others`. Nothing happens unless one of them
// requires a gradient and grad mode is on.
int tape_overwrite(Tensor *t, const char *name, Tensor *const *others = nullptr, size_t count = 0);

// ---------------------------------------------------------------- operators and plans (operator.cpp, plan.cpp)

extern PyTypeObject OperatorType, PlanType, KernelType;
// Call an Operator with tensors, numbers, None; new reference.
PyObject *operator_call(PyObject *op, PyObject *const *args, size_t count);
// Python objects registered by name with _core.register(name, object), e.g. the "slice_backward" operator. Borrowed.
PyObject *registered(const char *name);

// ---------------------------------------------------------------- services (allocator.cpp, threads.cpp, code.cpp ...)

void *allocate(size_t bytes);                 // 64-byte aligned; null when over the limit or out of memory. No GIL needed.
void deallocate(void *pointer, size_t bytes);  // No GIL needed.
struct AllocatorStatistics { size_t in_use, cached, peak, limit, allocations, hits; };
AllocatorStatistics allocator_statistics();

int thread_count();
void set_thread_count(int count);
// Run task(context, begin, end) over [0, count) in chunks of at least `grain` on the pool; returns the OR of the results.
// Nested calls and calls in a forked child before the pool restarts run serially. No GIL needed.
int64_t parallel_for(int64_t count, int64_t grain, int64_t (*task)(void *, int64_t, int64_t), void *context);
uint32_t fork_count();                         // of this process's ancestors: what another count noted, another process did
int thread_index();                            // 0 for the caller, 1.. for pool threads
// This thread's scratch memory, grown on demand, 64-byte aligned: one for launches and one for products inside them.
enum class ScratchUse : uint8_t { Launch, Product, Count };
char *thread_scratch(size_t bytes, ScratchUse use = ScratchUse::Launch);

struct Code { void *entry; size_t bytes; int64_t references; };
Code *code_load(const void *blob, size_t bytes, size_t entry);  // copy a blob into the arena; null with an error set
void code_release(Code *code);

// C = A B for one batch element; lda etc. in elements; transposition as in BLAS; dtype float32/64, complex64/128.
using GemmFunction = void (*)(DType, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                              const void *a, int64_t lda, const void *b, int64_t ldb, void *c, int64_t ldc);
void gemm(DType, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
          const void *b, int64_t ldb, void *c, int64_t ldc);   // row-major. No GIL needed once gemm_load() was called
// The same for several pieces of the inner dim: adds to C if `accumulate`.
void gemm_add(DType, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
              const void *b, int64_t ldb, bool accumulate, void *c, int64_t ldc);
int gemm_load();                               // loads OpenBLAS; -1 with an error set

// Next outputs of generator `index` (0 is the default generator): uint32, or uint64 with the high word drawn first.
struct Generator;
extern PyTypeObject GeneratorType;
void generator_fill(PyObject *generator, void *out, int64_t count, int bits);

// Strided copy of equal dtypes (any layouts of one shape). No GIL needed.
void copy_strided(int64_t item, int ndim, const int64_t *sizes, char *to, const int64_t *to_strides, const char *from,
                  const int64_t *from_strides);   // strides in bytes

// A fast path that an Operator tries first (native views). Returns null with no error set for "not mine, plan it".
using NativeFunction = PyObject *(*)(PyObject *const *args, size_t count, PyObject *keyword_names);
NativeFunction native_function(const char *name);   // views.cpp; null if there is none

// Each source file adds its part to the module: returns -1 with an error set.
int init_dtypes(PyObject *module);
int init_services(PyObject *module);   // allocator, threads, code arena, BLAS, generator
int init_tensor(PyObject *module);
int init_views(PyObject *module);
int init_interop(PyObject *module);
int init_tape(PyObject *module);
int init_operator(PyObject *module);
int init_plan(PyObject *module);
int init_module_base(PyObject *module);

}  // namespace rushlight
