// Sizes are compared without the axes of size 1.
#include "src/model_data/sample_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace cgrun {
namespace {

using Sizes = std::vector<int64_t>;

Sizes Squeezed(std::span<const int64_t> sizes) {
  Sizes squeezed;
  std::ranges::copy_if(sizes, std::back_inserter(squeezed), [](int64_t size) { return size != 1; });
  return squeezed;
}

// Returns whether a field has a number a class where an input wants the class: one-hot rows, as a
// rule.
bool IsOneHot(const DataField& input, const DataField& field) {
  Sizes rows = field.shape.Sizes();
  if (rows.empty() || rows.back() < 2) return false;
  rows.pop_back();
  return (input.dtype == DType::kI32 || input.dtype == DType::kI64) &&
         Squeezed(rows) == Squeezed(input.shape.Sizes());
}

std::string LineOf(const std::string& name, DType dtype, const Sizes& sizes) {
  return name + ": {type: " + std::string(Name(dtype)) + ", shape: " + Shape::Of(sizes).ToString() +
         "}";
}

// Returns whether the first axis of an input is a batch of such samples.
bool HasBatch(const Sizes& input, const Sizes& field) {
  if (input.size() < 2 || input.size() <= field.size() || input[0] == 1) return false;
  return ShapesAgree(field, std::span(input).subspan(1));
}

}  // namespace

std::string TypeText(DType dtype, const Shape& shape) {
  return std::string(Name(dtype)) + shape.ToString();
}

std::string TypeText(const DataField& field) { return TypeText(field.dtype, field.shape); }

bool ShapesAgree(std::span<const int64_t> data, std::span<const int64_t> input) {
  const Sizes a = Squeezed(data), b = Squeezed(input);
  if (a == b) return true;
  if (a.size() > 1 && b.size() > 1) return false;
  const std::optional<int64_t> elements = CheckedElements(data);
  return elements && elements == CheckedElements(input);
}

bool HasChannelsLast(std::span<const int64_t> last, std::span<const int64_t> first) {
  const Sizes a(last.begin(), last.end());
  Sizes b(first.begin(), first.end());
  if (b.size() == 2) b.insert(b.begin(), 1);
  return a.size() == 3 && b.size() == 3 && a != b && a[0] == b[1] && a[1] == b[2] && a[2] == b[0];
}

std::optional<Sizes> FindTransposition(std::span<const int64_t> from, std::span<const int64_t> to) {
  constexpr size_t kMostAxes = 6;
  if (from.size() > kMostAxes || !std::ranges::is_permutation(from, to)) return std::nullopt;
  Sizes perm(from.size());
  std::iota(perm.begin(), perm.end(), 0);
  const auto fits = [&] {
    return std::ranges::equal(perm, to, {},
                              [&](int64_t axis) { return from[static_cast<size_t>(axis)]; });
  };
  while (!fits()) std::ranges::next_permutation(perm);
  return perm;
}

std::string TranspositionText(std::span<const int64_t> perm, bool behind) {
  std::vector<int64_t> axes(perm.begin(), perm.end());
  if (behind) {
    for (int64_t& axis : axes) ++axis;
    axes.insert(axes.begin(), 0);
  }
  return fmt::format("{}", fmt::join(axes, ", "));
}

std::string InputText(const std::string& name, const DataField& field) {
  Sizes sizes = field.shape.Sizes();
  if (sizes.size() == 2) sizes.insert(sizes.begin(), 1);
  if (sizes.size() == 1 && sizes[0] == 1) sizes.clear();
  return LineOf(name, field.dtype, sizes);
}

std::string MisfitHelp(const DataField& input, const DataField& field) {
  const Sizes wanted = input.shape.Sizes(), there = field.shape.Sizes();
  const std::string as_is = "write `" + InputText(input.name, field) + "`";
  if (HasBatch(wanted, there)) {
    return "a shape is that of one sample, without the batch: " + as_is;
  }
  if (IsOneHot(input, field)) {
    return "labels are class indices: of one-hot rows, `argmax` over the last axis makes them, in "
           "NumPy `y.argmax(-1)`; for other data " +
           as_is;
  }
  if (HasChannelsLast(wanted, there)) return "channels come first in the data: " + as_is;
  const auto perm = FindTransposition(there, wanted);
  if (!perm || there == wanted) return as_is;
  const std::string transposed =
      "`{op: transpose, in: " + input.name + ", perm: [" + TranspositionText(*perm, true) + "]}`";
  const std::string of_input =
      "for the input write `" + LineOf(input.name, field.dtype, there) + "`";
  if (HasChannelsLast(there, wanted)) {
    return "channels come last in the data; images are [channels, height, width] behind " +
           transposed + ", and " + of_input;
  }
  return "the data have these axes in another order: " + transposed + " makes " +
         input.shape.ToString() + " of them, and " + of_input;
}

}  // namespace cgrun
