// Ranges of time that a profiler collects: one per call of an operator, per node of a backward pass, and the user's own.
#pragma once
#include "core.h"

namespace rushlight {

enum class RangeKind : uint8_t { Operator, Backward, User };

extern bool profiling;  // the only thing that is looked at while no profiler runs

// From its construction to its destruction, or nothing if this thread is not being profiled.
class ProfiledRange {
 public:
  // The name is kept if it is one that Python owns, else it is copied. `arguments` may be null.
  ProfiledRange(RangeKind kind, PyObject *name, PyObject *const *arguments, size_t count);
  ProfiledRange(RangeKind kind, const char *name);
  ~ProfiledRange();
  ProfiledRange(const ProfiledRange &) = delete;
  ProfiledRange &operator=(const ProfiledRange &) = delete;

 private:
  uint64_t token_ = 0;
};

int init_profiler(PyObject *module);

}  // namespace rushlight
