// Plans, their instances for exact layouts, and kernels. See "Plans" in docs/design.md.
#pragma once
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>

#include "signature.h"

namespace rushlight {

// ---------------------------------------------------------------- kernels (kernel.cpp)

using KernelEntry = int64_t (*)(char *const *pointers, const int64_t *sizes, const int64_t *strides,
                                const int64_t *scalars, const int64_t *ints, char *scratch, void *const *table);
enum KernelStatus : int64_t {
  kIndexOutOfRange = 1, kDivisionByZero = 2,
  kOutOfMemory = int64_t(1) << 62,  // from the core: no scratch memory
};

struct KernelOperand {
  enum Role : uint8_t { Read, Write, Base, Coordinate } role;
  bool along_parallel, along_reduced;  // its level
  int64_t itemsize;                    // 1 for a coordinate: its strides count steps
};

// An owned reference to machine code.
class CodeReference {
 public:
  CodeReference() = default;
  explicit CodeReference(Code *owned) : code_(owned) {}
  CodeReference(CodeReference &&other) noexcept : code_(std::exchange(other.code_, nullptr)) {}
  CodeReference &operator=(CodeReference &&other) noexcept {
    std::swap(code_, other.code_);
    return *this;
  }
  ~CodeReference() {
    if (code_) code_release(code_);
  }
  CodeReference share() const {
    ++code_->references;
    return CodeReference(code_);
  }
  KernelEntry entry() const { return reinterpret_cast<KernelEntry>(code_->entry); }

