// Counter-based random numbers: Philox4x32-10 (Salmon et al., SC 2011). A number depends on its key
// and counter alone, never on what was drawn before.
#ifndef CGRUN_BASE_RANDOM_H_
#define CGRUN_BASE_RANDOM_H_

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cgrun {

// The 128-bit block of counter (`high`, `low`) under `key`.
std::array<uint32_t, 4> Philox(uint64_t key, uint64_t high, uint64_t low);

// A 64-bit key from a seed and a stable name (FNV-1a over the name, mixed with the seed).
uint64_t RandomKey(uint64_t seed, std::string_view name);

// [0, 1) from 32 random bits, exact in f32 (24 bits).
inline float UniformFloat(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1.0p-24f; }

// A stream: element `i` under (`key`, `high`). Four consecutive elements share one Philox block.
inline uint32_t RandomBits(uint64_t key, uint64_t high, uint64_t i) {
  return Philox(key, high, i / 4)[i % 4];
}

// Standard normal number `i` of a stream (Box-Muller on two words of one block).
double RandomNormal(uint64_t key, uint64_t high, uint64_t i);

// A permutation of 0 … n−1 that is a pure function of (`key`, `high`) (Fisher-Yates), into `order`
// of n elements: nothing is allocated.
void RandomPermutation(uint64_t key, uint64_t high, std::span<int64_t> order);
// The same with `high` 0, as a new vector.
std::vector<int64_t> RandomPermutation(uint64_t key, int64_t n);

}  // namespace cgrun

#endif  // CGRUN_BASE_RANDOM_H_
