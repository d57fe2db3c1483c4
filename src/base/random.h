// Counter-based random numbers: Philox4x32-10 (Salmon et al., SC 2011). A number depends on its key
// and counter alone, never on what was drawn before. `constexpr` functions run on the GPU, too
// (nvcc's --expt-relaxed-constexpr).
#ifndef CGRUN_BASE_RANDOM_H_
#define CGRUN_BASE_RANDOM_H_

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <string_view>
#include <vector>

namespace cgrun {

// Returns the 128-bit block of counter (`high`, `low`) under `key`.
constexpr std::array<uint32_t, 4> Philox(uint64_t key, uint64_t high, uint64_t low) {
  uint32_t c0 = static_cast<uint32_t>(low), c1 = static_cast<uint32_t>(low >> 32);
  uint32_t c2 = static_cast<uint32_t>(high), c3 = static_cast<uint32_t>(high >> 32);
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c0, p1 = uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<uint32_t>(p1);
    c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {c0, c1, c2, c3};
}

// Makes a 64-bit key from a seed and a stable name (FNV-1a over the name, mixed with the seed).
uint64_t RandomKey(uint64_t seed, std::string_view name);

// Makes a number in [0, 1) of 32 random bits. It is exact in f32 (24 bits).
constexpr float UniformFloat(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1.0p-24f; }

// A stream: element `i` under (`key`, `high`). Four consecutive elements share one Philox block.
constexpr uint32_t RandomBits(uint64_t key, uint64_t high, uint64_t i) {
  return Philox(key, high, i / 4)[i % 4];
}

// Standard normal number `i` of a stream (Box-Muller on two words of one block).
// A template, as std::log() is no constant expression.
template <class Real = double>
constexpr Real RandomNormal(uint64_t key, uint64_t high, uint64_t i) {
  const std::array<uint32_t, 4> words = Philox(key, high, i / 2);
  const bool is_second = i % 2 != 0;
  const uint32_t first = is_second ? words[2] : words[0];
  const uint32_t second = is_second ? words[3] : words[1];
  const Real u = (static_cast<Real>(first) + 1.0) * 0x1.0p-32;  // (0, 1]
  const Real v = static_cast<Real>(second) * 0x1.0p-32;
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

// A permutation of 0 … n−1 that is a pure function of (`key`, `high`) (Fisher-Yates), into `order`
// of n elements: nothing is allocated.
void RandomPermutation(uint64_t key, uint64_t high, std::span<int64_t> order);
// Does the same with `high` 0, as a new vector.
std::vector<int64_t> RandomPermutation(uint64_t key, int64_t n);

}  // namespace cgrun

#endif  // CGRUN_BASE_RANDOM_H_
