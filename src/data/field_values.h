// The values of one field of a data set, sample by sample: VisitIntegers(), FindNotFinite() and
// FindOutside().
#ifndef CGRUN_DATA_FIELD_VALUES_H_
#define CGRUN_DATA_FIELD_VALUES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "src/data/dataset.h"

namespace cgrun {

// A field with elements that are NaN or infinite.
struct NotFiniteNumbers {
  int64_t samples = 0;  // that have such elements
  int64_t sample = 0;   // the first of them
  int64_t element = 0;  // its first such element
  bool nan = false;     // else infinite
};

// A field with elements that are not within a range.
struct NumbersOutside {
  int64_t samples = 0;  // that have such elements
  int64_t sample = 0;   // the first of them
  double number = 0;    // its first such element
};

// Calls `act(sample, bytes)` for each sample of field `field`, where that is at hand.
template <class Act>
void ForEachSample(const Dataset& dataset, size_t field, Act act) {
  constexpr int64_t kBlock = 1 << 18;
  const int64_t bytes = dataset.fields()[field].bytes();
  if (!dataset.AtHand(field) || bytes == 0) return;
  const int64_t most = std::max<int64_t>(1, kBlock / bytes);
  std::vector<std::byte> block(static_cast<size_t>(std::min(most, dataset.size()) * bytes));
  for (int64_t first = 0; first < dataset.size(); first += most) {
    const int64_t count = std::min(most, dataset.size() - first);
    const auto samples = std::span(block).first(static_cast<size_t>(count * bytes));
    dataset.ReadField(field, first, samples);
    for (int64_t i = 0; i < count; ++i) {
      act(first + i, std::span<const std::byte>(samples).subspan(static_cast<size_t>(i * bytes),
                                                                 static_cast<size_t>(bytes)));
    }
  }
}

template <class T, class Visitor>
void VisitIntegersAs(const Dataset& dataset, size_t field, Visitor& visitor) {
  ForEachSample(dataset, field, [&](int64_t sample, std::span<const std::byte> bytes) {
    for (size_t i = 0; i < bytes.size(); i += sizeof(T)) {
      T value;
      std::memcpy(&value, bytes.data() + i, sizeof(T));
      visitor.Visit(static_cast<int64_t>(value), sample);
    }
  });
}

// Calls `visitor.Visit(value, sample)` for each element of field `field`, where it is of an integer
// type and at hand.
template <class Visitor>
void VisitIntegers(const Dataset& dataset, size_t field, Visitor& visitor) {
  const DType dtype = dataset.fields()[field].dtype;
  if (dtype == DType::kI64) VisitIntegersAs<int64_t>(dataset, field, visitor);
  if (dtype == DType::kI32) VisitIntegersAs<int32_t>(dataset, field, visitor);
  if (dtype == DType::kU8) VisitIntegersAs<uint8_t>(dataset, field, visitor);
}

// Returns nothing where all elements are finite, or the field holds no floats at hand.
std::optional<NotFiniteNumbers> FindNotFinite(const Dataset& dataset, size_t field);

// Returns nothing where no element lies below `least` or above `most`; NaN is left out.
std::optional<NumbersOutside> FindOutside(const Dataset& dataset, size_t field, double least,
                                          double most);

}  // namespace cgrun

#endif  // CGRUN_DATA_FIELD_VALUES_H_
