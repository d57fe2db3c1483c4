// Chooses a function's instance by number type.
#ifndef CGRUN_BASE_FOR_TYPE_H_
#define CGRUN_BASE_FOR_TYPE_H_

#include <cstdint>

#include "src/base/check.h"
#include "src/base/dtype.h"

namespace cgrun {

// Calls f(T*) with a null pointer of the element type `dtype`, whichever it is but f16. `BF16` is
// the device's type for bf16. It is static as the functions of src/kernels/number.h are.
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
    case DType::kF16:
      break;
  }
  CGRUN_CHECK(false) << "no instance for " << Name(dtype);
  return f(static_cast<double*>(nullptr));
}

}  // namespace cgrun

#endif  // CGRUN_BASE_FOR_TYPE_H_
