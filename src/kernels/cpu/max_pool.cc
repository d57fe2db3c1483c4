// Computes max_pool and its gradient for f32 or bf16, plane by plane.
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

// The workspace holds, for each thread, a plane with its padding, in f32.
template <class T, int kStride, class Index>
void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& [p, threads] = *static_cast<const Parameters*>(i.parameters);
  const T* x = Data<const T>(context, i, 0);
  T* y = Data<T>(context, i, 1);
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

template <class T>
KernelFunction RunOf(const MaxPool& pool) {
  return ForPool(pool.plane.x.stride, pool.bytes,
                 []<int kStride, class Index> { return &Run<T, kStride, Index>; });
}

PreparedKernel Prepare(const KernelRequest& request) {
  Parameters p{MaxPool::Of(request.node), ThreadsFor(request, Work::kComputes)};
  const bool narrow = request.node.inputs[0].dtype == DType::kBF16;
  const KernelFunction run = narrow ? RunOf<BFloat16>(p.pool) : RunOf<float>(p.pool);
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

// As UnpoolPlane; `line` has room for a row of dy.
template <class Index>
void UnpoolBF16(const MaxUnpool& p, const Index* index, const BFloat16* dy, float* image,
                float* line) {
  std::fill_n(image, p.inputs(), 0.0F);
  for (int64_t row = 0; row < p.y.output; ++row) {
    const int64_t at = row * p.x.output;
    CopyNumbers(dy + at, p.x.output, line);
    AddRowToWinners(p, index + at, line, row, image);
  }
}

template <class Index>
void RunGradBF16(const RunContext& context, const Instruction& i) noexcept {
  const auto& [p, threads] = *static_cast<const GradParameters*>(i.parameters);
  const Index* index = Data<const Index>(context, i, 0);
  const BFloat16* dy = Data<const BFloat16>(context, i, 1);
  BFloat16* dx = Data<BFloat16>(context, i, 2);
  float* workspace = Data<float>(context, i, 3);
  SplitParts(threads, p.planes, 1, [&, &p = p](int part, int64_t begin, int64_t end) {
    float* image = workspace + part * GradientElements({p.y, p.x});
    for (int64_t n = begin; n < end; ++n) {
      const int64_t from = n * p.outputs();
      UnpoolBF16(p, index + from, dy + from, image, image + p.inputs());
      CopyNumbers(image, p.inputs(), dx + n * p.inputs());
    }
  });
}

PreparedKernel PrepareGrad(const KernelRequest& request) {
  const bool bytes = request.node.inputs[0].dtype == DType::kU8;
  const bool narrow = request.node.inputs[1].dtype == DType::kBF16;
  const KernelFunction run = !narrow ? &RunGrad
                             : bytes ? &RunGradBF16<uint8_t>
                                     : &RunGradBF16<int32_t>;
  return PreparedKernel::Of(
      run, GradParameters{MaxUnpool::Of(request.node), ThreadsFor(request, Work::kComputes)});
}

int64_t GradWorkspaceBytes(const NodeSignature& node, int threads) {
  const auto& attributes = node.attributes.As<PoolGradAttributes>();
  return GradientBytes(WindowOf(attributes.input, attributes.window()), node.inputs[1].dtype,
                       threads);
}

// Input kInput is of f32 or bf16.
template <size_t kInput>
bool Supports(const NodeSignature& node) {
  const DType dtype = node.inputs[kInput].dtype;
  return dtype == DType::kF32 || dtype == DType::kBF16;
}

KernelDef max_pool() {
  return PerElement({.name = "cpu.max_pool",
                     .supports = Supports<0>,
                     .workspace_bytes = WorkspaceBytes,
                     .prepare = Prepare});
}

KernelDef max_pool_grad() {
  return PerElement({.name = "cpu.max_pool_grad",
                     .supports = Supports<1>,
                     .workspace_bytes = GradWorkspaceBytes,
                     .prepare = PrepareGrad});
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
