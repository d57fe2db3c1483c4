// Samples are rows of the fields' tensors.
#include "src/data/tensor_dataset.h"

#include <cstring>
#include <utility>

#include "src/base/check.h"

namespace cgrun {

TensorDataset::TensorDataset(std::vector<FieldTensor> parts) : parts_(std::move(parts)) {
  for (const FieldTensor& part : parts_) {
    CGRUN_CHECK(part.tensor.shape()[0].size == size()) << part.name;
    std::vector<int64_t> sizes = part.tensor.shape().Sizes();
    sizes.erase(sizes.begin());
    fields_.push_back({part.name, part.tensor.dtype(), Shape::Of(sizes)});
  }
}

void TensorDataset::Read(int64_t index, std::span<const std::span<std::byte>> out) const {
  CGRUN_CHECK(index >= 0 && index < size()) << "sample " << index;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const std::byte* samples = parts_[i].tensor.bytes().data();
    std::memcpy(out[i].data(), samples + static_cast<size_t>(index) * out[i].size(), out[i].size());
  }
}

int64_t TensorDataset::decoded_bytes() const {
  int64_t bytes = 0;
  for (const FieldTensor& part : parts_) bytes += static_cast<int64_t>(part.tensor.bytes().size());
  return bytes;
}

std::span<const std::string> TensorDataset::ClassNames(size_t index) const {
  return parts_[index].classes;
}

std::optional<FieldRange> TensorDataset::FindRange(size_t index,
                                                   std::span<const int64_t> ignored) const {
  const DType dtype = parts_[index].tensor.dtype();
  if (dtype == DType::kI64) return RangeAs<int64_t>(index, ignored);
  if (dtype == DType::kI32) return RangeAs<int32_t>(index, ignored);
  if (dtype == DType::kU8) return RangeAs<uint8_t>(index, ignored);
  return std::nullopt;
}

template <class T>
std::optional<FieldRange> TensorDataset::RangeAs(size_t index,
                                                 std::span<const int64_t> ignored) const {
  const FieldTensor& part = parts_[index];
  const std::span<const T> values = part.tensor.data<T>();
  const int64_t each = fields_[index].shape.Elements();
  RangeFinder finder(ignored);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!finder.Wants(values[i])) continue;
    finder.Take({values[i], static_cast<int64_t>(i) / each, part.file, part.mark});
  }
  return finder.range();
}

}  // namespace cgrun
