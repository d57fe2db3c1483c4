// Samples one after another, into one hash.
#include "src/train/data_hash.h"

#include <algorithm>
#include <span>
#include <vector>

#include "src/io/checksum.h"

namespace cgrun {
namespace {

constexpr int64_t kMostBytes = int64_t{16} << 20;  // of samples in memory
constexpr int64_t kStreamed = 8;                   // samples of files, which are decoded for it

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
  const int64_t most =
      dataset.decoded_bytes() > 0 ? kMostBytes / std::max<int64_t>(1, bytes) : kStreamed;
  const int64_t count = std::clamp<int64_t>(most, 1, dataset.size());
  uint64_t hash = static_cast<uint64_t>(dataset.size());
  for (int64_t i = 0; i < count; ++i) {
    dataset.Read(i * dataset.size() / count, spans);
    for (const std::span<std::byte> field : spans) hash = HashBytes(field, hash);
  }
  return hash;
}

}  // namespace cgrun
