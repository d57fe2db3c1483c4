// Looks at the bits of exponents, so that no floating-point comparison is needed.
#include "src/base/finite.h"

#include <cstdint>
#include <cstring>

namespace cgrun {
namespace {

// Returns whether an element is NaN or infinite: all bits of its exponent are set.
template <class Bits, Bits kExponent>
bool AllFiniteBits(std::span<const std::byte> elements, bool* nan) {
  for (size_t i = 0; i + sizeof(Bits) <= elements.size(); i += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, elements.data() + i, sizeof(Bits));
    if ((bits & kExponent) != kExponent) continue;
    constexpr auto kFraction = static_cast<Bits>(kExponent & -kExponent) - 1;
    if (nan != nullptr) *nan = (bits & kFraction) != 0;
    return false;
  }
  return true;
}

}  // namespace

bool AllFinite(DType dtype, std::span<const std::byte> elements, bool* nan) {
  switch (dtype) {
    case DType::kF64:
      return AllFiniteBits<uint64_t, 0x7FF0000000000000>(elements, nan);
    case DType::kF32:
      return AllFiniteBits<uint32_t, 0x7F800000>(elements, nan);
    case DType::kBF16:
      return AllFiniteBits<uint16_t, 0x7F80>(elements, nan);
    case DType::kF16:
      return AllFiniteBits<uint16_t, 0x7C00>(elements, nan);
    default:
      return true;
  }
}

}  // namespace cgrun
