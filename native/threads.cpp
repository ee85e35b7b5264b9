// The thread pool. Workers sleep while idle. A caller works on its own job and waits only for workers that have joined
// it, so a short job never waits for a worker to wake up.
#include "services.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

namespace rushlight {
namespace {

constexpr int kMaxThreads = 512;
constexpr int kSpins = 1000;              // some ten microseconds: catches the next operator of a sequence
constexpr int64_t kChunksPerThread = 4;   // evens out threads that are slowed down by other work
constexpr int64_t kChunkMultiple = 64;    // keeps the borders of long chunks on cache lines

std::atomic<int> configured_threads{1};
thread_local int current_index = 0;
thread_local bool inside_job = false;

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

struct Job {
  int64_t (*task)(void *, int64_t, int64_t);
  void *context;
  int64_t count, chunk, chunks;
  std::atomic<int64_t> next{0}, result{0};

  void work() {
    int64_t combined = 0;
    inside_job = true;
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < chunks;) {
      int64_t begin = i * chunk;
      combined |= task(context, begin, std::min(chunk, count - begin) + begin);
    }
    inside_job = false;
    if (combined) result.fetch_or(combined, std::memory_order_relaxed);
  }
};

class Pool {
 public:
  // False when another thread is using the pool.
  bool run(Job &job, int helpers) {
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    grow(helpers);
    helpers = std::min(helpers, workers_);
    {
      std::lock_guard guard(mutex_);
      job_ = &job;
      wanted_.store(helpers, std::memory_order_release);
    }
    if (helpers == workers_) {
      wake_.notify_all();
    } else {
      for (int i = 0; i < helpers; ++i) wake_.notify_one();
    }
    job.work();
    finish();
    busy_.store(false, std::memory_order_release);
    return true;
  }

 private:
  // Lets nobody else join and waits for those who have.
  void finish() {
    std::unique_lock lock(mutex_);
    wanted_.store(0, std::memory_order_relaxed);
    if (active_.load(std::memory_order_relaxed) == 0) return;
    lock.unlock();
    for (int i = 0; i < kSpins && active_.load(std::memory_order_relaxed); ++i) relax();
    lock.lock();
    done_.wait(lock, [this] { return active_.load(std::memory_order_relaxed) == 0; });
  }

  void grow(int helpers) {
    sigset_t all, previous;
    sigfillset(&all);
    if (workers_ >= helpers || pthread_sigmask(SIG_SETMASK, &all, &previous) != 0) return;  // signals go to Python
    while (workers_ < helpers) {
      try {
        std::thread([this, index = workers_ + 1] { serve(index); }).detach();
      } catch (const std::exception &) {
        break;  // out of threads or memory: do with those that exist
      }
      ++workers_;
    }
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  }

  void serve(int index) {
    current_index = index;
    std::unique_lock lock(mutex_);
    while (true) {
      if (wanted_.load(std::memory_order_relaxed) == 0) {
        lock.unlock();
        for (int i = 0; i < kSpins && wanted_.load(std::memory_order_relaxed) == 0; ++i) relax();
        lock.lock();
        wake_.wait(lock, [this] { return wanted_.load(std::memory_order_relaxed) > 0; });
      }
      wanted_.fetch_sub(1, std::memory_order_relaxed);
      active_.fetch_add(1, std::memory_order_relaxed);
      Job *job = job_;
      lock.unlock();
      job->work();
      lock.lock();
      if (active_.fetch_sub(1, std::memory_order_relaxed) == 1) done_.notify_one();
    }
  }

  std::atomic<bool> busy_{false};
  std::atomic<int> wanted_{0};  // workers that may still join; changed under the mutex
  std::atomic<int> active_{0};  // workers at work on the job; changed under the mutex
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Job *job_ = nullptr;
  int workers_ = 0;  // belongs to the holder of busy_
};

// Never destroyed, since its workers never end. A forked child has no workers: it leaves its copy alone and makes a new
// pool when it needs one.
std::atomic<Pool *> current_pool{nullptr};
std::mutex creation;

uint32_t forks = 0;  // written in a child before it has other threads

Pool *pool() {
  if (Pool *existing = current_pool.load(std::memory_order_acquire)) return existing;
  std::lock_guard guard(creation);
  Pool *made = current_pool.load(std::memory_order_acquire);
  if (made) return made;
  made = new (std::nothrow) Pool;
  current_pool.store(made, std::memory_order_release);
  return made;
}

// The number at the start of an environment variable ("4", "4,2"), or 0.
int threads_from_environment(const char *name) {
  const char *text = std::getenv(name);
  if (!text) return 0;
  char *end;
  long count = std::strtol(text, &end, 10);
  return end != text && count > 0 && count <= INT32_MAX ? int(count) : 0;
}

struct Scratch {
  char *memory = nullptr;
  size_t bytes = 0;
  ~Scratch() { std::free(memory); }
};
thread_local Scratch scratch[size_t(ScratchUse::Count)];

}  // namespace

// A child must not inherit the lock in the hands of a thread that it does not have, nor the pool, whose workers it lacks.
// Registered before there can be other threads: one that made the first pool while the process forked would hold it.
bool guard_pool_across_forks() {
  auto in_child = [] {
    ++forks;
    current_pool.store(nullptr, std::memory_order_relaxed);
    creation.unlock();
  };
  static const bool registered =
      pthread_atfork([] { creation.lock(); }, [] { creation.unlock(); }, in_child) == 0;
  return registered;
}

uint32_t fork_count() { return forks; }

int thread_count() { return configured_threads.load(std::memory_order_relaxed); }

void set_thread_count(int count) { configured_threads.store(std::max(count, 1), std::memory_order_relaxed); }

int default_thread_count() {
  for (const char *name : {"RUSHLIGHT_NUM_THREADS", "OMP_NUM_THREADS"}) {
    if (int count = threads_from_environment(name)) return count;
  }
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return int(std::max(std::thread::hardware_concurrency(), 1u));
}

int64_t parallel_for(int64_t count, int64_t grain, int64_t (*task)(void *, int64_t, int64_t), void *context) {
  if (count <= 0) return 0;
  int64_t threads = std::min(thread_count(), kMaxThreads);
  grain = std::max<int64_t>(grain, 1);
  if (threads == 1 || count <= grain || inside_job) return task(context, 0, count);
  int64_t chunk = std::max(grain, (count - 1) / (threads * kChunksPerThread) + 1);
  if (chunk >= 16 * kChunkMultiple && chunk < count) {
    chunk += (kChunkMultiple - chunk % kChunkMultiple) % kChunkMultiple;
  }
  int64_t chunks = (count - 1) / chunk + 1;
  Job job{task, context, count, chunk, chunks};
  Pool *shared = chunks > 1 ? pool() : nullptr;
  if (!shared || !shared->run(job, int(std::min(threads, chunks) - 1))) return task(context, 0, count);
  return job.result.load(std::memory_order_relaxed);
}

int thread_index() { return current_index; }

char *thread_scratch(size_t bytes, ScratchUse use) {
  constexpr size_t kUnit = 4096;
  Scratch &own = scratch[size_t(use)];
  if (bytes > own.bytes || !own.memory) {
    if (bytes > SIZE_MAX / 2) return nullptr;
    size_t rounded = (std::max<size_t>(bytes, 1) + kUnit - 1) / kUnit * kUnit;
    auto *memory = static_cast<char *>(std::aligned_alloc(64, rounded));
    if (!memory) return nullptr;
    std::free(own.memory);
    own.memory = memory;
    own.bytes = rounded;
  }
  return own.memory;
}

}  // namespace rushlight