 private:
  Code *code_ = nullptr;
};

struct KernelVariant {
  CodeReference code;
  int64_t scratch;  // bytes per reduced element
};

// A loop nest and the machine code of its variants; shared by the plans that contain it.
struct Kernel {
  std::vector<KernelOperand> operands;
  int parallel, reduced;  // dims of the domain
  int scalars, ints;
  int64_t scratch;        // bytes per reduced element
  bool ordered;           // a scan: one reduced dim, passed in order
  bool splittable;        // its reductions may be split into "partial" and "finish"
  double cost;            // of one point, relative to an addition
  std::unordered_map<std::string, KernelVariant> variants;
};
struct KernelObject {
  PyObject_HEAD
  Kernel *kernel;
  PyObject *nest, *compile;
};
// The variant's code, compiled if need be (runs Python). Throws Failure.
const KernelVariant &kernel_variant(KernelObject *object, char vector, const std::string &classes, int loops,
                                    const char *split);
extern std::vector<void *> kernel_functions;  // the table of external functions
int init_kernel(PyObject *module);  // called by init_plan

// ---------------------------------------------------------------- plans (plan.cpp, plan_type.cpp)

enum class IntOperation : uint8_t { Add, Sub, Mul, FloorDiv, Mod, Max, Min, Eq, Ne, Lt, Le, Gt, Ge };
bool evaluate(IntOperation operation, int64_t a, int64_t b, int64_t *result);  // false: overflow, division by 0

struct IntSource {
  enum Kind : uint8_t { Size, Stride, Int } kind;
  int index, dim;  // Int: only index
};
struct IntExpression {
  IntOperation operation;
  int a, b;  // slots
};
struct ScalarGuard {
  IntOperation operation;
  int scalar;
  bool floating;
  int64_t integer;
  double number;
  bool is_nan;  // the scalar must be NaN; the rest does not count
};

struct ChainStep {
  // Copy: in the order of dims that elementwise results have; RowMajor: a copy, too. These say how layouts follow from
  // what is never stored.
  enum Kind : uint8_t { Permute, Expand, Reshape, Slice, Flip, Window, Copy, RowMajor } kind;
  std::vector<int> dims;   // Permute, Flip: dims; Slice, Window: the dim
  std::vector<int> slots;  // Expand, Reshape: sizes; Slice: start, step, length; Window: length, step, taps, spacing
};
struct View {
  int buffer;
  std::vector<ChainStep> chain;
};

struct Buffer {
  enum Kind : uint8_t { Contiguous, Like, Order, Channels } kind;
  DType dtype;
  std::vector<int> layout;  // Like, Channels: views; Order: dims from outermost to innermost
  std::vector<int> sizes;   // slots
  bool output = false;      // becomes a tensor that the caller or the tape sees
  bool storage = false;     // needs a Storage of its own: saved, or seen by a host step
  int first_step = -1, last_step = -1;
};

struct StepOperand {
  int view;              // -1: a coordinate
  std::vector<int> map;  // domain dim -> dim of the view or -1; a coordinate has 0 at its dim, -1 elsewhere
};
// How the dims of `source` and the indices lie in `out`: see scatter.cpp.
struct ScatterShape {
  std::vector<int> dims;   // per index: the dim of out that it numbers
  std::vector<int> walks;  // per dim of source: the dim of out that it follows, or -1
  bool add = false, wrap = false;  // wrap: negative indices count from the end
};
struct KernelInt {
  int slot;       // -1: the stride in bytes of a view's dim
  int view, dim;
};
struct Step {
  enum Kind : uint8_t { RunKernel, Gemm, Contract, Spread, Scatter, Random, Host, Copy } kind;
  PyObject *object = nullptr;     // owned: Kernel, host function or generator
  std::vector<int> domain;        // RunKernel: slots
  std::vector<StepOperand> operands;
  std::vector<int> scalars;       // RunKernel: words
  std::vector<KernelInt> ints;
  std::vector<int> views;         // Gemm, Contract: a, b, out; Spread: a, b, whole, windows; Copy: from, to;
                                  // Scatter: out, source, indices; Host: arguments
  ScatterShape scatter;
  int inner = 0;                  // Contract: how many dims are summed over
  int buffer = -1, bits = 0;      // Random
};

struct Output {
  enum Kind : uint8_t { None, Buffer, Input, View } kind;
  int index;
};
enum class ResultKind : uint8_t { Single, Tuple, List, None, Callable };

struct WrongIndex {
  int64_t value = 0;
  int dim = -1;
  int64_t size = 0;
};
struct StatusError {
  int64_t bit;
  PyObject *type, *message;  // owned; message: a string or a callable that returns one
};

struct Plan {
  ~Plan();
  std::vector<int64_t> constants;
  std::vector<IntSource> sources;
  std::vector<IntExpression> program, guards;
  std::vector<ScalarGuard> scalar_guards;
  int inputs = 0, device = -1;    // device -1: that of the inputs
  bool requires_grad = false;     // the result is a new leaf
  std::vector<Buffer> buffers;    // after the inputs
  std::vector<View> views;
  std::vector<Step> steps;
  std::vector<Output> outputs;
  ResultKind result_kind = ResultKind::Single;
  PyObject *result = nullptr;     // owned; the callable
  std::vector<int> mutated;
  Recipe *recipe = nullptr;
  std::vector<StatusError> errors;
  std::vector<PyObject *> warnings;  // messages, given to "show_warning" before each run
  int scalar_words = 0, ints = 0;  // what a call must provide at least
  int slots() const { return int(constants.size() + sources.size() + program.size()); }
};
struct PlanObject {
  PyObject_HEAD
  Plan *plan;
  PyObject *spec;  // the dict it was made from, for debugging
};
struct DirectObject {
  PyObject_HEAD
  PyObject *function;
};
extern PyTypeObject DirectType;

std::unique_ptr<Plan> parse_plan(PyObject *spec);  // throws Failure
// Could this call be served at all? Throws Failure if the plan refers to arguments that the call lacks.
void check_plan_fits(const Plan &plan, const Call &call);
// Evaluate the shape program; false if a guard fails or the program cannot be evaluated.
bool evaluate_slots(const Plan &plan, const Call &call, std::vector<int64_t> &slots);
bool scalar_guards_hold(const Plan &plan, const Call &call);
// What a kernel or step reported, as a Python error; `wrong` is known if its dim is not negative.
void raise_status(const Plan &plan, int64_t status, const char *name, const WrongIndex &wrong);

// ---------------------------------------------------------------- instances (see instance.h)

struct Address {
  int buffer;      // -1: no memory (a coordinate)
  int64_t offset;  // bytes
};
inline char *address_in(char *const *bases, Address address) {
  return offset_by(address.buffer < 0 ? nullptr : bases[address.buffer], address.offset);
}

// A reduction over few points, split over threads along one reduced loop: `partial` leaves each part's accumulators in
// slots of 64 bytes, [point][part][written operand]; `finish` combines them.
struct SplitReduction {
  CodeReference partial, finish;
  size_t loop;                               // which of the launch's loops is split
  std::vector<size_t> written;               // operands
};
// An operand that is contiguous along P1, not along the vector loop P0: the core turns it tile by tile.
struct TurnedOperand {
  size_t operand;
  int64_t itemsize;
};
// One kernel over its whole domain: `outer` loops run in the core, sizes and strides go to the machine code.
struct KernelLaunch {
  CodeReference code;
  std::vector<Address> operands;
  std::vector<int64_t> sizes, strides;       // [loop], [operand][loop]; bytes
  char vector = 'P';                         // the loop along which the code is vectorised
  std::vector<int64_t> outer_sizes, outer_strides;  // [outer], [operand][outer]
  int64_t rows = 1;                          // outer iterations times P1
  std::vector<int> scalars;                  // words; empty: the call's words as they are
  std::vector<int64_t> ints;
  size_t scratch = 0;                        // bytes per thread
  double work = 0;                           // points times cost
  std::optional<SplitReduction> split;
  std::vector<TurnedOperand> turned;
  std::vector<int64_t> tile_strides;         // with turned operands: strides of a tile
};
constexpr int64_t kTileRows = 64, kTileColumns = 64;
struct GemmLaunch {
  struct Matrix {
    Address address;
    std::vector<int64_t> batch_strides;  // bytes
    int64_t leading;                     // elements
    bool transposed;
  };
  DType dtype;
  int64_t m, n, k;
  std::vector<int64_t> batch;
  Matrix a, b, out;                      // out is never transposed
};
// See contraction.cpp. Strides in bytes.
struct ContractionLaunch {
  struct Dim {
    int64_t size;
    int64_t left, right;  // strides: of inner dims in a and b, of columns in b and out
  };
  struct Split {
    size_t dim;
    int64_t step;
  };
  DType dtype;
  Address a, b, out;
  int64_t batch = 1, rows = 1;
  int64_t a_batch = 0, a_row = 0, b_batch = 0, out_batch = 0, out_row = 0;
  std::vector<Dim> inner, columns;
  Split inner_split{0, 1}, column_split{0, 1};
  bool pack_a = false, pack_b = false, pack_out = false;
  bool a_reading_columns = false;  // a is read as it lies, transposed
  bool b_turned = false;           // b is read, or packed, with columns as rows
  double work = 0;                 // products
};
// See spread.cpp. Strides in bytes.
struct SpreadLaunch {
  struct Plane {
    int64_t size, stride;
  };
  DType dtype;
  Address a, b, whole, windows;
  int64_t groups = 1, channels = 1, taps = 1, inner = 1;
  int64_t a_group = 0, a_row = 0, a_inner = 0, b_group = 0, b_inner = 0;
  int64_t whole_group = 0, whole_channel = 0, whole_image = 0;
  std::vector<Plane> plane, tap_dims;            // of one image and channel; of the windows
  std::vector<ContractionLaunch::Dim> columns;   // images, then positions; strides in b and windows
  ContractionLaunch::Split split{0, 1};          // of the columns of a unit
  int64_t channel_step = 1, image_step = 1;      // per unit
  bool a_turned = false, pack_b = false;
  double work = 0;                               // products
};
// See scatter.cpp. Strides in bytes.
struct ScatterLaunch {
  struct Index {
    Address address;
    int64_t size, stride;  // of the dim of out that it numbers
    int dim;
  };
  struct Dim {
    int64_t size, out, source;
  };
  DType dtype;
  bool add, wrap;
  Address out, source;
  std::vector<Index> indices;
  std::vector<Dim> dims;               // independent ones, then those walked in order, then those of a row
  std::vector<int64_t> index_strides;  // [dim][index]
  size_t independent = 0, rows = 0;    // how many of the first group; where the last group begins
  double work = 0;
};
struct CopyLaunch {
  int64_t itemsize;
  std::vector<int64_t> sizes, to_strides, from_strides;  // bytes
  Address to, from;
};
struct RandomLaunch {
  int buffer, bits;
  int64_t count;
  PyObject *generator;  // borrowed from the plan
};
struct HostLaunch {
  PyObject *function;   // borrowed from the plan
  std::vector<std::pair<Meta *, Address>> arguments;
};
using Launch =
    std::variant<KernelLaunch, GemmLaunch, ContractionLaunch, SpreadLaunch, ScatterLaunch, CopyLaunch, RandomLaunch,
                 HostLaunch>;

// How a plan runs for one exact key.
struct Instance {
  Instance() = default;
  Instance(const Instance &) = delete;
  Instance &operator=(const Instance &) = delete;
  ~Instance();

