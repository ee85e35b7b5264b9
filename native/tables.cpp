#include "tables.h"

#include <algorithm>

namespace rushlight {

// ---------------------------------------------------------------- instances

namespace {

bool same_words(const std::vector<uint64_t> &words, const uint64_t *other, size_t count) {
  if (words.size() != count) return false;
  for (size_t i = 0; i < count; ++i) {  // keys are short: quicker than memcmp
    if (words[i] != other[i]) return false;
  }
  return true;
}

}  // namespace

// `changed`: the comparison ran code that changed the table, so the search must start again.
inline bool InstanceTable::matches(Instance *instance, const Call &call, bool &changed) {
  if (!same_words(instance->words, call.words.data(), call.words.size())) return false;
  size_t count = call.objects.size();
  if (!std::equal(instance->objects.begin(), instance->objects.end(), call.objects.begin(), call.objects.end())) {
    uint64_t before = generation_;
    instance_incref(instance);
    int equal = objects_equal(instance->objects.data(), call.objects.data(), count);
    instance_decref(instance);
    if (equal < 0) throw Failure();
    changed = generation_ != before;
    if (changed || !equal) return false;
  }
  return !instance->plan || instance->plan->scalar_guards.empty() || scalar_guards_hold(*instance->plan, call);
}

Instance *InstanceTable::find(const Call &call) {
  if (slots_.empty()) return nullptr;
  size_t mask = slots_.size() - 1;
  for (size_t i = call.hash & mask; slots_[i].instance; i = (i + 1) & mask) {
    if (slots_[i].hash != call.hash) continue;
    Instance *instance = slots_[i].instance;
    bool changed = false;
    if (matches(instance, call, changed)) {
      instance->used = true;
      instance_incref(instance);
      return instance;
    }
    if (changed) return find(call);
  }
  return nullptr;
}

void InstanceTable::insert(Instance *instance) {
  while (count_ >= kLimit) instance_decref(take_victim());
  if ((count_ + 1) * 2 > slots_.size()) grow();
  instance_incref(instance);
  place(instance);
  ++count_;
  ++generation_;
}

void InstanceTable::place(Instance *instance) {
  size_t mask = slots_.size() - 1, i = instance->hash & mask;
  while (slots_[i].instance) i = (i + 1) & mask;
  slots_[i] = {instance->hash, instance};
}

void InstanceTable::grow() {
  std::vector<Slot> old(std::max<size_t>(slots_.size() * 2, 8), Slot{0, nullptr});
  old.swap(slots_);
  hand_ = 0;
  for (const Slot &slot : old) {
    if (slot.instance) place(slot.instance);
  }
}

Instance *InstanceTable::take_victim() {
  for (;;) {
    hand_ = (hand_ + 1) & (slots_.size() - 1);
    Instance *instance = slots_[hand_].instance;
    if (!instance) continue;
    if (instance->used) {
      instance->used = false;
      continue;
    }
    remove(hand_);
    --count_;
    ++generation_;
    return instance;
  }
}

// Later entries of the probe sequence move up, so that no gap hides them.
void InstanceTable::remove(size_t index) {
  size_t mask = slots_.size() - 1;
  slots_[index].instance = nullptr;
  for (size_t i = (index + 1) & mask; slots_[i].instance; i = (i + 1) & mask) {
    size_t home = slots_[i].hash & mask;
    if (((i - home) & mask) < ((i - index) & mask)) continue;
    slots_[index] = slots_[i];
    slots_[i].instance = nullptr;
    index = i;
  }
}

void InstanceTable::clear() {
  std::vector<Slot> old;
  old.swap(slots_);
  count_ = hand_ = 0;
  ++generation_;
  for (const Slot &slot : old) {
    if (slot.instance) instance_decref(slot.instance);
  }
}

// ---------------------------------------------------------------- plans

PlanTable::Entry::~Entry() {
  for (PyObject *object : objects) Py_DECREF(object);
  for (PyObject *target : targets) Py_DECREF(target);
}

std::shared_ptr<PlanTable::Entry> PlanTable::find_entry(const Call &call, const StructuralKey &key, uint64_t hash) {
  auto [first, last] = entries_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    std::shared_ptr<Entry> entry = it->second;
    if (!same_words(entry->words, key.data(), key.size())) continue;
    uint64_t before = generation_;
    int equal = objects_equal(entry->objects.data(), call.objects.data(), call.objects.size());
    if (equal < 0) throw Failure();
    if (generation_ != before) return find_entry(call, key, hash);  // the comparison ran code that changed the table
    if (!equal) continue;
    entry->last_use = ++clock_;
    return entry;
  }
  return nullptr;
}

PyObject *PlanTable::find(const Call &call, const StructuralKey &key, std::vector<int64_t> &slots) {
  std::shared_ptr<Entry> entry = find_entry(call, key, hash_words(key.data(), key.size()));
  if (!entry) return nullptr;
  for (PyObject *target : entry->targets) {
    if (Py_IS_TYPE(target, &DirectType)) return Py_NewRef(target);
    const Plan &plan = *reinterpret_cast<PlanObject *>(target)->plan;
    if (scalar_guards_hold(plan, call) && evaluate_slots(plan, call, slots)) return Py_NewRef(target);
  }
  return nullptr;
}

void PlanTable::insert(const Call &call, const StructuralKey &key, PyObject *target) {
  uint64_t hash = hash_words(key.data(), key.size());
  std::shared_ptr<Entry> entry = find_entry(call, key, hash);
  if (!entry) {
    if (entries_.size() >= kEntryLimit) evict_entry();
    entry = std::make_shared<Entry>();
    entry->words.assign(key.begin(), key.end());
    for (PyObject *object : call.objects) entry->objects.push_back(Py_NewRef(object));
    entry->last_use = ++clock_;
    entries_.emplace(hash, entry);
  }
  ++generation_;
  entry->targets.insert(entry->targets.begin(), Py_NewRef(target));
  if (entry->targets.size() > kTargetLimit) {
    PyObject *oldest = entry->targets.back();
    entry->targets.pop_back();
    Py_DECREF(oldest);
  }
}

void PlanTable::evict_entry() {
  auto oldest = std::min_element(entries_.begin(), entries_.end(), [](const auto &a, const auto &b) {
    return a.second->last_use < b.second->last_use;
  });
  std::shared_ptr<Entry> released = oldest->second;  // released last: may run Python code
  entries_.erase(oldest);
  ++generation_;
}

void PlanTable::clear() {
  auto released = std::move(entries_);
  entries_.clear();
  ++generation_;
}

size_t PlanTable::size() const {
  size_t count = 0;
  each([&](PyObject *) { ++count; });
  return count;
}

}  // namespace rushlight
