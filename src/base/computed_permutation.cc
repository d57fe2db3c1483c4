// In each round, one half of the number is mixed into the other.
#include "src/base/computed_permutation.h"

#include <bit>
#include <utility>

#include "src/base/check.h"
#include "src/base/random.h"

namespace cgrun {

ComputedPermutation::ComputedPermutation(uint64_t key, int64_t size) : key_(key), size_(size) {
  CGRUN_CHECK(size > 0) << size;
  const int bits = std::bit_width(static_cast<uint64_t>(size - 1));
  if (bits > 2) half_bits_ = (bits + 1) / 2;
}

int64_t ComputedPermutation::operator[](int64_t i) const {
  constexpr uint64_t kRounds = 4;
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  auto number = static_cast<uint64_t>(i);
  do {  // the domain is less than four times the size
    uint64_t left = number >> half_bits_, right = number & mask;
    for (uint64_t round = 0; round < kRounds; ++round) {
      left ^= Philox(key_, round, right)[0] & mask;
      std::swap(left, right);
    }
    number = left << half_bits_ | right;
  } while (number >= static_cast<uint64_t>(size_));
  return static_cast<int64_t>(number);
}

}  // namespace cgrun
