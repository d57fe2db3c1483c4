// The checksum that our own files keep in their metadata, over all that a file says: metadata,
// names, types and shapes of tensors, and their bytes.
#ifndef CGRUN_IO_SAFETENSORS_CHECKSUM_H_
#define CGRUN_IO_SAFETENSORS_CHECKSUM_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "src/io/checksum.h"
#include "src/io/safetensors.h"

namespace cgrun {

// HashBytes() of one part after the other, in the order of the file. Never allocates.
class SafetensorsChecksum {
 public:
  // Bytes of a tensor are hashed in blocks of so many, and its last ones.
  static constexpr size_t kBlock = size_t{1} << 14;

  explicit SafetensorsChecksum(const SafetensorsMetadata& metadata);

  // The next tensor; its bytes follow, all at once or in blocks.
  void AddTensor(const TensorSpec& tensor);
  void AddBytes(std::span<const std::byte> bytes);

  HashDigits Text() const { return DigitsOf(hash_); }

 private:
  uint64_t hash_ = 0;
};

}  // namespace cgrun

#endif  // CGRUN_IO_SAFETENSORS_CHECKSUM_H_
