// Samples are records of the fields' stores.
#include "src/data/tensor_dataset.h"

#include <cstring>
#include <utility>

#include "src/base/check.h"
#include "src/base/finite.h"
#include "src/base/host_tensor.h"

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
  for (size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].store.Read(index * std::ssize(out[i]), out[i]);
  }
}

int64_t TensorDataset::decoded_bytes() const {
  int64_t bytes = 0;
  for (const FieldSamples& part : parts_) bytes += part.store.memory_bytes();
  return bytes;
}

template <class Act>
void TensorDataset::ForEachSample(size_t index, Act act) const {
  const int64_t bytes = fields_[index].bytes();
  int64_t sample = 0;
  ForEachPiece(parts_[index].store, bytes, [&](int64_t, std::span<const std::byte> piece) {
    for (; !piece.empty(); piece = piece.subspan(static_cast<size_t>(bytes))) {
      act(sample++, piece.first(static_cast<size_t>(bytes)));
    }
  });
}

std::span<const std::string> TensorDataset::ClassNames(size_t index) const {
  return parts_[index].classes;
}

void TensorDataset::Visit(size_t index, IntegerVisitor& visitor) const {
  const DType dtype = fields_[index].dtype;
  if (dtype == DType::kI64) VisitAs<int64_t>(index, visitor);
  if (dtype == DType::kI32) VisitAs<int32_t>(index, visitor);
  if (dtype == DType::kU8) VisitAs<uint8_t>(index, visitor);
}

template <class T>
void TensorDataset::VisitAs(size_t index, IntegerVisitor& visitor) const {
  ForEachSample(index, [&](int64_t sample, std::span<const std::byte> bytes) {
    for (size_t i = 0; i < bytes.size(); i += sizeof(T)) {
      T value;
      std::memcpy(&value, bytes.data() + i, sizeof(T));
      visitor.Visit(static_cast<int64_t>(value), sample);
    }
  });
}

SamplePlace TensorDataset::PlaceOf(size_t index, int64_t sample) const {
  return {sample, parts_[index].file, parts_[index].mark};
}

std::optional<NotFiniteNumbers> TensorDataset::FindNotFinite(size_t index) const {
  const DType dtype = fields_[index].dtype;
  if (!IsFloat(dtype)) return std::nullopt;
  const auto width = static_cast<size_t>(SizeOf(dtype));
  std::optional<NotFiniteNumbers> found;
  ForEachSample(index, [&](int64_t sample, std::span<const std::byte> rest) {
    if (AllFinite(dtype, rest)) return;
    if (!found) {
      found = NotFiniteNumbers{.sample = sample};
      for (; AllFinite(dtype, rest.first(width), &found->nan); ++found->element) {
        rest = rest.subspan(width);
      }
    }
    ++found->samples;
  });
  return found;
}

std::optional<NumbersOutside> TensorDataset::FindOutside(size_t index, double least,
                                                         double most) const {
  const DType dtype = fields_[index].dtype;
  if (!IsFloat(dtype)) return std::nullopt;
  const auto width = static_cast<size_t>(SizeOf(dtype));
  std::optional<NumbersOutside> found;
  ForEachSample(index, [&](int64_t sample, std::span<const std::byte> bytes) {
    for (; !bytes.empty(); bytes = bytes.subspan(width)) {
      const double number = NumberAt(dtype, bytes.data());
      if (!(number < least || number > most)) continue;  // NaN is found by FindNotFinite()
      if (!found) found = NumbersOutside{.sample = sample, .number = number};
      ++found->samples;
      return;
    }
  });
  return found;
}

}  // namespace cgrun
