// Running kernels and matrix products: loops that the machine code does not contain, and the split over threads.
#include <algorithm>

#include "plan.h"

namespace rushlight {
namespace {

constexpr int64_t kColumnUnit = 64;      // parts of a vectorised loop begin at multiples of this
constexpr int64_t kSlot = 64;            // bytes of a part's accumulators per written operand
constexpr int64_t kRowUnit = 16;         // the same for the rows and columns of a matrix product

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A kernel over rows (the core's loops and P1 flattened) times columns (P0). Columns are cut into `parts` of `length`.
struct KernelRun {
  const KernelLaunch &launch;
  char *const *bases;
  const int64_t *scalars;
  int64_t parts = 1, length = 0;

  int64_t rows(int64_t begin, int64_t end, int64_t column, int64_t columns) const {
    size_t count = launch.operands.size(), loops = launch.sizes.size(), outer = launch.outer_sizes.size();
    SmallVector<char *, 24> pointers(count);
    SmallVector<int64_t, 8> sizes(loops);
    std::copy(launch.sizes.begin(), launch.sizes.end(), sizes.begin());
    sizes[1] = columns;
    char *scratch = nullptr;
    if (launch.scratch && !(scratch = thread_scratch(launch.scratch))) return kOutOfMemory;
    int64_t status = 0, inner = launch.sizes[0];
    for (int64_t row = begin; row < end;) {
      int64_t first = row % inner, index = row / inner;
      sizes[0] = std::min(inner - first, end - row);
      for (size_t i = 0; i < count; ++i) {
        const int64_t *strides = &launch.strides[i * loops];
        pointers[i] = offset_by(address_in(bases, launch.operands[i]), first * strides[0] + column * strides[1]);
      }
      for (size_t o = outer; o-- > 0; index /= launch.outer_sizes[o]) {
        int64_t position = index % launch.outer_sizes[o];
        for (size_t i = 0; i < count; ++i) {
          pointers[i] = offset_by(pointers[i], position * launch.outer_strides[i * outer + o]);
        }
      }
      if (launch.turned.empty()) status |= call(pointers.data(), sizes.data(), launch.strides.data(), scratch);
      else status |= tiles(pointers.data(), sizes[0], columns, scratch);
      row += sizes[0];
    }
    return status;
  }
  int64_t call(char *const *pointers, const int64_t *sizes, const int64_t *strides, char *scratch) const {
    return launch.code.entry()(pointers, sizes, strides, scalars, launch.ints.data(), scratch, kernel_functions.data());
  }
  // Rows by columns in tiles, for which operands that lie the other way round are copied to scratch memory.
  int64_t tiles(char *const *pointers, int64_t rows, int64_t columns, char *scratch) const {
    size_t count = launch.operands.size();
    SmallVector<char *, 24> moved(count);
    int64_t status = 0;
    for (int64_t row = 0; row < rows; row += kTileRows) {
      for (int64_t column = 0; column < columns; column += kTileColumns) {
        int64_t sizes[2] = {std::min(kTileRows, rows - row), std::min(kTileColumns, columns - column)};
        for (size_t i = 0; i < count; ++i) {
          moved[i] = pointers[i] + row * launch.strides[i * 2] + column * launch.strides[i * 2 + 1];
        }
        char *tile = scratch;
        for (const TurnedOperand &each : launch.turned) {
          size_t first = each.operand * 2;
          copy_strided(each.itemsize, 2, sizes, tile, &launch.tile_strides[first], moved[each.operand],
                       &launch.strides[first]);
          moved[each.operand] = tile;
          tile += kTileRows * kTileColumns * each.itemsize;
        }
        status |= call(moved.data(), sizes, launch.tile_strides.data(), scratch);
      }
    }
    return status;
  }
  // Everything in one call: no loops outside the machine code.
  int64_t once() const {
    size_t count = launch.operands.size();
    SmallVector<char *, 24> pointers(count);
    for (size_t i = 0; i < count; ++i) pointers[i] = address_in(bases, launch.operands[i]);
    char *scratch = nullptr;
    if (launch.scratch && !(scratch = thread_scratch(launch.scratch))) return kOutOfMemory;
    return call(pointers.data(), launch.sizes.data(), launch.strides.data(), scratch);
  }

  // Units are numbered row by row, part by part.
  int64_t units(int64_t begin, int64_t end) const {
    if (parts == 1) return rows(begin, end, 0, launch.sizes[1]);
    int64_t status = 0;
    while (begin < end) {
      int64_t row = begin / parts, part = begin % parts, taken = std::min(parts - part, end - begin);
      int64_t column = part * length;
      status |= rows(row, row + 1, column, std::min(taken * length, launch.sizes[1] - column));
      begin += taken;
    }
    return status;
  }
};

int64_t run_parallel(KernelRun &run) {
  const KernelLaunch &launch = run.launch;
  int64_t columns = launch.sizes[1], threads = thread_count();
  if (launch.rows < 4 * threads) {
    int64_t unit = launch.vector == 'P' ? kColumnUnit : 1;
    int64_t wanted = divide_up(4 * threads, std::max<int64_t>(launch.rows, 1));
    run.length = divide_up(divide_up(columns, wanted), unit) * unit;
    run.parts = divide_up(columns, run.length);
  }
  int64_t count = launch.rows * run.parts;
  auto grain = int64_t(kParallelWork / std::max(launch.work / double(count), 1.0));
  auto task = [](void *context, int64_t begin, int64_t end) -> int64_t {
    try {
      return static_cast<KernelRun *>(context)->units(begin, end);
    } catch (const std::bad_alloc &) {
      return kOutOfMemory;
    }
  };
  return parallel_for(count, std::max<int64_t>(grain, 1), task, &run);
}

// ---------------------------------------------------------------- reductions split into parts

struct PartialRun {
  const KernelLaunch &launch;
  char *const *bases;
  const int64_t *scalars;
  char *slots;
  int64_t parts, length;  // of the split loop

  int64_t part_bytes() const { return kSlot * int64_t(launch.split->written.size()); }

  int64_t part(int64_t index) const {
    const SplitReduction &split = *launch.split;
    size_t count = launch.operands.size(), loops = launch.sizes.size();
    SmallVector<char *, 24> pointers(count);
    SmallVector<int64_t, 8> sizes(loops);
    SmallVector<int64_t, 128> strides(launch.strides.size());
    std::copy(launch.sizes.begin(), launch.sizes.end(), sizes.begin());
    std::copy(launch.strides.begin(), launch.strides.end(), strides.begin());
    int64_t begin = index * length;
    sizes[split.loop] = std::min(length, sizes[split.loop] - begin);
    for (size_t i = 0; i < count; ++i) {
      pointers[i] = address_in(bases, launch.operands[i]) + begin * strides[i * loops + split.loop];
    }
    for (size_t w = 0; w < split.written.size(); ++w) {
      size_t i = split.written[w];
      pointers[i] = slots + index * part_bytes() + kSlot * int64_t(w);
      strides[i * loops + 1] = parts * part_bytes();
      strides[i * loops] = sizes[1] * parts * part_bytes();
    }
    return split.partial.entry()(pointers.data(), sizes.data(), strides.data(), scalars, launch.ints.data(), nullptr,
                                 kernel_functions.data());
  }
  int64_t finish() const {
    size_t count = launch.operands.size(), loops = launch.sizes.size();
    SmallVector<char *, 24> pointers(count);
    SmallVector<int64_t, 128> strides(count * 3);
    int64_t sizes[3] = {launch.sizes[0], launch.sizes[1], parts};
    for (size_t i = 0; i < count; ++i) {
      pointers[i] = address_in(bases, launch.operands[i]);
      for (size_t l = 0; l < 3; ++l) strides[i * 3 + l] = l < 2 ? launch.strides[i * loops + l] : 0;
    }
    return launch.split->finish.entry()(pointers.data(), sizes, strides.data(), scalars, launch.ints.data(), slots,
                                        kernel_functions.data());
  }
};

int64_t run_split(const KernelLaunch &launch, char *const *bases, const int64_t *scalars) {
  int64_t extent = launch.sizes[launch.split->loop];
  auto wanted = std::min(int64_t(launch.work / kParallelWork), int64_t(4) * thread_count());
  PartialRun run{launch, bases, scalars, nullptr, 1, divide_up(divide_up(extent, wanted), kColumnUnit) * kColumnUnit};
  run.parts = divide_up(extent, run.length);
  auto bytes = size_t(launch.sizes[0] * launch.sizes[1] * run.parts * run.part_bytes());
  run.slots = static_cast<char *>(allocate(bytes));
  if (!run.slots) return kOutOfMemory;
  auto task = [](void *context, int64_t begin, int64_t end) -> int64_t {
    int64_t status = 0;
    try {
      for (int64_t i = begin; i < end; ++i) status |= static_cast<PartialRun *>(context)->part(i);
    } catch (const std::bad_alloc &) {
      status = kOutOfMemory;
    }
    return status;
  };
  int64_t status = parallel_for(run.parts, 1, task, &run);
  if (!status) status = run.finish();
  deallocate(run.slots, bytes);
  return status;
}

// ---------------------------------------------------------------- matrix products

// One product per batch element and per block of rows or columns.
struct GemmRun {
  const GemmLaunch &launch;
  char *const *bases;
  int64_t blocks = 1, length = 0;  // blocks of `length` rows, or columns if there are more of those
  bool by_rows = true;

  char *matrix(const GemmLaunch::Matrix &matrix, int64_t batch) const {
    char *data = address_in(bases, matrix.address);
    for (size_t d = launch.batch.size(); d-- > 0; batch /= launch.batch[d]) {
      data = offset_by(data, batch % launch.batch[d] * matrix.batch_strides[d]);
    }
    return data;
  }
  void unit(int64_t index) const {
    int64_t batch = index / blocks, begin = index % blocks * length, item = itemsize(launch.dtype);
    char *a = matrix(launch.a, batch), *b = matrix(launch.b, batch), *out = matrix(launch.out, batch);
    int64_t m = launch.m, n = launch.n;
    if (by_rows) {
      a = offset_by(a, begin * item * (launch.a.transposed ? 1 : launch.a.leading));  // without elements it may be null
      out += begin * item * launch.out.leading;
      m = std::min(length, m - begin);
    } else {
      b = offset_by(b, begin * item * (launch.b.transposed ? launch.b.leading : 1));
      out += begin * item;
      n = std::min(length, n - begin);
    }
    gemm(launch.dtype, launch.a.transposed, launch.b.transposed, m, n, launch.k, a, launch.a.leading, b,
         launch.b.leading, out, launch.out.leading);
  }
};

}  // namespace

int64_t parallel_units(const KernelLaunch &launch) {
  return launch.rows * (launch.vector == 'P' ? divide_up(launch.sizes[1], kColumnUnit) : launch.sizes[1]);
}

int64_t run_kernel(const KernelLaunch &launch, char *const *bases, const int64_t *words) try {
  SmallVector<int64_t, 16> gathered;
  for (int word : launch.scalars) gathered.push_back(words[word]);
  KernelRun run{launch, bases, launch.scalars.empty() ? words : gathered.data()};
  if (launch.work > kParallelWork && thread_count() > 1) {
    return launch.split ? run_split(launch, bases, run.scalars) : run_parallel(run);
  }
  return launch.outer_sizes.empty() && launch.turned.empty() ? run.once() : run.rows(0, launch.rows, 0, launch.sizes[1]);
} catch (const std::bad_alloc &) {  // the caller may not hold the GIL
  return kOutOfMemory;
}

int64_t run_gemm(const GemmLaunch &launch, char *const *bases) {
  GemmRun run{launch, bases};
  int64_t batches = 1;
  for (int64_t size : launch.batch) batches *= size;
  run.by_rows = launch.m >= launch.n;
  int64_t extent = run.length = run.by_rows ? launch.m : launch.n;
  double work = double(launch.m) * double(launch.n) * double(std::max<int64_t>(launch.k, 1));
  int64_t threads = thread_count();
  if (threads > 1 && batches < threads && work > 4 * kParallelWork) {
    run.length = divide_up(divide_up(extent, divide_up(threads, batches)), kRowUnit) * kRowUnit;
    run.blocks = divide_up(extent, run.length);
  }
  auto task = [](void *context, int64_t begin, int64_t end) -> int64_t {
    for (int64_t i = begin; i < end; ++i) static_cast<GemmRun *>(context)->unit(i);
    return 0;
  };
  auto grain = int64_t(4 * kParallelWork / std::max(work / double(run.blocks), 1.0));
  return parallel_for(batches * run.blocks, std::max<int64_t>(grain, 1), task, &run);
}

}  // namespace rushlight
