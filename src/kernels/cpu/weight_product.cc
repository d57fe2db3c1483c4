// Computes matmul of f32 matrices, the first of which is transposed: linear layers have it for the
// gradients of their weights. If a weight is used several times, the addition behind the product is
// in the kernel too.
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
                   Data<float>(context, i, 3), {.to = Data<float>(context, i, 2)});
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
  ProductConsumer consumer() const {
    return {.user = this,
            .take = [](const void* user, int64_t row, int64_t column, int64_t count,
                       const float* product) {
              static_cast<const AddedProduct*>(user)->Take(row, column, count, product);
            }};
  }
};

// Products of one size, added to one sum.
struct AddedProducts {
  WeightProduct product;
  int count = 1;

  static AddedProducts Of(const NodeSignature& node, int threads) {
    return {WeightProduct::Of(SignaturesInBody(node)[0], node, threads),
            static_cast<int>(node.body.size() / 2)};
  }

  // These functions return the places of A and B among the node's operands.
  static int A(int product) { return product == 0 ? 0 : 1 + 2 * product; }
  static int B(int product) { return A(product) + 1; }
  static constexpr int kOthers = 2;
  int sums() const { return 1 + 2 * count; }

  // The workspace holds a block of every b. For each thread it holds as much as for one product.
  int64_t packed_b() const { return count * product.packed_b(); }
  int64_t workspace() const { return packed_b() + product.workspace() - product.packed_b(); }
};

// Tiles [begin, end) of rows of a block of columns: all products of a tile, one after another.
void RunAddedTiles(const AddedProducts& p, const RunContext& context, const Instruction& i,
                   int64_t column, int64_t count, int64_t begin, int64_t end, int part) {
  const WeightProduct& product = p.product;
  const auto* packed_b = Data<const float>(context, i, p.sums() + 1);
  float* memory = Data<float>(context, i, p.sums() + 1) + p.packed_b() +
                  part * (product.packed_a() + product.held());
  float* sums = Data<float>(context, i, p.sums());
  const auto* others = Data<const float>(context, i, AddedProducts::kOthers);
  for (int64_t tile = end; tile-- > begin;) {
    for (int k = 0; k < p.count; ++k) {
      const AddedProduct added{k == 0 ? others : sums, sums, product.columns};
      RunTilesOfRows(product, Data<const float>(context, i, AddedProducts::A(k)),
                     packed_b + k * product.packed_b(), column, count, tile, tile + 1, memory,
                     added.consumer());
    }
  }
}

void RunAdded(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const AddedProducts*>(i.parameters);
  const WeightProduct& product = p.product;
  auto* packed_b = Data<float>(context, i, p.sums() + 1);
  for (int64_t column = 0; column < product.columns; column += product.block()) {
    const int64_t count = std::min(product.block(), product.columns - column);
    Split(product.threads, product.depth * p.count, 1, [&](int64_t begin, int64_t end) {
      for (int k = 0; k < p.count; ++k) {
        const int64_t first = k * product.depth;
        PackColumns(product, Data<const float>(context, i, AddedProducts::B(k)), column, count,
                    std::clamp(begin - first, int64_t{0}, product.depth),
                    std::clamp(end - first, int64_t{0}, product.depth),
                    packed_b + k * product.packed_b());
      }
    });
    SplitParts(product.threads, product.tiles.tiles, 1, [&](int part, int64_t begin, int64_t end) {
      RunAddedTiles(p, context, i, column, count, begin, end, part);
    });
  }
}

int64_t AddedWorkspaceBytes(const NodeSignature& node, int threads) {
  return AddedProducts::Of(node, threads).workspace() * static_cast<int64_t>(sizeof(float));
}

PreparedKernel PrepareAdded(const KernelRequest& request) {
  return PreparedKernel::Of(&RunAdded, AddedProducts::Of(request.node, request.threads));
}

KernelDef add_by_product() {
  return {.name = "cpu.add_by_product",
          .supports = IsSumByProducts,
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
// If a weight has fewer elements, it is not updated while its gradient is made. A small gradient
// lies in the nearest cache. Updating it part of a row after another then takes longer than all at
// once.
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

bool IsSumByProducts(const NodeSignature& node) {
  const auto count = static_cast<int>(node.body.size() / 2);
  const bool is_whole = count > 0 && std::ssize(node.body) == 2 * count &&
                        std::ssize(node.inputs) == 1 + 2 * count && node.outputs.size() == 1;
  if (!is_whole) return false;
  for (int k = 0; k < count; ++k) {
    const FusedOperator &product = node.body[static_cast<size_t>(2 * k)],
                        &addition = node.body[static_cast<size_t>(2 * k + 1)];
    const int a = k == 0 ? 0 : 1 + 2 * k, sum = k == 0 ? 2 : -2 * k, result = -1 - 2 * k;
    // Either way around has the same bits, but of NaNs.
    const auto adds = [&](int first, int second) {
      return addition.operands == std::vector<int>{first, second};
    };
    if (product.op != OpId::matmul || product.operands != std::vector<int>{a, a + 1} ||
        addition.op != OpId::add || !(adds(sum, result) || adds(result, sum))) {
      return false;
    }
  }
  const std::vector<NodeSignature> body = SignaturesInBody(node);
  const TensorType& result = node.outputs[0];
  for (int k = 0; k < count; ++k) {
    const NodeSignature& product = body[static_cast<size_t>(2 * k)];
    if (!IsWeightProduct(product) || product.inputs != body[0].inputs) return false;
  }
  return body[0].outputs[0] == result && node.inputs[2] == result;
}

CGRUN_CPU_KERNEL(weight_product)
CGRUN_CPU_KERNEL(add_by_product)

}  // namespace cgrun::cpu
#endif
