// The arena for machine code: memory mapped twice, once writable and once executable, never both in one mapping.
//
// Such memory is shared with forked children. A child may go on running what it inherited after its parent has released
// it, so memory that was in use at a fork is never used again, and the child puts new code into regions of its own.
#include "core.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace rushlight {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kRegionBytes = 2 << 20;

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }
size_t page_bytes() { return size_t(sysconf(_SC_PAGESIZE)); }

struct Region {
  char *write = nullptr, *run = nullptr;
  size_t bytes = 0;
  bool inherited = false;                   // belongs to the parent process: no new code
  std::map<size_t, size_t> free_ranges;     // offset to length

  // The offset of a range of `length` bytes, or `bytes` if there is none.
  size_t take(size_t length) {
    for (auto it = free_ranges.begin(); it != free_ranges.end(); ++it) {
      auto [offset, available] = *it;
      if (available < length) continue;
      free_ranges.erase(it);
      if (available > length) free_ranges.emplace(offset + length, available - length);
      return offset;
    }
    return bytes;
  }

  void give_back(size_t offset, size_t length) {
    auto after = free_ranges.lower_bound(offset);
    if (after != free_ranges.end() && after->first == offset + length) {
      length += after->second;
      after = free_ranges.erase(after);
    }
    if (after != free_ranges.begin()) {
      auto before = std::prev(after);
      if (before->first + before->second == offset) {
        before->second += length;
        return;
      }
    }
    free_ranges.emplace(offset, length);
  }
};

struct Block : Code {
  Region *region;   // null: pages of its own
  size_t offset;    // in the region
  size_t length;    // bytes taken
  uint64_t epoch;   // number of forks before it was made
};

std::mutex mutex;
std::vector<std::unique_ptr<Region>> regions;
uint64_t fork_epoch = 0;

void after_fork_in_parent() {
  ++fork_epoch;
  mutex.unlock();
}

void after_fork_in_child() {
  ++fork_epoch;
  for (auto &region : regions) region->inherited = true;
  mutex.unlock();
}

int anonymous_file() {
#ifdef __linux__
  constexpr unsigned kExecutable = 0x10;  // MFD_EXEC: newer kernels may refuse executable mappings without it
  int file = memfd_create("rushlight-code", MFD_CLOEXEC | kExecutable);
  return file >= 0 ? file : memfd_create("rushlight-code", MFD_CLOEXEC);
#else
  return -1;
#endif
}

// Null when the system does not allow such mappings.
std::unique_ptr<Region> make_region(size_t bytes) {
  int file = anonymous_file();
  if (file < 0) return nullptr;
  void *write = MAP_FAILED, *run = MAP_FAILED;
  if (ftruncate(file, off_t(bytes)) == 0) {
    write = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    run = mmap(nullptr, bytes, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
  }
  close(file);
  if (write == MAP_FAILED || run == MAP_FAILED) {
    if (write != MAP_FAILED) munmap(write, bytes);
    if (run != MAP_FAILED) munmap(run, bytes);
    return nullptr;
  }
  auto region = std::make_unique<Region>();
  region->write = static_cast<char *>(write);
  region->run = static_cast<char *>(run);
  region->bytes = bytes;
  region->free_ranges.emplace(0, bytes);
  return region;
}

void flush(char *begin, size_t bytes) { __builtin___clear_cache(begin, begin + bytes); }

// Places the blob in a region; false if there can be none.
bool load_shared(const void *blob, size_t entry, Block &block) {
  Region *found = nullptr;
  for (auto &region : regions) {
    if (region->inherited) continue;
    block.offset = region->take(block.length);
    if (block.offset == region->bytes) continue;
    found = region.get();
    break;
  }
  if (!found) {
    auto region = make_region(round_up(std::max(block.length, kRegionBytes), page_bytes()));
    if (!region) return false;
    block.offset = region->take(block.length);
    found = region.get();
    regions.push_back(std::move(region));
  }
  std::memcpy(found->write + block.offset, blob, block.bytes);
  flush(found->write + block.offset, block.bytes);
  flush(found->run + block.offset, block.bytes);
  block.region = found;
  block.entry = found->run + block.offset + entry;
  return true;
}

// Pages of the blob's own, made executable after writing.
bool load_private(const void *blob, size_t entry, Block &block) {
  block.length = round_up(block.bytes, page_bytes());
  void *pages = mmap(nullptr, block.length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return false;
  std::memcpy(pages, blob, block.bytes);
  if (mprotect(pages, block.length, PROT_READ | PROT_EXEC) != 0) {
    munmap(pages, block.length);
    return false;
  }
  flush(static_cast<char *>(pages), block.bytes);
  block.region = nullptr;
  block.offset = entry;
  block.entry = static_cast<char *>(pages) + entry;
  return true;
}

}  // namespace

Code *code_load(const void *blob, size_t bytes, size_t entry) try {
  if (entry >= bytes) {
    PyErr_Format(PyExc_ValueError, "machine code of %zu bytes has no entry point at offset %zu", bytes, entry);
    return nullptr;
  }
  static bool registered =
      pthread_atfork([] { mutex.lock(); }, after_fork_in_parent, after_fork_in_child) == 0;
  (void)registered;
  auto block = std::make_unique<Block>();
  block->bytes = bytes;
  block->references = 1;
  block->length = round_up(bytes, kAlignment);
  std::lock_guard guard(mutex);
  block->epoch = fork_epoch;
  if (!load_shared(blob, entry, *block) && !load_private(blob, entry, *block)) {
    PyErr_SetString(PyExc_RuntimeError, "the operating system refuses executable memory, which compiled kernels need");
    return nullptr;
  }
  return block.release();
} catch (const std::bad_alloc &) {
  PyErr_NoMemory();
  return nullptr;
}

void code_release(Code *code) {
  if (--code->references > 0) return;
  std::unique_ptr<Block> block(static_cast<Block *>(code));
  if (!block->region) {
    munmap(static_cast<char *>(block->entry) - block->offset, block->length);
    return;
  }
  std::lock_guard guard(mutex);
  if (block->region->inherited || block->epoch != fork_epoch) return;
  try {
    block->region->give_back(block->offset, block->length);
  } catch (const std::bad_alloc &) {  // no memory to note it: the range stays unused
  }
}

}  // namespace rushlight
