// The random numbers of src/base/random.h in vectors, bit for bit: a vector holds as many Philox
// blocks as it has 64-bit lanes. Included once for each target.
#if defined(CGRUN_KERNELS_CPU_PHILOX_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_PHILOX_H_
#undef CGRUN_KERNELS_CPU_PHILOX_H_
#else
#define CGRUN_KERNELS_CPU_PHILOX_H_
#endif

#include "src/kernels/cpu/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

using Words = hn::ScalableTag<uint64_t>;  // a number of 32 bits a lane
using Word = hn::Vec<Words>;

inline constexpr int64_t kPhiloxWords = 4;  // numbers of 32 bits in a block

HWY_INLINE Word MultiplyLow(Word a, uint32_t b) {
  const hn::Repartition<uint32_t, Words> d32;
  return hn::MulEven(hn::BitCast(d32, a), hn::BitCast(d32, hn::Set(Words(), b)));
}

// The words of the blocks first, first + 1, … of the stream (key, step), a block a lane.
struct PhiloxBlocks {
  Word words[kPhiloxWords];

  HWY_INLINE PhiloxBlocks(uint64_t key, uint64_t step, uint64_t first) {
    const Words d;
    const Word low = hn::Add(hn::Set(d, first), hn::Iota(d, 0));
    Word c0 = low, c1 = hn::ShiftRight<32>(low), c2 = hn::Set(d, step);
    Word c3 = hn::Set(d, step >> 32);
    uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
      const Word p0 = MultiplyLow(c0, 0xD2511F53), p1 = MultiplyLow(c2, 0xCD9E8D57);
      c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1), hn::Set(d, k0));
      c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3), hn::Set(d, k1));
      c1 = p1;
      c3 = p0;
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    const Word mask = hn::Set(d, 0xFFFFFFFF);
    words[0] = hn::And(c0, mask);
    words[1] = hn::And(c1, mask);
    words[2] = hn::And(c2, mask);
    words[3] = hn::And(c3, mask);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_PHILOX_H_
