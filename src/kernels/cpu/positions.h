// Walks along columns (channels.h). Included once for each target, so that what a kernel does at a
// position becomes a part of the loop, and its sums stay in registers.
#if defined(CGRUN_KERNELS_CPU_POSITIONS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_POSITIONS_H_
#undef CGRUN_KERNELS_CPU_POSITIONS_H_
#else
#define CGRUN_KERNELS_CPU_POSITIONS_H_
#endif

#include <cstdint>

#include "src/kernels/cpu/channels.h"
#include "src/kernels/cpu/sums.h"

// Behind the parameters of a lambda: a part of the loop that calls it.
#ifndef CGRUN_IN_LOOP
#define CGRUN_IN_LOOP HWY_ATTR __attribute__((always_inline))
#endif

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

// Calls work(offset, chain) for every position of the columns, in order; two chains take turns.
template <int64_t kChains, class Work>
HWY_INLINE void ForPositions(const Channels& p, const Columns& columns, const Work& work) {
  for (int64_t n = 0; n < p.images; ++n) {
    int64_t at = p.ColumnOffset(n, columns.first);
    int64_t e = 0;
    if constexpr (kChains == 2) {
      for (; e + 2 <= p.plane; e += 2, at += 2 * p.block) {
        work(at, 0);
        work(at + p.block, 1);
      }
      if (e < p.plane && n % 2 == 1) {  // a constant chain is a register
        work(at, 1);
        continue;
      }
    }
    for (; e < p.plane; ++e, at += p.block) work(at, 0);
  }
}

// A loop asks for what it reads so many positions ahead. With more tensors the number is less.
// Otherwise what has come is gone from the first-level cache before its turn.
inline constexpr int64_t kPositionsAhead = 24;

// Asks for what `kVectors` vectors at a later position need: processors foresee no strides as long
// as those of channels side by side.
template <int64_t kVectors, int64_t kAhead = kPositionsAhead, class T>
HWY_INLINE void PrefetchAhead(const Channels& p, const T* at) {
  if constexpr (kVectors == 1) return;  // one after another
  constexpr int64_t kLine = 64;
  const auto ahead = reinterpret_cast<uintptr_t>(at + kAhead * p.block);
  for (int64_t byte = 0; byte < kVectors * static_cast<int64_t>(kF32Lanes * sizeof(T));
       byte += kLine) {
    __builtin_prefetch(reinterpret_cast<const void*>(ahead + static_cast<uintptr_t>(byte)));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_POSITIONS_H_
