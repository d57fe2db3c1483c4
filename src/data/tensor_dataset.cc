// Samples are rows of the fields' tensors.
#include "src/data/tensor_dataset.h"

#include <cstring>
#include <utility>

#include "src/base/check.h"
#include "src/base/finite.h"

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

void TensorDataset::Visit(size_t index, IntegerVisitor& visitor) const {
  const DType dtype = parts_[index].tensor.dtype();
  if (dtype == DType::kI64) VisitAs<int64_t>(index, visitor);
  if (dtype == DType::kI32) VisitAs<int32_t>(index, visitor);
  if (dtype == DType::kU8) VisitAs<uint8_t>(index, visitor);
}

template <class T>
void TensorDataset::VisitAs(size_t index, IntegerVisitor& visitor) const {
  std::span<const T> rest = parts_[index].tensor.data<T>();
  const auto each = static_cast<size_t>(fields_[index].shape.Elements());
  for (int64_t sample = 0; sample < size(); ++sample) {
    for (const T value : rest.first(each)) visitor.Visit(value, sample);
    rest = rest.subspan(each);
  }
}

SamplePlace TensorDataset::PlaceOf(size_t index, int64_t sample) const {
  return {sample, parts_[index].file, parts_[index].mark};
}

std::optional<NotFiniteNumbers> TensorDataset::FindNotFinite(size_t index) const {
  const HostTensor& tensor = parts_[index].tensor;
  if (!IsFloat(tensor.dtype())) return std::nullopt;
  const auto width = static_cast<size_t>(SizeOf(tensor.dtype()));
  const auto bytes = static_cast<size_t>(fields_[index].bytes());
  std::optional<NotFiniteNumbers> found;
  for (int64_t sample = 0; sample < size(); ++sample) {
    auto rest = tensor.bytes().subspan(static_cast<size_t>(sample) * bytes, bytes);
    if (AllFinite(tensor.dtype(), rest)) continue;
    if (!found) {
      found = NotFiniteNumbers{.sample = sample};
      for (; AllFinite(tensor.dtype(), rest.first(width), &found->nan); ++found->element) {
        rest = rest.subspan(width);
      }
    }
    ++found->samples;
  }
  return found;
}

std::optional<NumbersOutside> TensorDataset::FindOutside(size_t index, double least,
                                                         double most) const {
  const HostTensor& tensor = parts_[index].tensor;
  if (!IsFloat(tensor.dtype())) return std::nullopt;
  const int64_t each = fields_[index].shape.Elements();
  std::optional<NumbersOutside> found;
  for (int64_t sample = 0; sample < size(); ++sample) {
    for (int64_t element = 0; element < each; ++element) {
      const double number = tensor.At(sample * each + element);
      if (!(number < least || number > most)) continue;  // NaN is found by FindNotFinite()
      if (!found) found = NumbersOutside{.sample = sample, .number = number};
      ++found->samples;
      break;
    }
  }
  return found;
}

}  // namespace cgrun
