// Element access of host tensors by number type.
#include "src/base/host_tensor.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "src/base/for_type.h"

namespace cgrun {
namespace {

// `value` as an integer type, without the undefined behaviour of a cast that does not fit.
template <class T>
T SaturatedCast(double value) {
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  if (value >= static_cast<double>(std::numeric_limits<T>::max())) {
    return std::numeric_limits<T>::max();
  }
  return static_cast<T>(value);
}

}  // namespace

HostTensor::HostTensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  bytes_.resize(static_cast<size_t>(shape_.Elements() * SizeOf(dtype)));
}

double HostTensor::At(int64_t i) const {
  return NumberAt(dtype_, bytes_.data() + i * SizeOf(dtype_));
}

double NumberAt(DType dtype, const std::byte* bytes) {
  return ForAnyType<BFloat16>(dtype, [&]<class T>(T*) -> double {
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    if constexpr (std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>) {
      return static_cast<double>(static_cast<float>(value));
    } else {
      return static_cast<double>(value);
    }
  });
}

void HostTensor::Set(int64_t i, double value) {
  ForAnyType<BFloat16>(dtype_, [&]<class T>(T*) {
    if constexpr (std::is_same_v<T, BFloat16>) {
      data<T>()[static_cast<size_t>(i)] = BFloat16(static_cast<float>(value));
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      data<T>()[static_cast<size_t>(i)] = SaturatedCast<T>(value);
    } else {
      data<T>()[static_cast<size_t>(i)] = static_cast<T>(value);
    }
  });
}

std::optional<int64_t> CheckedByteSize(DType dtype, std::span<const int64_t> sizes) {
  const std::optional<int64_t> elements = CheckedElements(sizes);
  int64_t bytes = 0;
  if (!elements || __builtin_mul_overflow(*elements, SizeOf(dtype), &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace cgrun
