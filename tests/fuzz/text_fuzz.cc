// Reads text as bytes, plain and compressed. An accepted file gives its own bytes.
#include <algorithm>

#include "src/base/check.h"
#include "tests/fuzz/dataset_fuzzing.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

constexpr size_t kLength = 4;

bool IsCompressed(std::span<const std::byte> input) {
  return input.size() > 1 && input[0] == std::byte{0x1F} && input[1] == std::byte{0x8B};
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  bool accepted = false;
  WithFile(input, [&](const std::string& path) {
    const auto dataset = TryDataset("text", {{"file", path}, {"length", std::to_string(kLength)}});
    accepted = dataset != nullptr;
    if (!accepted || IsCompressed(input)) return;
    CGRUN_CHECK(dataset->size() == static_cast<int64_t>((input.size() - 1) / kLength));
    const auto at = static_cast<size_t>(dataset->size() - 1) * kLength;
    const auto sample = ReadSample(*dataset, dataset->size() - 1);
    CGRUN_CHECK(std::ranges::equal(sample[0], input.subspan(at, kLength)));
    CGRUN_CHECK(std::ranges::equal(sample[1], input.subspan(at + 1, kLength)));
  });
  return accepted;
}

std::vector<std::string> GoodInputs() {
  const std::string text = "to be or not to be";
  return {text, Gzip(text), "12345"};
}

}  // namespace cgrun
