// Makes the random numbers of src/base/random.h in vectors, bit for bit. A vector holds as many
// Philox blocks as it has 64-bit lanes. Each target of Highway includes this file once.
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

inline constexpr int kPhiloxRounds = 10;

// Holds the keys of the rounds in vectors. They are the same for all blocks of a stream.
struct PhiloxKeys {
  HWY_ALIGN uint64_t first[kPhiloxRounds][hn::MaxLanes(Words())];
  HWY_ALIGN uint64_t second[kPhiloxRounds][hn::MaxLanes(Words())];

  HWY_INLINE explicit PhiloxKeys(uint64_t key) {
    const Words d;
    uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
    for (int round = 0; round < kPhiloxRounds; ++round) {
      hn::Store(hn::Set(d, k0), d, first[round]);
      hn::Store(hn::Set(d, k1), d, second[round]);
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
  }
};

// Computes the words of the blocks first, first + 1, … of the stream (key, step), a block a lane,
// in `kVectors` vectors. A round waits for the products of the one before, and has those of the
// other vectors to do meanwhile.
template <int kVectors>
struct PhiloxBlocks {
  Word words[kVectors][kPhiloxWords];

  HWY_INLINE PhiloxBlocks(const PhiloxKeys& keys, uint64_t step, uint64_t first) {
    const Words d;
#pragma GCC unroll 4
    for (auto& [c0, c1, c2, c3] : words) {
      c0 = hn::Add(hn::Set(d, first), hn::Iota(d, 0));
      c1 = hn::ShiftRight<32>(c0);
      c2 = hn::Set(d, step);
      c3 = hn::Set(d, step >> 32);
      first += hn::Lanes(d);
    }
    for (int round = 0; round < kPhiloxRounds; ++round) {
      const Word k0 = hn::Load(d, keys.first[round]), k1 = hn::Load(d, keys.second[round]);
#pragma GCC unroll 4
      for (auto& [c0, c1, c2, c3] : words) {
        const Word p0 = MultiplyLow(c0, 0xD2511F53), p1 = MultiplyLow(c2, 0xCD9E8D57);
        c0 = hn::Xor3(hn::ShiftRight<32>(p1), c1, k0);
        c2 = hn::Xor3(hn::ShiftRight<32>(p0), c3, k1);
        c1 = p1;
        c3 = p0;
      }
    }
    const Word mask = hn::Set(d, 0xFFFFFFFF);
#pragma GCC unroll 4
    for (auto& block : words) {
#pragma GCC unroll 4
      for (Word& word : block) word = hn::And(word, mask);
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_PHILOX_H_
