// Reads indices of any integer type. They are checked while a kernel runs: what is outside of its
// axis reads and writes nothing.
#ifndef CGRUN_KERNELS_REFERENCE_INDICES_H_
#define CGRUN_KERNELS_REFERENCE_INDICES_H_

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "src/base/check.h"
#include "src/base/host_tensor.h"
#include "src/kernels/kernel.h"

namespace cgrun::reference {

using IndexReader = int64_t (*)(const std::byte* indices, int64_t i) noexcept;

template <class Index>
int64_t ReadIndex(const std::byte* indices, int64_t i) noexcept {
  return static_cast<int64_t>(reinterpret_cast<const Index*>(indices)[i]);
}

inline IndexReader IndexReaderOf(DType dtype) {
  if (dtype == DType::kI64) return &ReadIndex<int64_t>;
  if (dtype == DType::kI32) return &ReadIndex<int32_t>;
  CGRUN_CHECK(dtype == DType::kU8) << "no indices of " << Name(dtype);
  return &ReadIndex<uint8_t>;
}

// The place of an index on an axis of `size`, or −1. A negative index counts from the end.
inline int64_t PlaceOn(int64_t index, int64_t size) {
  const int64_t place = index < 0 ? index + size : index;
  return place >= 0 && place < size ? place : -1;
}

// The bits of what is read where an index is outside: NaN, or 0 of a type without it.
inline uint64_t BitsOfNothing(DType dtype) {
  HostTensor element(dtype, Shape());
  if (IsFloat(dtype)) element.Set(0, std::numeric_limits<double>::quiet_NaN());
  uint64_t bits = 0;
  std::memcpy(&bits, element.bytes().data(), element.bytes().size());  // little-endian
  return bits;
}

// Says how a written number is combined with the element that is there.
enum class WriteMode : uint8_t { kReplace, kAdd, kMultiply, kMin, kMax };

inline WriteMode WriteModeOf(const std::string& reduction) {
  if (reduction == "add") return WriteMode::kAdd;
  if (reduction == "mul") return WriteMode::kMultiply;
  if (reduction == "min") return WriteMode::kMin;
  if (reduction == "max") return WriteMode::kMax;
  CGRUN_CHECK(reduction == "none") << "no reduction " << reduction;
  return WriteMode::kReplace;
}

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_INDICES_H_
