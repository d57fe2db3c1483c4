// max_pool, f32, and its gradient, plane by plane.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/max_pool.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/blocks.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/max_pool_planes.h"
#include "src/kernels/cpu/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Parameters {
  MaxPool pool;
  int threads = 1;
};

// The workspace: for each thread a plane with its padding.
template <int kStride, class Index>
void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& [p, threads] = *static_cast<const Parameters*>(i.parameters);
  const float* x = Data<const float>(context, i, 0);
  float* y = Data<float>(context, i, 1);
  Index* index = Data<Index>(context, i, 2);
  float* workspace = Data<float>(context, i, 3);
  SplitParts(threads, p.planes, 1, [&, &p = p](int part, int64_t begin, int64_t end) {
    float* padded = workspace + part * p.plane.elements();
    std::fill_n(padded, p.plane.elements(), MaxPool::kLeast);
    for (int64_t n = begin; n < end; ++n) {
      PoolPlane<kStride>(p, x + n * p.inputs(), padded, y + n * p.outputs(),
                         index + n * p.outputs());
    }
  });
}

PreparedKernel Prepare(const KernelRequest& request) {
  Parameters p{MaxPool::Of(request.node), ThreadsFor(request, Work::kComputes)};
  const KernelFunction run = ForPool(p.pool.plane.x.stride, p.pool.bytes,
                                     []<int kStride, class Index> { return &Run<kStride, Index>; });
  return PreparedKernel::Of(run, std::move(p));
}

int64_t WorkspaceBytes(const NodeSignature& node, int threads) {
  return PlaneBytes(MaxPool::WindowOfNode(node), threads);
}

struct GradParameters {
  MaxUnpool unpool;
  int threads = 1;
};

void RunGrad(const RunContext& context, const Instruction& i) noexcept {
  const auto& [p, threads] = *static_cast<const GradParameters*>(i.parameters);
  const auto* index = Data<const std::byte>(context, i, 0);
  const float* dy = Data<const float>(context, i, 1);
  float* dx = Data<float>(context, i, 2);
  Split(threads, p.planes, 1, [&, &p = p](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) p.run(p, index, dy, n, dx + n * p.inputs());
  });
}

PreparedKernel PrepareGrad(const KernelRequest& request) {
  return PreparedKernel::Of(
      &RunGrad, GradParameters{MaxUnpool::Of(request.node), ThreadsFor(request, Work::kComputes)});
}

bool Supports(const NodeSignature& node) { return node.inputs[0].dtype == DType::kF32; }
bool SupportsGrad(const NodeSignature& node) { return node.inputs[1].dtype == DType::kF32; }

KernelDef max_pool() {
  return PerElement({.name = "cpu.max_pool",
                     .supports = Supports,
                     .workspace_bytes = WorkspaceBytes,
                     .prepare = Prepare});
}

KernelDef max_pool_grad() {
  return PerElement(
      {.name = "cpu.max_pool_grad", .supports = SupportsGrad, .prepare = PrepareGrad});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL_AND(max_pool, max_pool_in_blocks)
CGRUN_CPU_KERNEL_AND(max_pool_grad, max_pool_grad_in_blocks)

}  // namespace cgrun::cpu
#endif
