// A 64-bit hash of bytes (FNV-1a), for telling weights and programs apart; not for security.
#ifndef CGRUN_BASE_HASH_H_
#define CGRUN_BASE_HASH_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace cgrun {

inline constexpr uint64_t kHashSeed = 0xCBF29CE484222325;

// Continues a hash: HashBytes(b, HashBytes(a)) is the hash of a, then b.
inline uint64_t HashBytes(std::span<const std::byte> bytes, uint64_t hash = kHashSeed) {
  for (std::byte b : bytes) hash = (hash ^ static_cast<uint64_t>(b)) * 0x100000001B3;
  return hash;
}

}  // namespace cgrun

#endif  // CGRUN_BASE_HASH_H_
