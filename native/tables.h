// An operator's tables: instances by exact key, plans by structural key.
#pragma once
#include "plan.h"

namespace rushlight {

// Open addressing with a clock hand for eviction. Comparing keys and releasing instances may run Python code that
// changes the table; both are written with that in mind.
class InstanceTable {
 public:
  ~InstanceTable() { clear(); }
  // A new reference to an instance whose scalar guards hold, or null. Throws Failure.
  Instance *find(const Call &call);
  void insert(Instance *instance);  // takes a reference of its own
  void clear();
  size_t size() const { return count_; }
  template <class Function>
  void each(Function function) const {
    for (const Slot &slot : slots_) {
      if (slot.instance) function(slot.instance);
    }
  }

 private:
  static constexpr size_t kLimit = 4096;
  struct Slot {
    uint64_t hash;
    Instance *instance;
  };
  bool matches(Instance *instance, const Call &call, bool &changed);
  Instance *take_victim();
  void remove(size_t index);
  void place(Instance *instance);
  void grow();

  std::vector<Slot> slots_;
  size_t count_ = 0, hand_ = 0;
  uint64_t generation_ = 0;  // grows with each change
};

class PlanTable {
 public:
  ~PlanTable() { clear(); }
  // A plan for the call (with its slots) or a Direct: new reference, or null. Throws Failure.
  PyObject *find(const Call &call, const StructuralKey &key, std::vector<int64_t> &slots);
  void insert(const Call &call, const StructuralKey &key, PyObject *target);  // borrowed
  void clear();
  size_t size() const;
  template <class Function>
  void each(Function function) const {
    for (const auto &entry : entries_) {
      for (PyObject *target : entry.second->targets) function(target);
    }
  }

 private:
  static constexpr size_t kEntryLimit = 1024, kTargetLimit = 64;
  struct Entry {
    ~Entry();
    std::vector<uint64_t> words;
    std::vector<PyObject *> objects, targets;  // owned
    uint64_t last_use = 0;
  };
  std::shared_ptr<Entry> find_entry(const Call &call, const StructuralKey &key, uint64_t hash);
  void evict_entry();

  std::unordered_multimap<uint64_t, std::shared_ptr<Entry>> entries_;
  uint64_t clock_ = 0, generation_ = 0;
};

}  // namespace rushlight
