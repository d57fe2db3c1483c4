// For an integer only its record and its column are known. The file is read again for its cell.
#include "src/data/csv_dataset.h"

#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "src/data/csv_reader.h"
#include "src/data/options.h"
#include "src/data/text_number.h"

namespace cgrun {
namespace {

// The first element of a sample that is `value`, a sample's elements being `bytes`; 0 where none
// is.
template <class T>
size_t FindElement(std::span<const std::byte> bytes, int64_t value) {
  const size_t count = bytes.size() / sizeof(T);
  for (size_t i = 0; i < count; ++i) {
    T element = 0;
    std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
    if (static_cast<int64_t>(element) == value) return i;
  }
  return 0;
}

size_t FindElement(DType dtype, std::span<const std::byte> bytes, int64_t value) {
  if (dtype == DType::kI64) return FindElement<int64_t>(bytes, value);
  if (dtype == DType::kI32) return FindElement<int32_t>(bytes, value);
  if (dtype == DType::kU8) return FindElement<uint8_t>(bytes, value);
  return 0;
}

}  // namespace

CsvDataset::CsvDataset(std::vector<FieldSamples> parts, DataFindings findings,
                       IntegerLines integers, std::vector<std::string> notes, int64_t scratch_bytes)
    : TensorDataset(std::move(parts), std::move(notes)),
      findings_(std::move(findings)),
      integers_(std::move(integers)),
      scratch_bytes_(scratch_bytes) {
  integers_.lines.Seal();
}

int64_t CsvDataset::decoded_bytes() const {
  return TensorDataset::decoded_bytes() + integers_.lines.memory_bytes();
}

SamplePlace CsvDataset::PlaceOf(size_t index, int64_t sample, std::optional<int64_t> value) const {
  if (!value) return PlaceOfElement(index, sample, 0, nullptr);
  const auto bytes = static_cast<size_t>(fields()[index].bytes());
  std::vector<std::byte> of_sample(bytes);
  part(index).store.Read(sample * fields()[index].bytes(), of_sample);
  std::string text;
  SamplePlace place =
      PlaceOfElement(index, sample, FindElement(fields()[index].dtype, of_sample, *value), &text);
  if (!text.empty() && text != std::to_string(*value)) place.text = QuotedText(text);
  return place;
}

// With `text`, what stands there; "" where that is not known.
SamplePlace CsvDataset::PlaceOfElement(size_t index, int64_t sample, size_t element,
                                       std::string* text) const {
  SamplePlace place = TensorDataset::PlaceOf(index, sample, std::nullopt);
  const auto columns = integers_.columns.find(index);
  if (integers_.lines.bytes() == 0 || columns == integers_.columns.end()) return place;
  int32_t line = 0;
  integers_.lines.Read(IntegerLines::Bytes(sample), std::as_writable_bytes(std::span(&line, 1)));
  place.mark = FindField(place.file, integers_.delimiter, line, columns->second.at(element), text);
  return place;
}

}  // namespace cgrun
