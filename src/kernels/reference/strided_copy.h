// Copying elements, as they are, from one strided tensor into another.
#ifndef CGRUN_KERNELS_REFERENCE_STRIDED_COPY_H_
#define CGRUN_KERNELS_REFERENCE_STRIDED_COPY_H_

#include <utility>

#include "src/kernels/copies.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {

template <class Bits>
struct StridedCopy {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const CopyPlan*>(i.parameters);
    const Bits* x = Data<const Bits>(context, i, 0);
    Bits* y = Data<Bits>(context, i, 1);
    if (x + p.base[0] == y + p.base[1]) return;  // a part that the plan has placed in its whole
    ForEachIndex(p.space, p.base, [=](const auto& at) { y[at[1]] = x[at[0]]; });
  }
};

inline PreparedKernel PrepareCopy(DType dtype, CopyPlan plan) {
  return PreparedKernel::Of(ForBytes<StridedCopy>(SizeOf(dtype)), std::move(plan));
}

template <class Bits>
struct FillAndCopy {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const FillAndCopyPlan*>(i.parameters);
    const Bits* x = Data<const Bits>(context, i, 0);
    Bits* y = Data<Bits>(context, i, 1);
    const Bits fill = static_cast<Bits>(p.fill);
    for (int64_t e = 0; e < p.elements; ++e) y[e] = fill;
    ForEachIndex(p.copy.space, p.copy.base, [=](const auto& at) { y[at[1]] = x[at[0]]; });
  }
};

inline PreparedKernel PrepareFillAndCopy(DType dtype, FillAndCopyPlan plan) {
  return PreparedKernel::Of(ForBytes<FillAndCopy>(SizeOf(dtype)), std::move(plan));
}

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_STRIDED_COPY_H_
