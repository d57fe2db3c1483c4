// CRC-32 by zlib; XXH64 after its specification: four lanes of 8 bytes, merged, then the tail.
#include "src/io/checksum.h"

#include <zlib.h>

#include <array>
#include <bit>
#include <cstdio>

#include "src/io/endian.h"

namespace cgrun {
namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9, kPrime4 = 0x85EBCA77C2B2AE63;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5;
constexpr size_t kStripe = 32;  // bytes that the four lanes take together

uint64_t Round(uint64_t lane, uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

// Takes whole stripes from the front of `bytes`.
uint64_t HashStripes(std::span<const std::byte>& bytes, uint64_t seed) {
  std::array<uint64_t, 4> lanes = {seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1};
  for (; bytes.size() >= kStripe; bytes = bytes.subspan(kStripe)) {
    for (size_t i = 0; i < 4; ++i) {
      lanes[i] = Round(lanes[i], LoadLittle<uint64_t>(bytes.data() + 8 * i));
    }
  }
  uint64_t hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
                  std::rotl(lanes[3], 18);
  for (uint64_t lane : lanes) hash = (hash ^ Round(0, lane)) * kPrime1 + kPrime4;
  return hash;
}

// The last bytes, fewer than a stripe: words of 8, then of 4, then single bytes.
uint64_t HashTail(std::span<const std::byte> bytes, uint64_t hash) {
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    hash ^= Round(0, LoadLittle<uint64_t>(bytes.data()));
    hash = std::rotl(hash, 27) * kPrime1 + kPrime4;
  }
  if (bytes.size() >= 4) {
    hash ^= LoadLittle<uint32_t>(bytes.data()) * kPrime1;
    hash = std::rotl(hash, 23) * kPrime2 + kPrime3;
    bytes = bytes.subspan(4);
  }
  for (std::byte byte : bytes) {
    hash = std::rotl(hash ^ (static_cast<uint64_t>(byte) * kPrime5), 11) * kPrime1;
  }
  return hash;
}

}  // namespace

uint32_t Crc32(std::span<const std::byte> bytes, uint32_t crc) {
  // A null pointer asks zlib for the initial value, whatever was passed.
  if (bytes.empty()) return crc;
  return static_cast<uint32_t>(
      crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

uint64_t HashBytes(std::span<const std::byte> bytes, uint64_t seed) {
  const uint64_t size = bytes.size();
  uint64_t hash = size >= kStripe ? HashStripes(bytes, seed) : seed + kPrime5;
  hash = HashTail(bytes, hash + size);
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

std::string HashText(uint64_t hash) {
  char digits[2 * sizeof hash + 1];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

}  // namespace cgrun
