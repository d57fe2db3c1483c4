#include "src/base/random.h"

#include <numeric>
#include <utility>

namespace cgrun {
namespace {

uint64_t Mix(uint64_t x) {  // SplitMix64's finaliser (Steele et al., OOPSLA 2014)
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

uint64_t RandomKey(uint64_t seed, std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return Mix(hash ^ Mix(seed + 0x9E3779B97F4A7C15));
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
