// matmul of f32 matrices the first of which is transposed, as linear layers have it for the
// gradients of their weights.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/weight_product.cc"
#include <hwy/foreach_target.h>
//
#include "src/ir/op_def.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/weight_product.h"
#include "src/ops/matmul.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

void Run(const RunContext& context, const Instruction& i) noexcept {
  RunWeightProduct(*static_cast<const WeightProduct*>(i.parameters),
                   Data<const float>(context, i, 0), Data<const float>(context, i, 1),
                   Data<float>(context, i, 3), KeptProduct{Data<float>(context, i, 2)});
}

int64_t WorkspaceBytes(const NodeSignature& node, int threads) {
  return WeightProduct::Of(node, node, threads).workspace() * static_cast<int64_t>(sizeof(float));
}

PreparedKernel Prepare(const KernelRequest& request) {
  return PreparedKernel::Of(&Run, WeightProduct::Of(request.node, request.node, request.threads));
}

KernelDef weight_product() {
  return {.name = "cpu.weight_product",
          .supports = IsWeightProduct,
          .workspace_bytes = WorkspaceBytes,
          .prepare = Prepare,
          .flops_per_second = kWeightProductFlopsPerSecond};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {
namespace {

constexpr int64_t kMostDepth = 4096;
// Of a weight, to be updated as its gradient is made: that of a smaller one lies in the nearest
// cache, and part of a row after another takes longer than all at once.
constexpr int64_t kLeastUpdated = 8192;

}  // namespace

bool IsWeightProduct(const NodeSignature& node) {
  if (node.op != OpId::matmul || !HasVectorTarget()) return false;
  const auto& attributes = node.attributes.As<MatmulAttributes>();
  const TensorType &a = node.inputs[0], &b = node.inputs[1];
  return attributes.transpose_a && !attributes.transpose_b && a.dtype == DType::kF32 &&
         b.dtype == DType::kF32 && a.shape.rank() == 2 && b.shape.rank() == 2 &&
         node.outputs[0].shape.Elements() > 0 && a.shape[0].size > 0 &&
         a.shape[0].size <= kMostDepth;
}

bool IsUpdateByProduct(const NodeSignature& node, OpId optimizer) {
  if (node.body.size() != 2 || node.body[0].op != OpId::matmul || node.body[1].op != optimizer) {
    return false;
  }
  if (node.outputs[0].shape.Elements() < kLeastUpdated) return false;
  std::vector<int> operands = {2, -1};
  for (size_t i = 3; i < node.inputs.size(); ++i) operands.push_back(static_cast<int>(i));
  return node.body[0].operands == std::vector<int>{0, 1} && node.body[1].operands == operands &&
         IsWeightProduct(SignaturesInBody(node)[0]);
}

CGRUN_CPU_KERNEL(weight_product)

}  // namespace cgrun::cpu
#endif
