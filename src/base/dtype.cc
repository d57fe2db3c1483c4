// Names, sizes and bfloat16 rounding.
#include "src/base/dtype.h"

#include <bit>
#include <cmath>

namespace cgrun {

int64_t SizeOf(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kI64:
    case DType::kU64:
      return 8;
    case DType::kF32:
    case DType::kI32:
    case DType::kU32:
      return 4;
    case DType::kBF16:
    case DType::kF16:
    case DType::kI16:
    case DType::kU16:
      return 2;
    case DType::kU8:
    case DType::kBool:
    case DType::kI8:
      return 1;
  }
  return 0;
}

std::string_view Name(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return "f64";
    case DType::kF32:
      return "f32";
    case DType::kBF16:
      return "bf16";
    case DType::kF16:
      return "f16";
    case DType::kI64:
      return "int64";
    case DType::kI32:
      return "int32";
    case DType::kU8:
      return "uint8";
    case DType::kBool:
      return "bool";
    case DType::kI8:
      return "int8";
    case DType::kI16:
      return "int16";
    case DType::kU16:
      return "uint16";
    case DType::kU32:
      return "uint32";
    case DType::kU64:
      return "uint64";
  }
  return "?";
}

std::optional<DType> DTypeFromName(std::string_view name) {
  for (DType dtype : kAllDTypes) {
    if (Name(dtype) == name) return dtype;
  }
  return std::nullopt;
}

bool IsFloat(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kF32 || dtype == DType::kBF16 ||
         dtype == DType::kF16;
}

bool IsStorageType(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kI8 || dtype == DType::kI16 ||
         dtype == DType::kU16 || dtype == DType::kU32 || dtype == DType::kU64;
}

BFloat16::BFloat16(float value) {
  const uint32_t word = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) {
    bits = static_cast<uint16_t>((word >> 16) | 0x40);  // stays a quiet NaN
    return;
  }
  const uint32_t half_ulp = 0x7FFF + ((word >> 16) & 1);
  bits = static_cast<uint16_t>((word + half_ulp) >> 16);
}

BFloat16::operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

}  // namespace cgrun
