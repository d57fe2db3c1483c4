// Checksums of bytes: CRC-32 for formats that want it, a 64-bit hash for comparing weights.
#ifndef CGRUN_IO_CHECKSUM_H_
#define CGRUN_IO_CHECKSUM_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace cgrun {

// CRC-32 of ISO 3309 (gzip, PNG, zip), continued from `crc`, that of the bytes before.
uint32_t Crc32(std::span<const std::byte> bytes, uint32_t crc = 0);

// XXH64 (Collet, "xxHash fast digest algorithm", specification 0.1.1): equal bytes and seed give
// the same hash on every machine; one flipped bit changes half of it. Not for adversaries. The hash
// of several tensors is chained through `seed`, so that it depends on where one ends and the next
// begins.
uint64_t HashBytes(std::span<const std::byte> bytes, uint64_t seed = 0);
// A hash as it is shown and kept: 16 hexadecimal digits.
std::string HashText(uint64_t hash);

}  // namespace cgrun

#endif  // CGRUN_IO_CHECKSUM_H_