  int64_t references = 1;
  bool used = true;                     // since the table's clock hand last passed
  uint64_t hash = 0;
  std::vector<uint64_t> words;
  std::vector<PyObject *> objects;      // owned
  std::vector<Meta *> input_metas;      // owned: keeps the pointers in the key unique
  PyObject *target = nullptr;           // owned PlanObject or DirectObject
  const Plan *plan = nullptr;           // null for a DirectObject

  struct Place {
    enum Kind : uint8_t { Temporary, Tensor, Storage } kind;
    Meta *meta;                         // owned; null for buffers that only this instance has
    int64_t bytes, offset;              // offset: of a Temporary in the arena
  };
  std::vector<Place> places;            // buffers after the inputs
  int64_t arena = 0;                    // bytes of temporaries
  std::vector<std::pair<Meta *, Address>> output_views;  // one per output of kind View
  std::vector<int64_t> saved_ints;      // one per saved "int"
  std::vector<Launch> launches;
  double work = 0;
  bool run = true;                      // false on the meta device
  bool calls_python = false;            // has host steps
  bool simple = false;                  // one small step that makes one tensor: takes a short cut
};
inline void instance_incref(Instance *instance) { ++instance->references; }
inline void instance_decref(Instance *instance) {
  if (--instance->references == 0) delete instance;
}
// Takes the key from the call; throws Failure. Runs Python when it compiles.
Instance *instance_build(PlanObject *plan, const Call &call, const std::vector<int64_t> &slots);
Instance *instance_direct(DirectObject *direct, const Call &call);

// Output strides of an elementwise operator over operands of these layouts (broadcast to `sizes`), as PyTorch does it.
std::vector<int64_t> elementwise_strides(const std::vector<int64_t> &sizes, const std::vector<Layout> &operands);
// Strides in channels-last order if one of the operands lies so, else row-major ones.
std::vector<int64_t> channels_strides(const std::vector<int64_t> &sizes, const std::vector<Layout> &operands);

// ---------------------------------------------------------------- replay (replay.cpp, run.cpp)

PyObject *replay(Instance *instance, const Call &call, const char *name);  // null with an error set
int64_t run_kernel(const KernelLaunch &launch, char *const *bases, const int64_t *scalars);
int64_t run_gemm(const GemmLaunch &launch, char *const *bases);
int64_t run_contraction(const ContractionLaunch &launch, char *const *bases);
int64_t run_spread(const SpreadLaunch &launch, char *const *bases);
int64_t run_scatter(const ScatterLaunch &launch, char *const *bases, WrongIndex &wrong);
constexpr double kReleaseWork = 50000;   // with less work, other threads wait rather than pay for releasing the GIL
constexpr double kParallelWork = 32768;  // less than this is not worth waking a thread
// How many pieces a kernel's points can be cut into without splitting its reductions.
int64_t parallel_units(const KernelLaunch &launch);

}  // namespace rushlight
