// Checksums of bytes: CRC-32 for formats that want it, a 64-bit hash for comparing weights.
#ifndef CGRUN_IO_CHECKSUM_H_
#define CGRUN_IO_CHECKSUM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace cgrun {

// Computes the CRC-32 of ISO 3309 (gzip, PNG, zip). It continues from `crc`, that of the bytes
// before.
uint32_t Crc32(std::span<const std::byte> bytes, uint32_t crc = 0);

// XXH64 of xxHash: equal bytes and seed give the same hash on every machine. It does not resist
// adversaries. Files keep these hashes, so they never change. Several tensors are hashed in a
// chain, each with the hash before it as its seed, so that the result depends on where each tensor
// ends.
uint64_t HashBytes(std::span<const std::byte> bytes, uint64_t seed = 0);

// 16 hexadecimal digits and a 0, as a hash is shown and kept.
using HashDigits = std::array<char, 17>;
HashDigits DigitsOf(uint64_t hash);  // never allocates
std::string HashText(uint64_t hash);

}  // namespace cgrun

#endif  // CGRUN_IO_CHECKSUM_H_
