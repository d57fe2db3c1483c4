// Number types of tensors.
#ifndef CGRUN_BASE_DTYPE_H_
#define CGRUN_BASE_DTYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace cgrun {

// New types go to the end: compiled models hold the numbers.
enum class DType : uint8_t {
  kF64,
  kF32,
  kBF16,
  kF16,
  kI64,
  kI32,
  kU8,
  kBool,
  kI8,
  kI16,
  kU16,
  kU32,
  kU64
};

inline constexpr DType kAllDTypes[] = {
    DType::kF64,  DType::kF32, DType::kBF16, DType::kF16, DType::kI64, DType::kI32, DType::kU8,
    DType::kBool, DType::kI8,  DType::kI16,  DType::kU16, DType::kU32, DType::kU64};

// Bytes of one element.
int64_t SizeOf(DType dtype);
// "f64", "f32", "bf16", "f16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16",
// "uint8", "bool": the names of model files.
std::string_view Name(DType dtype);
std::optional<DType> DTypeFromName(std::string_view name);
bool IsFloat(DType dtype);
// Returns whether tensors of the type are only stored, moved and cast: f16, int8, int16, uint16,
// uint32 and uint64. Kernels that compute have no instance for it.
bool IsStorageType(DType dtype);

// bfloat16: the upper half of an IEEE binary32; conversion rounds to nearest, ties to even.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);
  explicit operator float() const;
};

// The DType of a C++ element type.
template <class T>
constexpr DType DTypeOf();
template <>
constexpr DType DTypeOf<double>() {
  return DType::kF64;
}
template <>
constexpr DType DTypeOf<float>() {
  return DType::kF32;
}
template <>
constexpr DType DTypeOf<BFloat16>() {
  return DType::kBF16;
}
template <>
constexpr DType DTypeOf<int64_t>() {
  return DType::kI64;
}
template <>
constexpr DType DTypeOf<int32_t>() {
  return DType::kI32;
}
template <>
constexpr DType DTypeOf<uint8_t>() {
  return DType::kU8;
}
template <>
constexpr DType DTypeOf<bool>() {
  return DType::kBool;
}
template <>
constexpr DType DTypeOf<int8_t>() {
  return DType::kI8;
}
template <>
constexpr DType DTypeOf<int16_t>() {
  return DType::kI16;
}
template <>
constexpr DType DTypeOf<uint16_t>() {
  return DType::kU16;
}
template <>
constexpr DType DTypeOf<uint32_t>() {
  return DType::kU32;
}
template <>
constexpr DType DTypeOf<uint64_t>() {
  return DType::kU64;
}

}  // namespace cgrun

#endif  // CGRUN_BASE_DTYPE_H_
