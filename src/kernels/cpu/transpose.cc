// Computes transpose. If the last axis stays, it copies rows as they are. Otherwise it copies
// squares of two axes: the one along which x is contiguous, and the one along which y is.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/transpose.cc"
#include <hwy/foreach_target.h>
//
#include "src/base/check.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/lanes.h"
#include "src/kernels/cpu/strided_copy.h"
#include "src/kernels/cpu/transpose_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kBand = 64;  // columns that a task goes down: some lines side by side

// Matrices [rows, columns] that become [columns, rows], in a space of other axes.
struct Parameters {
  StridedSpace<2> matrices;
  int64_t rows = 0, columns = 0;
  int64_t x_stride = 0;  // elements from row to row
  int64_t y_stride = 0;  // elements from column to column
  int threads = 1;
};

// A task is a band of columns of one matrix.
template <class Bits>
void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const Bits* x = Data<const Bits>(context, i, 0);
  Bits* y = Data<Bits>(context, i, 1);
  const int64_t bands = (p.columns + kBand - 1) / kBand;
  // Not as a structured binding: clang 14 does not see one inside a parallel region.
  const int64_t matrices = p.matrices.inner.size;
  const auto& strides = p.matrices.inner.strides;
  const int64_t tasks = p.matrices.outer_count * matrices * bands;
  Split(p.threads, tasks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t matrix = task / bands, c = task % bands * kBand;
      const auto at = RowOffsets(p.matrices, {0, 0}, matrix / matrices);
      const Bits* from = x + at[0] + matrix % matrices * strides[0] + c;
      Bits* to = y + at[1] + matrix % matrices * strides[1] + c * p.y_stride;
      TransposeBand(from, p.x_stride, to, p.y_stride, p.rows, std::min(kBand, p.columns - c));
    }
  });
}

// The axes of a plan but for two become the space of the matrices.
Parameters Pack(const StridedSpace<2>& space, int threads) {
  Parameters p;
  p.threads = threads;
  p.rows = space.inner.size;
  p.x_stride = space.inner.strides[0];
  std::vector<int64_t> sizes;
  std::array<std::vector<int64_t>, 2> strides;
  for (const auto& axis : space.outer) {
    if (axis.strides[0] == 1) {
      p.columns = axis.size;
      p.y_stride = axis.strides[1];
      continue;
    }
    sizes.push_back(axis.size);
    strides[0].push_back(axis.strides[0]);
    strides[1].push_back(axis.strides[1]);
  }
  CGRUN_CHECK(p.columns > 0) << "no axis along which x is contiguous";
  p.matrices = MakeSpace<2>(sizes, strides);
  return p;
}

PreparedKernel Prepare(const KernelRequest& request) {
  CopyPlan plan = PlanTranspose(request.node);
  if (plan.space.inner.size == 1 || plan.space.inner.strides[0] == 1) {
    return PrepareCopy(request, std::move(plan));
  }
  const Parameters p = Pack(plan.space, ThreadsFor(request));
  switch (SizeOf(request.node.inputs[0].dtype)) {
    case 1:
      return PreparedKernel::Of(&Run<uint8_t>, p);
    case 2:
      return PreparedKernel::Of(&Run<uint16_t>, p);
    case 4:
      return PreparedKernel::Of(&Run<uint32_t>, p);
    default:
      return PreparedKernel::Of(&Run<uint64_t>, p);
  }
}

KernelDef transpose() { return {.name = "cpu.transpose", .prepare = Prepare}; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(transpose)

}  // namespace cgrun::cpu
#endif
