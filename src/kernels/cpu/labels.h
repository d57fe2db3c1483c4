// Class labels of any integer type, read by way of a function that is chosen before the first run.
#ifndef CGRUN_KERNELS_CPU_LABELS_H_
#define CGRUN_KERNELS_CPU_LABELS_H_

#include "src/base/check.h"
#include "src/base/dtype.h"
#include "src/kernels/kernel.h"

namespace cgrun::cpu {

// Label `i` of the tensor that begins at `labels`.
using LabelReader = int64_t (*)(const std::byte* labels, int64_t i) noexcept;

template <class Label>
int64_t ReadLabel(const std::byte* labels, int64_t i) noexcept {
  return static_cast<int64_t>(reinterpret_cast<const Label*>(labels)[i]);
}

inline LabelReader LabelReaderOf(DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return &ReadLabel<uint8_t>;
    case DType::kI32:
      return &ReadLabel<int32_t>;
    case DType::kI64:
      return &ReadLabel<int64_t>;
    default:
      CGRUN_CHECK(false) << "no labels of " << Name(dtype);
      return nullptr;
  }
}

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_LABELS_H_
