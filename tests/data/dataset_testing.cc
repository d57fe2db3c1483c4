// Options without a model file: their marks are empty, so that messages stand alone.
#include "tests/data/dataset_testing.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "src/data/field_values.h"

namespace cgrun {
namespace {

DataOption ParseOption(std::string value) {
  DataOption option{value, {}};
  if (!value.starts_with('[')) return option;
  option.value.clear();
  value = value.substr(1, value.size() - 2);
  for (size_t at = 0; at <= value.size();) {
    const size_t end = std::min(value.find(", ", at), value.size());
    option.items.push_back({value.substr(at, end - at), {}});
    at = end + 2;
  }
  return option;
}

}  // namespace

DatasetBuilder& DatasetBuilder::File(const std::string& name, std::string_view bytes) {
  std::filesystem::create_directories(std::filesystem::path(files_ / name).parent_path());
  WriteBytes(files_ / name, bytes);
  return *this;
}

DatasetBuilder& DatasetBuilder::Set(const std::string& name, const std::string& value) {
  options_.values[name] = ParseOption(value);
  return *this;
}

DatasetBuilder& DatasetBuilder::Input(const std::string& name, DType dtype, Shape shape) {
  options_.fields.push_back({name, dtype, std::move(shape)});
  return *this;
}

DatasetBuilder& DatasetBuilder::Limit(int64_t bytes) {
  options_.memory_limit = bytes;
  return *this;
}

DatasetBuilder& DatasetBuilder::Limit(int64_t bytes, int64_t cap) {
  options_.memory_cap = cap;
  return Limit(bytes);
}

DatasetBuilder& DatasetBuilder::Stream(int64_t most_in_memory, const std::string& folder) {
  options_.most_in_memory = most_in_memory;
  options_.stream_folder = folder.empty() ? files_.path() : folder;
  return *this;
}

DatasetBuilder& DatasetBuilder::Train(const Dataset& train) {
  options_.train = &train;
  return *this;
}

DatasetBuilder& DatasetBuilder::Kept(const DataFindings& kept) {
  options_.kept = &kept;
  return *this;
}

DatasetBuilder& DatasetBuilder::Split(double fraction, uint64_t seed) {
  options_.split = DataSplit{fraction, seed};
  return *this;
}

Opened DatasetBuilder::Open() const {
  DataOptions options = options_;
  options.folder = files_.path();
  Diagnostics diagnostics;
  Opened opened{OpenDataset({format_, {}}, options, diagnostics), ""};
  opened.errors = files_.Anonymous(diagnostics.ToString());
  EXPECT_EQ(opened.dataset == nullptr, diagnostics.has_errors()) << opened.errors;
  return opened;
}

std::vector<std::string> ReadSample(const Dataset& dataset, int64_t index) {
  std::vector<std::string> fields;
  for (const DataField& field : dataset.fields()) {
    fields.emplace_back(static_cast<size_t>(field.bytes()), '\xAA');
  }
  std::vector<std::span<std::byte>> out;
  for (std::string& field : fields) out.push_back(std::as_writable_bytes(std::span(field)));
  dataset.Read(index, out);
  return fields;
}

std::optional<FieldRange> RangeOf(const Dataset& dataset, size_t field) {
  struct Finder {
    void Visit(int64_t value, int64_t sample) {
      if (!any || value < smallest.first) smallest = {value, sample};
      if (!any || value > largest.first) largest = {value, sample};
      any = true;
    }
    bool any = false;
    std::pair<int64_t, int64_t> smallest, largest;
  };
  Finder finder;
  VisitIntegers(dataset, field, finder);
  if (!finder.any) return std::nullopt;
  const auto extreme = [&](const std::pair<int64_t, int64_t>& found) {
    const SamplePlace place = dataset.PlaceOf(field, found.second, std::nullopt);
    return FieldRange::Extreme{found.first, place.sample, place.file, place.mark};
  };
  return FieldRange{extreme(finder.smallest), extreme(finder.largest)};
}

}  // namespace cgrun
