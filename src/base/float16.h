// IEEE binary16, f16, as it is stored.
#ifndef CGRUN_BASE_FLOAT16_H_
#define CGRUN_BASE_FLOAT16_H_

#include <bit>
#include <cstdint>

#include "src/base/dtype.h"

namespace cgrun {

// A sign, 5 bits of exponent, 10 of mantissa. Numbers are rounded to nearest, ties to even. The
// conversions choose between results and never branch. So compilers make vector code of loops, and
// all instruction sets give the same bits. GPUs run the same code.
struct Float16 {
  uint16_t bits = 0;

  Float16() = default;
  constexpr explicit Float16(float value) : bits(BitsOf(value)) {}
  constexpr explicit Float16(double value) : bits(BitsOf(RoundedToOdd(value))) {}

  constexpr explicit operator float() const {
    constexpr uint32_t kExponent = 0x7C00u << 13, kBias = (127u - 15) << 23;
    constexpr float kSubnormal = std::bit_cast<float>(113u << 23);  // 2⁻¹⁴
    const uint32_t shifted = (bits & 0x7FFFu) << 13;
    const uint32_t normal = shifted + kBias;
    const uint32_t special = shifted + kBias + ((128u - 16) << 23);  // infinity and NaN
    const uint32_t subnormal =
        std::bit_cast<uint32_t>(std::bit_cast<float>(normal + (1u << 23)) - kSubnormal);
    const uint32_t exponent = shifted & kExponent;
    const uint32_t size = exponent == kExponent ? special : exponent == 0 ? subnormal : normal;
    return std::bit_cast<float>(size | (bits & 0x8000u) << 16);
  }

 private:
  static constexpr uint16_t BitsOf(float value) {
    constexpr uint32_t kInfinity = 255u << 23, kTooLarge = (127u + 16) << 23;
    constexpr uint32_t kMagic = (127u - 15 + 23 - 10 + 1) << 23;  // the sum's last bit is 2⁻²⁴
    const uint32_t word = std::bit_cast<uint32_t>(value);
    const uint32_t size = word & 0x7FFFFFFFu;
    const uint32_t subnormal =
        std::bit_cast<uint32_t>(std::bit_cast<float>(size) + std::bit_cast<float>(kMagic)) - kMagic;
    const uint32_t normal = (size - ((127u - 15) << 23) + 0xFFFu + ((size >> 13) & 1)) >> 13;
    const uint32_t special = size > kInfinity ? 0x7E00u : 0x7C00u;
    const uint32_t rounded = size >= kTooLarge ? special : size < (113u << 23) ? subnormal : normal;
    return static_cast<uint16_t>(rounded | (word >> 16 & 0x8000u));
  }

  // Gives an f32 next to `value`, whose last bit is 1 where it is not `value` itself. Rounding that
  // to f16 is rounding once.
  static constexpr float RoundedToOdd(double value) {
    const auto nearest = static_cast<float>(value);
    const auto back = static_cast<double>(nearest);
    if (back == value || value != value) return nearest;
    const bool is_away = (value < 0 ? -back : back) > (value < 0 ? -value : value);
    const uint32_t word = std::bit_cast<uint32_t>(nearest);
    return std::bit_cast<float>((is_away ? word - 1 : word) | 1u);
  }
};

template <>
constexpr DType DTypeOf<Float16>() {
  return DType::kF16;
}

}  // namespace cgrun

#endif  // CGRUN_BASE_FLOAT16_H_
