// CRC-32 by zlib, XXH64 by xxHash.
#include "src/io/checksum.h"

#include <xxhash.h>
#include <zlib.h>

#include <cstdio>

namespace cgrun {

uint32_t Crc32(std::span<const std::byte> bytes, uint32_t crc) {
  // A null pointer asks zlib for the initial value, whatever was passed.
  if (bytes.empty()) return crc;
  return static_cast<uint32_t>(
      crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

uint64_t HashBytes(std::span<const std::byte> bytes, uint64_t seed) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

HashDigits DigitsOf(uint64_t hash) {
  HashDigits digits;
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

std::string HashText(uint64_t hash) { return DigitsOf(hash).data(); }

}  // namespace cgrun
