// Fields of floats, and how a data set reads a field by default.
#include "src/data/field_values.h"

#include "src/base/finite.h"
#include "src/base/host_tensor.h"

namespace cgrun {

// Reads whole samples, and keeps one field of each.
void Dataset::ReadField(size_t index, int64_t first, std::span<std::byte> out) const {
  std::vector<std::vector<std::byte>> others;
  std::vector<std::span<std::byte>> spans;
  for (const DataField& field : fields()) {
    others.emplace_back(static_cast<size_t>(field.bytes()));
    spans.emplace_back(others.back());
  }
  const auto bytes = static_cast<size_t>(fields()[index].bytes());
  for (; !out.empty(); out = out.subspan(bytes)) {
    spans[index] = out.first(bytes);
    Read(first++, spans);
  }
}

std::optional<NotFiniteNumbers> FindNotFinite(const Dataset& dataset, size_t field) {
  const DType dtype = dataset.fields()[field].dtype;
  if (!IsFloat(dtype)) return std::nullopt;
  const auto width = static_cast<size_t>(SizeOf(dtype));
  std::optional<NotFiniteNumbers> found;
  ForEachSample(dataset, field, [&](int64_t sample, std::span<const std::byte> rest) {
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

std::optional<NumbersOutside> FindOutside(const Dataset& dataset, size_t field, double least,
                                          double most) {
  const DType dtype = dataset.fields()[field].dtype;
  if (!IsFloat(dtype)) return std::nullopt;
  const auto width = static_cast<size_t>(SizeOf(dtype));
  std::optional<NumbersOutside> found;
  ForEachSample(dataset, field, [&](int64_t sample, std::span<const std::byte> bytes) {
    for (; !bytes.empty(); bytes = bytes.subspan(width)) {
      const double number = NumberAt(dtype, bytes.data());
      if (!(number < least || number > most)) continue;
      if (!found) found = NumbersOutside{.sample = sample, .number = number};
      ++found->samples;
      return;
    }
  });
  return found;
}

}  // namespace cgrun
