// Reads IDX files, plain and compressed: as images, as images and labels at once, as labels alone.
// An accepted file gives its own bytes and keeps the memory limit.
#include <algorithm>

#include "src/base/check.h"
#include "src/io/endian.h"
#include "tests/fuzz/dataset_fuzzing.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

// Two images of one byte.
constexpr std::string_view kTwoImages{"\0\0\x08\1\0\0\0\2\7\x09", 10};

// Bytes are given as they stand in the file.
void CheckBytes(std::span<const std::byte> input, const Dataset& dataset) {
  const size_t header = 4 + 4 * std::to_integer<size_t>(input[3]);
  const auto size = static_cast<size_t>(dataset.fields()[0].bytes());
  CGRUN_CHECK(header + static_cast<size_t>(dataset.size()) * size == input.size());
  const auto last = ReadSample(dataset, dataset.size() - 1)[0];
  CGRUN_CHECK(std::ranges::equal(last, input.last(size)));
}

bool TryFile(std::span<const std::byte> input, const std::string& path) {
  const auto images = TryDataset("idx", {{"images", path}});
  const bool plain_bytes = input.size() > 4 && input[0] == std::byte{0} && input[2] == std::byte{8};
  if (images && plain_bytes) CheckBytes(input, *images);
  const auto both = TryDataset("idx", {{"images", path}, {"labels", path}});
  CGRUN_CHECK(images || !both);
  bool labels = false;
  WithFile(AsBytes(kTwoImages), [&](const std::string& two) {
    labels = TryDataset("idx", {{"images", two}, {"labels", path}}) != nullptr;
  });
  return images || labels;
}

std::string Idx(char type, const std::vector<int>& sizes, size_t element_bytes) {
  std::string file = {0, 0, type, static_cast<char>(sizes.size())};
  size_t bytes = element_bytes;
  for (const int size : sizes) {
    file += {0, 0, 0, static_cast<char>(size)};
    bytes *= static_cast<size_t>(size);
  }
  for (size_t i = 0; i < bytes; ++i) file += static_cast<char>(37 * i);
  return file;
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  bool accepted = false;
  WithFile(input, [&](const std::string& path) { accepted = TryFile(input, path); });
  return accepted;
}

std::vector<std::string> GoodInputs() {
  return {Idx(0x08, {3, 4, 2}, 1), Idx(0x08, {2}, 1),       Idx(0x09, {2, 3}, 1),
          Idx(0x0B, {2}, 2),       Idx(0x0C, {2}, 4),       Idx(0x0D, {2, 2}, 4),
          Idx(0x0E, {3, 1}, 8),    Gzip(Idx(0x08, {2}, 1)), Gzip(Idx(0x0B, {4, 3}, 2))};
}

}  // namespace cgrun
