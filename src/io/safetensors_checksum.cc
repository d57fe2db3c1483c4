// XXH64 of each part, chained through its seed.
#include "src/io/safetensors_checksum.h"

#include <algorithm>

namespace cgrun {

SafetensorsChecksum::SafetensorsChecksum(const SafetensorsMetadata& metadata) {
  for (const auto& [key, text] : metadata) {
    if (key == kChecksumKey) continue;
    AddBytes(std::as_bytes(std::span(key)));
    AddBytes(std::as_bytes(std::span(text)));
  }
}

void SafetensorsChecksum::AddTensor(const TensorSpec& tensor) {
  AddBytes(std::as_bytes(std::span(tensor.name)));
  const std::string_view type = Name(tensor.dtype);
  AddBytes(std::as_bytes(std::span(type)));
  for (int axis = 0; axis < tensor.shape.rank(); ++axis) {
    AddBytes(std::as_bytes(std::span(&tensor.shape[axis].size, 1)));
  }
}

void SafetensorsChecksum::AddBytes(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::span<const std::byte> block = bytes.first(std::min(bytes.size(), kBlock));
    hash_ = HashBytes(block, hash_);
    bytes = bytes.subspan(block.size());
  }
}

}  // namespace cgrun
