// The caching allocator. Blocks belong to size classes. Small ones come from per-thread magazines without a lock; the
// central lists (one per class, and one of all blocks by age) take their overflow and all larger blocks. Freed blocks
// stay cached, so that large results do not fault their pages in again, up to a bound; the oldest go first.
#include "services.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>

namespace rushlight {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCaching = false;  // let the sanitizer see every allocation and release
#else
constexpr bool kCaching = true;
#endif

constexpr size_t kAlignment = 64;
constexpr size_t kFineLimit = 1024;             // up to here classes are multiples of 64 bytes
constexpr int kFineClasses = kFineLimit / kAlignment;
constexpr size_t kMagazineLimit = 64 << 10;     // larger blocks go through the central lists
constexpr size_t kMaxBytes = size_t(1) << 46;
constexpr size_t kHugePage = 2 << 20;
constexpr size_t kMapLimit = 2 * kHugePage;     // from here on blocks are mapped, aligned to huge pages
constexpr int64_t kFlushBytes = 1 << 20;        // a thread's count may differ by this from the published one

// Above kFineLimit there are 8 classes per doubling, so at most an eighth of a block is wasted.
constexpr int size_class(size_t bytes) {
  if (bytes <= kFineLimit) return bytes ? int((bytes - 1) / kAlignment) : 0;
  int top = 63 - std::countl_zero(bytes - 1);
  return kFineClasses + (top - 10) * 8 + int(((bytes - 1) >> (top - 3)) & 7);
}

constexpr size_t class_bytes(int c) {
  if (c < kFineClasses) return size_t(c + 1) * kAlignment;
  int top = 10 + (c - kFineClasses) / 8;
  return size_t(9 + (c - kFineClasses) % 8) << (top - 3);
}

constexpr int kClasses = size_class(kMaxBytes) + 1;
constexpr int kMagazineClasses = size_class(kMagazineLimit) + 1;
static_assert(class_bytes(size_class(kMagazineLimit)) == kMagazineLimit);
static_assert(class_bytes(size_class(kFineLimit + 1)) == kFineLimit + 128);

// ---------------------------------------------------------------- system memory

std::atomic<size_t> reserved{0};           // bytes held from the system
std::atomic<size_t> limit{SIZE_MAX};       // bound on `reserved`
std::atomic<int64_t> published_in_use{0};  // without what threads have not published yet
std::atomic<int64_t> peak{0};
std::atomic<size_t> published_allocations{0};
std::atomic<size_t> misses{0};

void raise_peak(int64_t now) {
  int64_t seen = peak.load(std::memory_order_relaxed);
  while (now > seen && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
  }
}

void publish_in_use(int64_t delta) {
  raise_peak(published_in_use.fetch_add(delta, std::memory_order_relaxed) + delta);
}

void *map_aligned(size_t bytes) {
  size_t mapped = bytes + kHugePage;
  void *base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  uintptr_t start = reinterpret_cast<uintptr_t>(base);
  uintptr_t aligned = (start + kHugePage - 1) / kHugePage * kHugePage;
  if (aligned > start) munmap(base, aligned - start);
  if (size_t tail = start + mapped - (aligned + bytes)) munmap(reinterpret_cast<void *>(aligned + bytes), tail);
  void *block = reinterpret_cast<void *>(aligned);
#ifdef MADV_HUGEPAGE
  madvise(block, bytes, MADV_HUGEPAGE);
#endif
  return block;
}

// One block of a class from the system, or null when over the limit or out of memory.
void *system_allocate(size_t bytes) {
  size_t now = reserved.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  void *block = nullptr;
  if (now <= limit.load(std::memory_order_relaxed)) {
    block = bytes >= kMapLimit ? map_aligned(bytes) : std::aligned_alloc(kAlignment, bytes);
  }
  if (!block) reserved.fetch_sub(bytes, std::memory_order_relaxed);
  return block;
}

void system_release(void *block, size_t bytes) {
  if (bytes >= kMapLimit) {
    munmap(block, bytes);
  } else {
    std::free(block);
  }
  reserved.fetch_sub(bytes, std::memory_order_relaxed);
}

// Half of the memory that this process may use.
size_t default_cache_bound() {
  size_t memory = size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE));
  for (const char *path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    if (FILE *file = std::fopen(path, "re")) {
      unsigned long long bytes;
      if (std::fscanf(file, "%llu", &bytes) == 1) memory = std::min<size_t>(memory, bytes);
      std::fclose(file);
    }
  }
  return memory / 2;
}

