// Computes the gradient of reduce_max: the elements that are the largest share it.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/reduce_max_grad.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/number.h"
#include "src/kernels/cpu/reduction.h"
#include "src/kernels/cpu/sums.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kLanes = static_cast<int64_t>(kF32Lanes);

HWY_INLINE hn::Mask<F32> IsLargest(VF32 x, VF32 largest) {
  return hn::Or(hn::Eq(x, largest), hn::And(hn::IsNaN(x), hn::IsNaN(largest)));
}

struct Operands {
  const float* x;
  const float* y;
  const float* dy;
  float* dx;
};

// Calls f(offset, lanes) for the vectors of a result whose elements are contiguous.
template <class F>
HWY_INLINE void ForVectors(const Reduction& p, int64_t first, F f) {
  ForRuns(p.reduced, {first}, 0, p.count, [&](const auto& at, int64_t count) {
    for (int64_t e = 0; e < count; e += kLanes) f(at[0] + e, std::min(kLanes, count - e));
  });
}

// One result whose elements are contiguous.
void OfRow(const Reduction& p, const Operands& o, int64_t result) {
  const F32 d;
  const VF32 largest = hn::Set(d, o.y[result]);
  size_t count = 0;
  ForVectors(p, p.Offset(result), [&](int64_t at, int64_t lanes) {
    const VF32 x = LoadSome(d, o.x + at, lanes);
    const auto in = hn::FirstN(d, static_cast<size_t>(lanes));
    count += hn::CountTrue(d, hn::And(in, IsLargest(x, largest)));
  });
  const VF32 share = hn::Set(d, o.dy[result] / static_cast<float>(count));
  ForVectors(p, p.Offset(result), [&](int64_t at, int64_t lanes) {
    const VF32 x = LoadSome(d, o.x + at, lanes);
    const VF32 dx = hn::IfThenElseZero(IsLargest(x, largest), share);
    StoreSome(d, dx, o.dx + at, lanes);
  });
}

// Calls f(offset) for each element of a result.
template <class F>
HWY_INLINE void ForElements(const Reduction& p, int64_t first, F f) {
  const int64_t stride = p.reduced.inner.strides[0];
  ForRuns(p.reduced, {first}, 0, p.count, [&](const auto& at, int64_t count) {
    for (int64_t e = 0; e < count; ++e) f(at[0] + e * stride);
  });
}

// A vector of results, or the first part of one, whose elements lie side by side.
void OfColumns(const Reduction& p, const Operands& o, int64_t result, int64_t lanes) {
  const F32 d;
  const auto load = [&](const float* from) { return LoadSome(d, from, lanes); };
  const VF32 largest = load(o.y + result), one = hn::Set(d, 1);
  VF32 count = hn::Zero(d);
  ForElements(p, p.Offset(result), [&](int64_t at) {
    count = hn::Add(count, hn::IfThenElseZero(IsLargest(load(o.x + at), largest), one));
  });
  const VF32 share = hn::Div(load(o.dy + result), count);
  ForElements(p, p.Offset(result), [&](int64_t at) {
    const VF32 dx = hn::IfThenElseZero(IsLargest(load(o.x + at), largest), share);
    StoreSome(d, dx, o.dx + at, lanes);
  });
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Reduction*>(i.parameters);
  const Operands o{Data<const float>(context, i, 0), Data<const float>(context, i, 1),
                   Data<const float>(context, i, 2), Data<float>(context, i, 3)};
  if (p.rows) {
    return Split(p.threads, p.results, 1, [&](int64_t begin, int64_t end) {
      for (int64_t result = begin; result < end; ++result) OfRow(p, o, result);
    });
  }
  const int64_t size = p.kept.inner.size, tiles = (size + kLanes - 1) / kLanes;
  Split(p.threads, p.kept.outer_count * tiles, 1, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t column = tile % tiles * kLanes;
      OfColumns(p, o, tile / tiles * size + column, std::min(kLanes, size - column));
    }
  });
}

PreparedKernel Prepare(const KernelRequest& request) {
  Reduction reduction = ReductionOf(request.node);
  reduction.threads = ThreadsFor(request, Work::kComputes);
  return PreparedKernel::Of(&Run, std::move(reduction));
}

KernelDef reduce_max_grad() {
  return PerElement({.name = "cpu.reduce_max_grad", .supports = AllF32, .prepare = Prepare});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(reduce_max_grad)

}  // namespace cgrun::cpu
#endif
