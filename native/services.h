// What the service files share among themselves; the rest of the core uses core.h.
#pragma once
#include "core.h"

namespace rushlight {

void allocator_empty_cache();               // gives cached memory back to the system. No GIL needed.
void allocator_set_limit(size_t limit);     // SIZE_MAX: no limit. No GIL needed.
int default_thread_count();                 // from the environment or the CPU affinity. No GIL needed.
bool guard_pool_across_forks();             // false: out of memory
int init_generator(PyObject *module);

}  // namespace rushlight
