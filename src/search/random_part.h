// Random numbers of a search: each depends on its key and counter alone.
#ifndef CGRUN_SEARCH_RANDOM_PART_H_
#define CGRUN_SEARCH_RANDOM_PART_H_

#include <cstdint>
#include <string_view>

#include "src/base/random.h"

namespace cgrun {

// Returns number `i` of trial `trial` for a parameter, in [0, 1), with 53 random bits.
inline double RandomPart(uint64_t seed, std::string_view parameter, int64_t trial, uint64_t i) {
  const auto words = Philox(RandomKey(seed, parameter), static_cast<uint64_t>(trial), i);
  const uint64_t bits = uint64_t{words[0]} << 32 | words[1];
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

}  // namespace cgrun

#endif  // CGRUN_SEARCH_RANDOM_PART_H_
