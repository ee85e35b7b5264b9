// One backward pass. engine_start.cpp finds what is to run, engine.cpp runs it, engine_gradients.cpp brings gradients
// into the shape of what they are the gradients of.
#pragma once
#include <queue>

#include "tape.h"

namespace rushlight {

constexpr uint32_t kAbsent = UINT32_MAX;

// Which task a node has: open addressing, since a run looks every edge up.
class NodeMap {
 public:
  NodeMap() : entries_(64) {}

  uint32_t find(const Node *node) const { return entries_[place(node)].task; }

  // The node's task, or `task` from now on.
  uint32_t find_or_insert(const Node *node, uint32_t task) {
    Entry &entry = entries_[place(node)];
    if (entry.node) return entry.task;
    entry = {node, task};
    if (++count_ * 2 > entries_.size()) grow();
    return task;
  }

 private:
  struct Entry {
    const Node *node = nullptr;
    uint32_t task = kAbsent;
  };

  size_t place(const Node *node) const {
    const size_t mask = entries_.size() - 1;
    size_t at = (reinterpret_cast<uintptr_t>(node) >> 4) * 0x9e3779b97f4a7c15u >> 20 & mask;
    while (entries_[at].node && entries_[at].node != node) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry &entry : old) {
      if (entry.node) entries_[place(entry.node)] = entry;
    }
  }

  std::vector<Entry> entries_;
  size_t count_ = 0;
};

struct Task {
  Node *node;                 // strong until it has run
  uint32_t waiting = 0;       // edges whose gradient has not arrived
  size_t first = 0;           // its gradients in Run::buffers_
  bool leads = false;         // to a target
  bool needed = false;        // runs; otherwise it may still be a place where gradients are captured
  bool captured = false;
};

class Run {
 public:
  explicit Run(BackwardOptions options) : options_(options) {}
  Run(const Run &) = delete;
  ~Run() {
    for (Tensor *gradient : buffers_) Py_XDECREF(as_object(gradient));
    for (Task &task : tasks_) Py_XDECREF(as_object(task.node));
  }

  bool add_root(size_t i, PyObject *object, PyObject *gradient);
  bool add_target(PyObject *object);
  void limit() { limited_ = true; }
  bool limited() const { return limited_; }
  bool discover();
  bool execute();
  PyObject *captured();
  uint64_t number() const { return number_; }
  void add_callback(PyObject *function) { callbacks_.push_back(ObjectRef::borrow(function)); }
  bool run_callbacks();
  bool will_run(const Node *node) const {
    const uint32_t task = map_.find(node);
    return task != kAbsent && wanted(tasks_[task]);
  }

 private:
  struct Root {
    uint32_t task, index;
    TensorRef gradient;
  };
  struct Target {
    Ref<Node> node;           // null: cannot be reached
    uint32_t index;
    TensorRef gradient;
  };
  struct Earlier {
    bool operator()(const std::pair<uint64_t, uint32_t> &a, const std::pair<uint64_t, uint32_t> &b) const {
      return a.first < b.first;
    }
  };

  uint32_t task_of(Node *node);
  void count_edges();
  void find_needed();
  bool reaches_target(const Edge &edge) const;
  bool wanted(const Task &task) const { return !limited_ || task.needed || task.captured; }
  void make_ready(uint32_t task) { ready_.emplace(tasks_[task].node->sequence, task); }
  bool deliver(uint32_t task, uint32_t index, TensorRef gradient);
  bool step(uint32_t index);
  bool run_task(uint32_t index);
  bool run_leaf(Task &task, Tensor **given);
  bool run_node(Task &task, Tensor **given);
  bool add_to_slice(Task &task, Tensor **given, bool *done);
  Wanted wanted_edges(Node *node) const;
  void arrived(uint32_t task);
  void capture(const Task &task, Tensor *const *given);
  void clear(Task &task);

  static inline uint64_t runs_ = 0;
  BackwardOptions options_;
  uint64_t number_ = ++runs_;
  bool limited_ = false;      // only what the targets need runs
  std::vector<Task> tasks_;
  NodeMap map_;
  std::vector<Tensor *> buffers_;  // owned
  std::vector<Root> roots_;
  std::vector<Target> targets_;
  std::vector<ObjectRef> callbacks_;  // called at the end
  std::priority_queue<std::pair<uint64_t, uint32_t>, std::vector<std::pair<uint64_t, uint32_t>>, Earlier> ready_;
};

inline std::string shape_of(const Meta *m) { return format_ints(m->sizes(), m->ndim); }
// What gradients must look like that arrive at (node, index); null if unknown.
const Meta *expected_meta(const Node *node, uint32_t index);
// Brings a gradient into the shape and dtype of what it is the gradient of: output number `output` of the node `to`.
// False with an error set.
bool conform(TensorRef &gradient, const Node *to, uint32_t output, const char *from, size_t index);
// May a Python function return this gradient? False with an error set.
bool check_user_gradient(const Tensor *gradient, const Meta *expected);

}  // namespace rushlight
