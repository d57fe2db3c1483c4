// Splits a kernel's work over the thread team. Every region has the same team size, since OpenMP
// allocates when the size changes. Small work stays on the calling thread.
#ifndef CGRUN_KERNELS_CPU_PARALLEL_H_
#define CGRUN_KERNELS_CPU_PARALLEL_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "src/kernels/kernel.h"
#include "src/kernels/strided.h"

namespace cgrun::cpu {

// Says how much work a kernel does for each byte. If it computes more than it moves, a second
// thread pays for fewer bytes.
enum class Work { kMoves, kComputes };

// Below this many bytes of operands a second thread costs more than it does.
inline constexpr int64_t LeastParallelBytes(Work work) {
  return (work == Work::kMoves ? 512 : 128) << 10;
}

// Parts of tensors begin at multiples of this many elements: whole vectors and cache lines.
inline constexpr int64_t kGrain = 256;

// An estimate of elementwise work for one thread, to choose between kernels by.
inline constexpr double kElementsPerSecond = 4e9;

// `def`, of a kernel whose time goes by the elements that it goes through.
inline KernelDef PerElement(KernelDef def) {
  def.flops_per_second = kElementsPerSecond;
  return def;
}

// A sum over elements is added up in pieces of this many, whose sums are then added in order, so
// that it does not depend on the threads.
inline constexpr int64_t kSumPiece = 16 << 10;
inline constexpr int64_t SumPieces(int64_t elements) {
  return (elements + kSumPiece - 1) / kSumPiece;
}

// The threads on which a node is to run: 1, or all that it may have. For Prepare.
inline int ThreadsFor(const KernelRequest& request, Work work = Work::kMoves) {
  return OperandBytes(request.node) < LeastParallelBytes(work) ? 1 : request.threads;
}

// Calls work(part, begin, end) for parts of [0, count), a thread a part. Parts begin at multiples
// of `grain`, and are numbered from 0. No result may depend on where a part begins.
template <class Work>
void SplitParts(int threads, int64_t count, int64_t grain, const Work& work) noexcept {
  if (threads == 1) {
    if (count > 0) work(0, int64_t{0}, count);
    return;
  }
  const int64_t grains = (count + grain - 1) / grain;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int part = 0; part < threads; ++part) {
    const int64_t begin = grains * part / threads * grain;
    const int64_t end = std::min(grains * (part + 1) / threads * grain, count);
    if (begin < end) work(part, begin, end);
  }
}

// Does the same for work(begin, end).
template <class Work>
void Split(int threads, int64_t count, int64_t grain, const Work& work) noexcept {
  SplitParts(threads, count, grain, [&](int, int64_t begin, int64_t end) { work(begin, end); });
}

// Returns the offsets of row `row` of a space. The number of a row counts the indices of all axes
// but the inner one.
template <size_t K>
std::array<int64_t, K> RowOffsets(const StridedSpace<K>& space, std::array<int64_t, K> base,
                                  int64_t row) {
  for (size_t axis = space.outer.size(); axis-- > 0;) {
    const auto& [size, strides] = space.outer[axis];
    for (size_t k = 0; k < K; ++k) base[k] += row % size * strides[k];
    row /= size;
  }
  return base;
}

// Calls row(offsets) for the rows [begin, end) of a space.
template <size_t K, class Row>
void ForRows(const StridedSpace<K>& space, const std::array<int64_t, K>& base, int64_t begin,
             int64_t end, const Row& row) {
  typename StridedSpace<K>::Axis last;
  if (!space.outer.empty()) last = space.outer.back();
  for (int64_t index = begin; index < end;) {
    std::array<int64_t, K> at = RowOffsets(space, base, index);
    int64_t run = std::min(last.size - index % last.size, end - index);
    for (index += run; run > 0; --run) {
      row(at);
      for (size_t k = 0; k < K; ++k) at[k] += last.strides[k];
    }
  }
}

// Calls run(offsets, count) for the elements [begin, end) of a space, in row-major order: `count`
// of them from `offsets` on along the inner axis.
template <size_t K, class Run>
void ForRuns(const StridedSpace<K>& space, const std::array<int64_t, K>& base, int64_t begin,
             int64_t end, const Run& run) {
  const int64_t size = space.inner.size;
  const auto& strides = space.inner.strides;
  const auto part = [&](int64_t row, int64_t from, int64_t to) {
    std::array<int64_t, K> at = RowOffsets(space, base, row);
    for (size_t k = 0; k < K; ++k) at[k] += from * strides[k];
    run(at, to - from);
  };
  const int64_t first = begin / size, last = end / size;
  if (first == last) return part(first, begin % size, end % size);
  if (begin % size > 0) part(first, begin % size, size);
  ForRows(space, base, begin % size > 0 ? first + 1 : first, last,
          [&](const auto& at) { run(at, size); });
  if (end % size > 0) part(last, 0, end % size);
}

// Calls work(offsets, begin, end) for elements [begin, end) of each row of a space: whole rows
// where there are enough of them for the threads, else a part of every row.
template <size_t K, class Work>
void SplitRows(const StridedSpace<K>& space, const std::array<int64_t, K>& base, int threads,
               const Work& work) noexcept {
  const int64_t rows = space.outer_count, size = space.inner.size;
  if (rows >= 4 * threads || size < threads * kGrain) {
    Split(threads, rows, 1, [&](int64_t begin, int64_t end) {
      ForRows(space, base, begin, end, [&](const auto& at) { work(at, int64_t{0}, size); });
    });
  } else {
    Split(threads, size, kGrain, [&](int64_t begin, int64_t end) {
      ForRows(space, base, 0, rows, [&](const auto& at) { work(at, begin, end); });
    });
  }
}

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_PARALLEL_H_
