// Copying elements, as they are, from one strided tensor into another.
#ifndef CGRUN_KERNELS_REFERENCE_STRIDED_COPY_H_
#define CGRUN_KERNELS_REFERENCE_STRIDED_COPY_H_

#include <utility>

#include "src/kernels/reference/number.h"
#include "src/kernels/reference/strided.h"

namespace cgrun::reference {

// Offsets, in elements, of operand 0 and of operand 1.
struct CopyParameters {
  StridedSpace<2> space;
  std::array<int64_t, 2> base{};
};

template <class Bits>
struct StridedCopy {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const CopyParameters*>(i.parameters);
    const Bits* x = Data<const Bits>(context, i, 0);
    Bits* y = Data<Bits>(context, i, 1);
    ForEachIndex(p.space, p.base, [=](const auto& at) { y[at[1]] = x[at[0]]; });
  }
};

inline PreparedKernel PrepareCopy(DType dtype, CopyParameters parameters) {
  return PreparedKernel::Of(ForBytes<StridedCopy>(SizeOf(dtype)), std::move(parameters));
}

// The same into a tensor that is filled before.
struct FillAndCopyParameters {
  CopyParameters copy;
  int64_t elements = 0;  // of operand 1
  uint64_t fill = 0;     // the bits of an element
};

template <class Bits>
struct FillAndCopy {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const FillAndCopyParameters*>(i.parameters);
    const Bits* x = Data<const Bits>(context, i, 0);
    Bits* y = Data<Bits>(context, i, 1);
    const Bits fill = static_cast<Bits>(p.fill);
    for (int64_t e = 0; e < p.elements; ++e) y[e] = fill;
    ForEachIndex(p.copy.space, p.copy.base, [=](const auto& at) { y[at[1]] = x[at[0]]; });
  }
};

inline PreparedKernel PrepareFillAndCopy(DType dtype, FillAndCopyParameters parameters) {
  return PreparedKernel::Of(ForBytes<FillAndCopy>(SizeOf(dtype)), std::move(parameters));
}

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_STRIDED_COPY_H_
