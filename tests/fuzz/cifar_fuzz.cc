// CIFAR's binary records, of each of its three kinds of labels.
// An accepted file keeps the memory limit and has no label beyond its classes.
#include <cstring>

#include "src/base/check.h"
#include "tests/fuzz/dataset_fuzzing.h"
#include "tests/fuzz/fuzz_target.h"

namespace cgrun {
namespace {

constexpr size_t kPixels = 3072;

// Labels of samples that are taken are labels of the classes.
bool TryFile(const std::string& path, int classes) {
  const auto dataset = TryDataset("cifar", {{"files", path}, {"classes", std::to_string(classes)}});
  if (!dataset) return false;
  for (int64_t i = 0; i < dataset->size(); ++i) {
    for (const auto& field : ReadSample(*dataset, i)) {
      if (field.size() == kPixels) continue;
      int32_t label = -1;
      CGRUN_CHECK(field.size() == sizeof(label));
      std::memcpy(&label, field.data(), sizeof(label));
      CGRUN_CHECK(0 <= label && label < classes) << label;
    }
  }
  return true;
}

std::string Record(const std::string& labels) {
  std::string record = labels;
  for (size_t i = 0; i < kPixels; ++i) record += static_cast<char>(7 * i);
  return record;
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  bool accepted = false;
  WithFile(input, [&](const std::string& path) {
    for (const int classes : {10, 20, 100}) accepted |= TryFile(path, classes);
  });
  return accepted;
}

std::vector<std::string> GoodInputs() {
  return {Record({9}), Record({0}) + Record({3}), Record({19, 99}),
          Record({1, 2}) + Record({0, 5})};
}

}  // namespace cgrun