// ---------------------------------------------------------------- central lists

struct Link {  // of a circular list with a sentinel
  Link *previous = this, *next = this;
  void insert_after(Link *where) {
    previous = where, next = where->next;
    next->previous = where->next = this;
  }
  void remove() { previous->next = next, next->previous = previous; }
  bool empty() const { return next == this; }
};

struct CentralBlock {  // lies in the free block itself
  Link same_class, age;
  int size_class;
};
static_assert(sizeof(CentralBlock) <= kAlignment);
CentralBlock *from_age(Link *link) {
  return reinterpret_cast<CentralBlock *>(reinterpret_cast<char *>(link) - offsetof(CentralBlock, age));
}

struct MagazineBlock {
  MagazineBlock *next;
};

struct Magazine {
  MagazineBlock *head = nullptr;
  uint32_t count = 0, capacity = 0;
};

// Counters are written by their thread only and read by others: atomic, but without read-modify-write instructions.
struct ThreadCache {
  Magazine magazines[kMagazineClasses];
  std::atomic<int64_t> in_use{0};  // not yet published
  std::atomic<size_t> allocations{0};
  Link registered;

  ThreadCache() {
    for (int c = 0; c < kMagazineClasses; ++c) {
      magazines[c].capacity = uint32_t(std::clamp<size_t>(kMagazineLimit * 2 / class_bytes(c), 2, 128));
    }
  }
  void add_in_use(int64_t delta) {
    int64_t now = in_use.load(std::memory_order_relaxed) + delta;
    if (now > kFlushBytes || now < -kFlushBytes) [[unlikely]] {
      publish_in_use(now);
      now = 0;
    }
    in_use.store(now, std::memory_order_relaxed);
  }
  void count_allocation() {
    allocations.store(allocations.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

ThreadCache *from_registered(Link *link) {
  return reinterpret_cast<ThreadCache *>(reinterpret_cast<char *>(link) - offsetof(ThreadCache, registered));
}

// Static TLS: one load instead of a call on each allocation.
__attribute__((tls_model("initial-exec"))) thread_local ThreadCache *thread_cache = nullptr;

class Central {
 public:
  Central();

  void *take(int c) {
    std::lock_guard guard(mutex_);
    if (classes_[c].empty()) return nullptr;
    auto *block = reinterpret_cast<CentralBlock *>(classes_[c].next);
    unlink(block);
    return block;
  }

  // Fills an empty magazine and returns one block more, or null.
  void *take_batch(int c, Magazine &magazine) {
    std::lock_guard guard(mutex_);
    void *result = nullptr;
    for (uint32_t i = 0; i <= magazine.capacity / 2 && !classes_[c].empty(); ++i) {
      auto *block = reinterpret_cast<CentralBlock *>(classes_[c].next);
      unlink(block);
      if (!result) {
        result = block;
      } else {
        push(magazine, block);
      }
    }
    return result;
  }

  void put(void *memory, int c) {
    std::unique_lock lock(mutex_);
    link(memory, c);
    trim(lock, bound_);
  }

  // Leaves `keep` blocks in the magazine.
  void put_batch(Magazine &magazine, int c, uint32_t keep) {
    std::unique_lock lock(mutex_);
    drain(magazine, c, keep);
    trim(lock, bound_);
  }

  void drain_thread(ThreadCache &cache) {
    std::lock_guard guard(mutex_);
    for (int c = 0; c < kMagazineClasses; ++c) drain(cache.magazines[c], c, 0);
  }

  void release_all() {
    std::unique_lock lock(mutex_);
    trim(lock, 0);
  }

  ThreadCache *register_thread();
  void retire(ThreadCache *cache);

  // What the threads have not published yet.
  void add_unpublished(int64_t &in_use, size_t &allocations) {
    std::lock_guard guard(mutex_);
    for (Link *link = threads_.next; link != &threads_; link = link->next) {
      in_use += from_registered(link)->in_use.load(std::memory_order_relaxed);
      allocations += from_registered(link)->allocations.load(std::memory_order_relaxed);
    }
  }

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

  static void push(Magazine &magazine, void *memory) {
    magazine.head = new (memory) MagazineBlock{magazine.head};
    ++magazine.count;
  }

 private:
  void link(void *memory, int c) {
    auto *block = new (memory) CentralBlock;
    block->size_class = c;
    block->same_class.insert_after(&classes_[c]);
    block->age.insert_after(&ages_);
    bytes_ += class_bytes(c);
  }

  void unlink(CentralBlock *block) {
    block->same_class.remove();
    block->age.remove();
    bytes_ -= class_bytes(block->size_class);
  }

  void drain(Magazine &magazine, int c, uint32_t keep) {
    while (magazine.count > keep) {
      MagazineBlock *block = magazine.head;
      magazine.head = block->next;
      --magazine.count;
      link(block, c);
    }
  }

  // Releases the oldest blocks, outside the lock since unmapping is slow.
  void trim(std::unique_lock<std::mutex> &lock, size_t keep) {
    if (bytes_ <= keep) return;
    Link released;
    while (bytes_ > keep) {
      CentralBlock *block = from_age(ages_.previous);
      unlink(block);
      block->age.insert_after(&released);
    }
    lock.unlock();
    while (!released.empty()) {
      CentralBlock *block = from_age(released.next);
      block->age.remove();
      system_release(block, class_bytes(block->size_class));
    }
  }

  std::mutex mutex_;
  Link classes_[kClasses];  // most recently freed first
  Link ages_;               // all blocks, newest first
  Link threads_;
  size_t bytes_ = 0;
  size_t bound_ = default_cache_bound();
  pthread_key_t thread_exit_;
};

// Never destroyed: threads may outlive the static destructors.
Central &central() {
  static Central *instance = new Central;
  return *instance;
}

Central::Central() {
  pthread_key_create(&thread_exit_, [](void *cache) { central().retire(static_cast<ThreadCache *>(cache)); });
  // A child must not inherit the lock in the hands of a thread that it does not have.
  pthread_atfork([] { central().lock(); }, [] { central().unlock(); }, [] { central().unlock(); });
}

ThreadCache *Central::register_thread() {
  auto *cache = new (std::nothrow) ThreadCache;
  if (!cache) return nullptr;
  if (pthread_setspecific(thread_exit_, cache) != 0) {
    delete cache;
    return nullptr;
  }
  std::lock_guard guard(mutex_);
  cache->registered.insert_after(&threads_);
  return thread_cache = cache;
}

void Central::retire(ThreadCache *cache) {
  std::unique_lock lock(mutex_);
  for (int c = 0; c < kMagazineClasses; ++c) drain(cache->magazines[c], c, 0);
  publish_in_use(cache->in_use.load(std::memory_order_relaxed));
  published_allocations.fetch_add(cache->allocations.load(std::memory_order_relaxed), std::memory_order_relaxed);
  cache->registered.remove();
  thread_cache = nullptr;
  delete cache;
  trim(lock, bound_);
}

// A new block; when the system refuses, once more with all that this thread can reach given back.
void *miss(size_t bytes) {
  void *block = system_allocate(bytes);
  if (!block) {
    allocator_empty_cache();
    block = system_allocate(bytes);
  }
  if (block) misses.fetch_add(1, std::memory_order_relaxed);
  return block;
}

[[gnu::noinline]] void *allocate_small(int c) {
  ThreadCache *cache = thread_cache ? thread_cache : central().register_thread();
  if (!cache) return nullptr;
  Magazine &magazine = cache->magazines[c];
  void *block = kCaching ? central().take_batch(c, magazine) : nullptr;
  if (!block) block = miss(class_bytes(c));
  if (!block) return nullptr;
  cache->add_in_use(int64_t(class_bytes(c)));
  cache->count_allocation();
  return block;
}

[[gnu::noinline]] void *allocate_large(size_t bytes) {
  if (bytes > kMaxBytes) return nullptr;
  int c = size_class(bytes);
  void *block = kCaching ? central().take(c) : nullptr;
  if (!block) block = miss(class_bytes(c));
  if (!block) return nullptr;
  publish_in_use(int64_t(class_bytes(c)));
  published_allocations.fetch_add(1, std::memory_order_relaxed);
  return block;
}

[[gnu::noinline]] void deallocate_slow(void *block, int c) {
  ThreadCache *cache = thread_cache;
  if (!cache || c >= kMagazineClasses) {
    publish_in_use(-int64_t(class_bytes(c)));
  } else {
    cache->add_in_use(-int64_t(class_bytes(c)));
  }
  if (!kCaching) return system_release(block, class_bytes(c));
  if (!cache || c >= kMagazineClasses) return central().put(block, c);
  central().put_batch(cache->magazines[c], c, cache->magazines[c].capacity / 2);
  Central::push(cache->magazines[c], block);
}

}  // namespace

void *allocate(size_t bytes) {
  if (bytes > kMagazineLimit) return allocate_large(bytes);
  int c = size_class(bytes);
  ThreadCache *cache = thread_cache;
  if (!cache) [[unlikely]] return allocate_small(c);
  Magazine &magazine = cache->magazines[c];
  MagazineBlock *block = magazine.head;
  if (!block) [[unlikely]] return allocate_small(c);
  magazine.head = block->next;
  --magazine.count;
  cache->add_in_use(int64_t(class_bytes(c)));
  cache->count_allocation();
  return block;
}

void deallocate(void *pointer, size_t bytes) {
  if (!pointer) return;
  int c = size_class(bytes);
  ThreadCache *cache = thread_cache;
  if (!kCaching || !cache || c >= kMagazineClasses) return deallocate_slow(pointer, c);
  Magazine &magazine = cache->magazines[c];
  if (magazine.count >= magazine.capacity) [[unlikely]] return deallocate_slow(pointer, c);
  Central::push(magazine, pointer);
  cache->add_in_use(-int64_t(class_bytes(c)));
}

AllocatorStatistics allocator_statistics() {
  int64_t in_use = published_in_use.load(std::memory_order_relaxed);
  size_t allocations = published_allocations.load(std::memory_order_relaxed);
  central().add_unpublished(in_use, allocations);
  size_t used = size_t(std::max<int64_t>(in_use, 0)), held = reserved.load(std::memory_order_relaxed);
  raise_peak(int64_t(used));
  size_t highest = size_t(peak.load(std::memory_order_relaxed));
  size_t missed = misses.load(std::memory_order_relaxed);
  return {used, held > used ? held - used : 0, highest, limit.load(std::memory_order_relaxed), allocations,
          allocations > missed ? allocations - missed : 0};
}

void allocator_empty_cache() {
  if (thread_cache) central().drain_thread(*thread_cache);
  central().release_all();
}

void allocator_set_limit(size_t bytes) {
  limit.store(bytes, std::memory_order_relaxed);
  if (reserved.load(std::memory_order_relaxed) > bytes) allocator_empty_cache();
}

}  // namespace rushlight
