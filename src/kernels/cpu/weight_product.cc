// matmul of f32 matrices the first of which is transposed, as linear layers have it for the
// gradients of their weights; and with the addition behind it, where a weight is used several
// times.
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

// Adds to what other uses of a weight gave, part of a row after another while it is in the nearest
// cache. Each sum is rounded before it is added, as if it had been a tensor.
struct AddedProduct {
  const float* others;
  float* sums;
  int64_t columns;
  float* to = nullptr;  // nowhere as a whole

  void Expect(int64_t, int64_t, int64_t) const {}
  void Take(int64_t row, int64_t column, int64_t count, const float* product) const {
    const F32 d;
    const float* from = others + row * columns + column;
    float* into = sums + row * columns + column;
    for (int64_t e = 0; e < count; e += kTileLanes) {
      const int64_t lanes = std::min(kTileLanes, count - e);
      StoreSome(d, hn::Add(LoadSome(d, product + e, lanes), LoadSome(d, from + e, lanes)), into + e,
                lanes);
    }
  }
};

WeightProduct ProductOf(const NodeSignature& node, int threads) {
  return WeightProduct::Of(SignaturesInBody(node)[0], node, threads);
}

void RunAdded(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const WeightProduct*>(i.parameters);
  RunWeightProduct(
      p, Data<const float>(context, i, 0), Data<const float>(context, i, 1),
      Data<float>(context, i, 4),
      AddedProduct{Data<const float>(context, i, 2), Data<float>(context, i, 3), p.columns});
}

int64_t AddedWorkspaceBytes(const NodeSignature& node, int threads) {
  return ProductOf(node, threads).workspace() * static_cast<int64_t>(sizeof(float));
}

PreparedKernel PrepareAdded(const KernelRequest& request) {
  return PreparedKernel::Of(&RunAdded, ProductOf(request.node, request.threads));
}

KernelDef add_by_product() {
  return {.name = "cpu.add_by_product",
          .supports = IsSumByProduct,
          .workspace_bytes = AddedWorkspaceBytes,
          .prepare = PrepareAdded,
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

bool IsSumByProduct(const NodeSignature& node) {
  if (node.body.size() != 2 || node.body[0].op != OpId::matmul || node.body[1].op != OpId::add ||
      node.inputs.size() != 3 || node.body[0].operands != std::vector<int>{0, 1}) {
    return false;
  }
  // Either way around has the same bits, but of NaNs.
  const std::vector<int>& added = node.body[1].operands;
  if (added != std::vector<int>{-1, 2} && added != std::vector<int>{2, -1}) return false;
  const NodeSignature product = SignaturesInBody(node)[0];
  return node.inputs[2] == product.outputs[0] && node.outputs[0] == product.outputs[0] &&
         IsWeightProduct(product);
}

CGRUN_CPU_KERNEL(weight_product)
CGRUN_CPU_KERNEL(add_by_product)

}  // namespace cgrun::cpu
#endif
