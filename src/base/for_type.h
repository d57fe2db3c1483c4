// Chooses a function's instance by number type.
#ifndef CGRUN_BASE_FOR_TYPE_H_
#define CGRUN_BASE_FOR_TYPE_H_

#include <cstdint>

#include "src/base/check.h"
#include "src/base/dtype.h"
#include "src/base/float16.h"

namespace cgrun {

// Calls f(T*) with a null pointer of the element type `dtype`, one in which kernels compute: no
// IsStorageType(). `BF16` is the device's type for bf16. It is static as the functions of
// src/kernels/number.h are.
template <class BF16, class F>
static auto ForType(DType dtype, F f) {
  switch (dtype) {
    case DType::kF64:
      return f(static_cast<double*>(nullptr));
    case DType::kF32:
      return f(static_cast<float*>(nullptr));
    case DType::kBF16:
      return f(static_cast<BF16*>(nullptr));
    case DType::kI64:
      return f(static_cast<int64_t*>(nullptr));
    case DType::kI32:
      return f(static_cast<int32_t*>(nullptr));
    case DType::kU8:
      return f(static_cast<uint8_t*>(nullptr));
    case DType::kBool:
      return f(static_cast<bool*>(nullptr));
    default:
      break;
  }
  CGRUN_CHECK(false) << "no instance for " << Name(dtype);
  return f(static_cast<double*>(nullptr));
}

// Does the same for every type.
template <class BF16, class F>
static auto ForAnyType(DType dtype, F f) {
  switch (dtype) {
    case DType::kF16:
      return f(static_cast<Float16*>(nullptr));
    case DType::kI8:
      return f(static_cast<int8_t*>(nullptr));
    case DType::kI16:
      return f(static_cast<int16_t*>(nullptr));
    case DType::kU16:
      return f(static_cast<uint16_t*>(nullptr));
    case DType::kU32:
      return f(static_cast<uint32_t*>(nullptr));
    case DType::kU64:
      return f(static_cast<uint64_t*>(nullptr));
    default:
      return ForType<BF16>(dtype, f);
  }
}

}  // namespace cgrun

#endif  // CGRUN_BASE_FOR_TYPE_H_
