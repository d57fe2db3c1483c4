// Hashes samples, or files, one after another into one hash.
#include "src/model_data/data_identity.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <span>
#include <vector>

#include "src/data/field_values.h"
#include "src/io/checksum.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr char kSamples[] = "data.samples", kLabelsChecksum[] = "data.labels_checksum",
               kChecksum[] = "data.checksum", kFilesChecksum[] = "data.files_checksum";

class LabelHash {
 public:
  explicit LabelHash(uint64_t seed) : hash_(seed) {}
  void Visit(int64_t value, int64_t /*sample*/) {
    any_ = true;
    values_.push_back(value);
    if (values_.size() == kRoom) Flush();
  }
  uint64_t Finish() {
    Flush();
    return hash_;
  }
  bool any() const { return any_; }

 private:
  static constexpr size_t kRoom = 4096;
  void Flush() {
    hash_ = HashBytes(std::as_bytes(std::span(values_)), hash_);
    values_.clear();
  }

  uint64_t hash_;
  bool any_ = false;
  std::vector<int64_t> values_;
};

// Names without their folders, which may be moved: which class a file is of, labels say.
class FileHash {
 public:
  FileHash(uint64_t seed, int64_t files) : hash_(seed), step_(1 + files / kMostSizes) {}
  void Add(const std::string& path) {
    const std::string name = fs::path(path).filename().string();
    hash_ = HashBytes(std::as_bytes(std::span(name)), hash_);
    if (count_++ % step_ != 0) return;
    std::error_code error;
    const auto size = static_cast<uint64_t>(fs::file_size(path, error));
    hash_ = HashBytes(std::as_bytes(std::span(&size, 1)), hash_);
  }
  uint64_t hash() const { return hash_; }

 private:
  static constexpr int64_t kMostSizes = 50'000;  // each asks the file system

  uint64_t hash_;
  int64_t step_, count_ = 0;
};

uint64_t HashOfSamples(const Dataset& whole, uint64_t hash) {
  constexpr int64_t kMostBytes = 1 << 30;
  int64_t bytes = 0;
  std::vector<std::vector<std::byte>> fields;
  for (const DataField& field : whole.fields()) {
    bytes += field.bytes();
    fields.emplace_back(static_cast<size_t>(field.bytes()));
  }
  const std::vector<std::span<std::byte>> spans(fields.begin(), fields.end());
  const int64_t step = 1 + bytes * whole.size() / kMostBytes;
  for (int64_t i = 0; i < whole.size(); i += step) {
    whole.Read(i, spans);
    for (const std::span<std::byte> field : spans) hash = HashBytes(field, hash);
  }
  return hash;
}

std::string TextIn(const SafetensorsMetadata& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

}  // namespace

DataIdentity IdentityOf(const Dataset& whole) {
  LabelHash labels(static_cast<uint64_t>(whole.size()));
  for (size_t i = 0; i < whole.fields().size(); ++i) {
    const bool is_number = whole.fields()[i].shape.Elements() == 1;
    if (is_number) VisitIntegers(whole, i, labels);  // all of them, whatever is left out below
  }
  const uint64_t hash = labels.Finish();
  const std::string of_labels = labels.any() ? HashText(hash) : "";
  std::vector<size_t> decoded;  // fields
  for (size_t i = 0; i < whole.fields().size(); ++i) {
    if (!whole.AtHand(i)) decoded.push_back(i);
  }
  if (decoded.empty()) return {whole.size(), of_labels, HashText(HashOfSamples(whole, hash)), ""};
  FileHash files(hash, whole.size());
  for (int64_t sample = 0; sample < whole.size(); ++sample) {
    for (const size_t field : decoded) {
      const SamplePlace place = whole.PlaceOf(field, sample, std::nullopt);
      if (place.own) files.Add(place.file);
    }
  }
  return {whole.size(), of_labels, "", HashText(files.hash())};
}

SafetensorsMetadata IdentityMetadata(const DataIdentity& identity) {
  SafetensorsMetadata metadata = {{kSamples, std::to_string(identity.samples)}};
  if (!identity.of_labels.empty()) metadata[kLabelsChecksum] = identity.of_labels;
  if (!identity.of_samples.empty()) metadata[kChecksum] = identity.of_samples;
  if (!identity.of_files.empty()) metadata[kFilesChecksum] = identity.of_files;
  return metadata;
}

std::optional<DataIdentity> ReadIdentity(const SafetensorsMetadata& metadata) {
  const std::string samples = TextIn(metadata, kSamples);
  DataIdentity identity{0, TextIn(metadata, kLabelsChecksum), TextIn(metadata, kChecksum),
                        TextIn(metadata, kFilesChecksum)};
  const char* last = samples.data() + samples.size();
  const auto [end, error] = std::from_chars(samples.data(), last, identity.samples);
  if (samples.empty() || error != std::errc() || end != last) return std::nullopt;
  return identity;
}

DataDifference DifferenceOf(const DataIdentity& before, const DataIdentity& now) {
  if (now.samples != before.samples) {
    const bool fewer = now.samples < before.samples;
    return {CountText(now.samples, "sample") + (now.samples == 1 ? " is " : " are ") +
                (fewer ? "left, of " : "there now, and ") + std::to_string(before.samples) +
                (fewer ? "" : " were then"),
            true};
  }
  const auto known = [](const std::string& a, const std::string& b) {
    return !a.empty() && !b.empty();
  };
  const auto differ = [&](const std::string& a, const std::string& b) {
    return known(a, b) && a != b;
  };
  if (differ(before.of_labels, now.of_labels)) {
    return {"as many samples, but with other labels", true};
  }
  if (!differ(before.of_samples, now.of_samples) && !differ(before.of_files, now.of_files)) {
    return {};
  }
  if (!known(before.of_labels, now.of_labels)) {
    return {"as many samples, but others, or with other labels", false};
  }
  return {"as many samples with the same labels, but others", false};
}

}  // namespace cgrun
