// Copying elements, as they are, from one strided tensor into another, row by row.
#ifndef CGRUN_KERNELS_CPU_STRIDED_COPY_H_
#define CGRUN_KERNELS_CPU_STRIDED_COPY_H_

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/kernels/copies.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/reference/number.h"

namespace cgrun::cpu {

struct CopyParameters {
  CopyPlan plan;
  int threads = 1;
};

// Copies elements [begin, end) of a row.
template <class Bits>
void CopyRow(const StridedSpace<2>& space, const Bits* x, Bits* y, int64_t begin, int64_t end) {
  const int64_t from = space.inner.strides[0], to = space.inner.strides[1];
  x += begin * from;
  y += begin * to;
  const int64_t count = end - begin;
  if (from == 1 && to == 1) {
    std::memcpy(y, x, static_cast<size_t>(count) * sizeof(Bits));
  } else if (from == 0 && to == 1) {
    std::fill_n(y, count, *x);
  } else {
    for (int64_t e = 0; e < count; ++e) y[e * to] = x[e * from];
  }
}

template <class Bits>
struct StridedCopy {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const CopyParameters*>(i.parameters);
    const Bits* x = Data<const Bits>(context, i, 0);
    Bits* y = Data<Bits>(context, i, 1);
    const StridedSpace<2>& space = p.plan.space;
    if (x + p.plan.base[0] == y + p.plan.base[1]) return;  // a part that is placed in its whole
    SplitRows(space, p.plan.base, p.threads, [&](const auto& at, int64_t begin, int64_t end) {
      CopyRow(space, x + at[0], y + at[1], begin, end);
    });
  }
};

inline PreparedKernel PrepareCopy(const KernelRequest& request, CopyPlan plan) {
  return PreparedKernel::Of(reference::ForBytes<StridedCopy>(SizeOf(request.node.inputs[0].dtype)),
                            CopyParameters{std::move(plan), ThreadsFor(request)});
}

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_STRIDED_COPY_H_
