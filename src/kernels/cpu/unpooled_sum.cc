// Computes the sum over each channel of what max_pool_grad gives, which is the gradient of a bias.
// One plane after another is made, and added up as reduce_sum adds it up.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/unpooled_sum.cc"
#include <hwy/foreach_target.h>
//
#include "src/ir/op_def.h"
#include "src/kernels/cpu/conv_panels.h"
#include "src/kernels/cpu/conv_seconds.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/max_pool_planes.h"
#include "src/kernels/cpu/reduction.h"
#include "src/kernels/cpu/tiled_conv.h"
#include "src/kernels/fused_conv.h"
#include "src/ops/infer.h"
#include "src/ops/reduce.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Parameters {
  MaxUnpool unpool;
  Reduction sum;  // of [N, C, H, W] over all but C: each run of elements lies in one plane

  // The workspace: for each thread a plane, then the pieces, where a channel has several.
  int64_t plane() const { return RoundToLines(unpool.inputs()); }
  int64_t workspace_bytes(int threads) const {
    return threads * plane() * static_cast<int64_t>(sizeof(float)) + sum.WorkspaceBytes();
  }
};

// Elements [begin, end) of a channel.
double SumOf(const Parameters& p, const std::byte* index, const float* dy, int64_t channel,
             int64_t begin, int64_t end, float* plane) {
  const int64_t size = p.unpool.inputs();
  States<Sum, kRowStates> states;
  ForRuns(p.sum.reduced, {p.sum.Offset(channel)}, begin, end, [&](const auto& at, int64_t count) {
    p.unpool.run(p.unpool, index, dy, at[0] / size, plane);
    AddRow(plane + at[0] % size, count, states);
  });
  return TotalOf(states);
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const auto* index = Data<const std::byte>(context, i, 0);
  const float* dy = Data<const float>(context, i, 1);
  float* y = Data<float>(context, i, 2);
  float* planes = Data<float>(context, i, 3);
  auto* pieces = reinterpret_cast<double*>(planes + p.sum.threads * p.plane());
  SplitParts(p.sum.threads, p.sum.Tasks(), 1, [&](int part, int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t channel = task / p.sum.pieces, piece = task % p.sum.pieces;
      const auto [from, to] = p.sum.Piece(piece);
      const double sum = SumOf(p, index, dy, channel, from, to, planes + part * p.plane());
      if (p.sum.pieces > 1) {
        pieces[piece * p.sum.results + channel] = sum;
      } else {
        y[channel] = static_cast<float>(sum);
      }
    }
  });
  for (int64_t channel = 0; p.sum.pieces > 1 && channel < p.sum.results; ++channel) {
    y[channel] = static_cast<float>(JoinPieces<Sum>(p.sum, pieces, channel));
  }
}

Parameters Of(const NodeSignature& node, int threads) {
  const std::vector<NodeSignature> body = SignaturesInBody(node);
  Parameters p{MaxUnpool::Of(body[0]), ReductionOf(body[1])};
  p.sum.threads = threads;
  return p;
}

PreparedKernel Prepare(const KernelRequest& request) {
  return PreparedKernel::Of(&Run, Of(request.node, request.threads));
}

int64_t WorkspaceBytes(const NodeSignature& node, int threads) {
  return Of(node, threads).workspace_bytes(threads);
}

bool Supports(const NodeSignature& node) {
  if (!IsUnpooled(node, OpId::reduce_sum, {-1}) || !UnpoolsF32(node)) return false;
  const auto axes = NormalizeAxes(node.body[1].attributes.As<ReduceAttributes>().axes, 4);
  if (axes != std::vector<int>{0, 2, 3}) return false;
  // Else reduce_sum has longer runs, or goes across them.
  const Shape& x = node.body[0].attributes.As<PoolGradAttributes>().input;
  return x[1].size > 1 && x[2].size * x[3].size > 1;
}

double Seconds(const NodeSignature& node, int threads) {
  const auto pixels =
      static_cast<double>(node.body[0].attributes.As<PoolGradAttributes>().input.Elements());
  return UnpoolSeconds(node, threads) + pixels / (kElementsPerSecond * threads);
}

KernelDef unpooled_sum() {
  return {.name = "cpu.max_pool_grad_sum",
          .supports = Supports,
          .workspace_bytes = WorkspaceBytes,
          .prepare = Prepare,
          .seconds = Seconds};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(unpooled_sum)

}  // namespace cgrun::cpu
#endif
