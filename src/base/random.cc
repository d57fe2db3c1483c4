// Philox4x32-10 and what is drawn from it.
#include "src/base/random.h"

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace cgrun {
namespace {

constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;

uint64_t Mix(uint64_t x) {  // SplitMix64's finaliser (Steele et al., OOPSLA 2014)
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

std::array<uint32_t, 4> Philox(uint64_t key, uint64_t high, uint64_t low) {
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
                               static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)};
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = static_cast<uint64_t>(kMultiplier0) * c[0];
    const uint64_t p1 = static_cast<uint64_t>(kMultiplier1) * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  return c;
}

uint64_t RandomKey(uint64_t seed, std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return Mix(hash ^ Mix(seed + 0x9E3779B97F4A7C15));
}

double RandomNormal(uint64_t key, uint64_t high, uint64_t i) {
  const std::array<uint32_t, 4> words = Philox(key, high, i / 2);
  const size_t pair = 2 * (i % 2);
  const double u = (static_cast<double>(words[pair]) + 1.0) * 0x1.0p-32;  // (0, 1]
  const double v = static_cast<double>(words[pair + 1]) * 0x1.0p-32;
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

void RandomPermutation(uint64_t key, uint64_t high, std::span<int64_t> order) {
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i-- > 1;) {
    const std::array<uint32_t, 4> words = Philox(key, high, i);
    const uint64_t bits = (static_cast<uint64_t>(words[1]) << 32) | words[0];
    const uint64_t j = bits % (i + 1);  // bias below 2^-32 for any data set
    std::swap(order[i], order[j]);
  }
}

std::vector<int64_t> RandomPermutation(uint64_t key, int64_t n) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  RandomPermutation(key, 0, order);
  return order;
}

}  // namespace cgrun
