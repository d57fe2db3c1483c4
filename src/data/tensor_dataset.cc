// Samples are records of the fields' stores.
#include "src/data/tensor_dataset.h"

#include <utility>

#include "src/base/check.h"

namespace cgrun {

TensorDataset::TensorDataset(std::vector<FieldSamples> parts, std::vector<std::string> notes)
    : parts_(std::move(parts)), notes_(std::move(notes)) {
  for (FieldSamples& part : parts_) {
    CGRUN_CHECK(part.count() == size()) << part.field.name;
    part.store.Seal();
    fields_.push_back(part.field);
  }
}

void TensorDataset::Read(int64_t index, std::span<const std::span<std::byte>> out) const {
  CGRUN_CHECK(index >= 0 && index < size()) << "sample " << index;
  for (size_t i = 0; i < parts_.size(); ++i) ReadField(i, index, out[i]);
}

void TensorDataset::ReadField(size_t index, int64_t first, std::span<std::byte> out) const {
  parts_[index].store.Read(first * fields_[index].bytes(), out);
}

int64_t TensorDataset::decoded_bytes() const {
  int64_t bytes = 0;
  for (const FieldSamples& part : parts_) bytes += part.store.memory_bytes();
  return bytes;
}

std::span<const std::string> TensorDataset::ClassNames(size_t index) const {
  return parts_[index].classes;
}

SamplePlace TensorDataset::PlaceOf(size_t index, int64_t sample,
                                   std::optional<int64_t> /*value*/) const {
  return {sample, parts_[index].file, parts_[index].mark};
}

}  // namespace cgrun
