// Samples one after another, into one hash.
#include "src/model_data/data_hash.h"

#include <algorithm>
#include <span>
#include <vector>

#include "src/io/checksum.h"

namespace cgrun {
namespace {

// If samples are small, many are read at once. A large one may have to be decoded.
constexpr int64_t kSmallBytes = 4 << 10, kMostSmall = 256, kMostLarge = 8;

}  // namespace

uint64_t HashOf(const Dataset& dataset) {
  int64_t bytes = 0;
  std::vector<std::vector<std::byte>> fields;
  std::vector<std::span<std::byte>> spans;
  for (const DataField& field : dataset.fields()) {
    bytes += field.bytes();
    fields.emplace_back(static_cast<size_t>(field.bytes()));
  }
  for (std::vector<std::byte>& field : fields) spans.emplace_back(field);
  const int64_t count = std::min(bytes <= kSmallBytes ? kMostSmall : kMostLarge, dataset.size());
  uint64_t hash = static_cast<uint64_t>(dataset.size());
  for (int64_t i = 0; i < count; ++i) {
    dataset.Read(i * dataset.size() / count, spans);
    for (const std::span<std::byte> field : spans) hash = HashBytes(field, hash);
  }
  return hash;
}

}  // namespace cgrun
