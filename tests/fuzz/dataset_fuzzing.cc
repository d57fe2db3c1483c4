// Opening a data set whose options all stand in a model file that is not there.
#include "tests/fuzz/dataset_fuzzing.h"

#include <algorithm>

#include "src/base/check.h"
#include "src/data/field_values.h"
#include "tests/fuzz/fuzz_target.h"

namespace cgrun {
namespace {

// Finds what is wrong with samples, and where the last of each field was read from.
void LookAtAll(const Dataset& dataset) {
  struct Last {
    void Visit(int64_t number, int64_t of_sample) {
      value = number;
      sample = of_sample;
    }
    int64_t value = 0, sample = 0;
  };
  for (size_t i = 0; i < dataset.fields().size(); ++i) {
    Last last;
    VisitIntegers(dataset, i, last);
    dataset.PlaceOf(i, last.sample, std::nullopt);
    dataset.PlaceOf(i, last.sample, last.value);
    FindNotFinite(dataset, i);
  }
}

}  // namespace

std::vector<std::vector<std::byte>> ReadSample(const Dataset& dataset, int64_t index) {
  std::vector<std::vector<std::byte>> sample;
  for (const DataField& field : dataset.fields())
    sample.emplace_back(static_cast<size_t>(field.bytes()));
  const std::vector<std::span<std::byte>> spans(sample.begin(), sample.end());
  dataset.Read(index, spans);
  return sample;
}

std::unique_ptr<Dataset> TryDataset(const std::string& format,
                                    const std::map<std::string, std::string>& values,
                                    std::vector<DataField> fields) {
  constexpr int64_t kMostSamples = 32;
  const auto file = std::make_shared<const SourceFile>(SourceFile{"model.yaml", "data: here\n"});
  const SourceMark mark{file, 1, 1};
  DataOptions options;
  options.mark = mark;
  for (const auto& [key, value] : values) options.values[key] = {value, mark};
  options.fields = std::move(fields);
  options.memory_limit = kDatasetLimit;
  Diagnostics diagnostics;
  std::unique_ptr<Dataset> dataset = OpenDataset({format, mark}, options, diagnostics);
  CGRUN_CHECK((dataset == nullptr) == diagnostics.has_errors()) << diagnostics.ToString();
  if (!dataset) {
    std::vector<std::string> files = {"model.yaml:1:1"};
    for (const auto& [key, value] : values) files.push_back(value);
    CheckErrors(diagnostics, files);
    return nullptr;
  }
  CGRUN_CHECK(dataset->size() > 0);
  CGRUN_CHECK(dataset->decoded_bytes() <= kDatasetLimit) << dataset->decoded_bytes();
  for (int64_t i = 0; i < std::min(dataset->size(), kMostSamples); ++i) ReadSample(*dataset, i);
  ReadSample(*dataset, dataset->size() - 1);
  LookAtAll(*dataset);
  return dataset;
}

}  // namespace cgrun
