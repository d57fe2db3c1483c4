// w'[f] = w[f]·k[f] and b'[f] = (b[f] − mean[f])·k[f] + shift[f], with k = scale ÷ √(variance + ε).
#include "src/kernels/onednn/folded_norm.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/ops/batch_norm.h"

namespace cgrun::onednn {
namespace {

constexpr int64_t kAlignment = 64;                  // bytes
constexpr double kBytesPerSecond = 20e9;            // read and written, however many threads
constexpr int64_t kLeastParallelBytes = 128 << 10;  // fewer are not worth a second thread
constexpr int64_t kFloat = sizeof(float);
constexpr int64_t kMostWidth = 64;  // of a block of filters

const FusedOperator* NormOf(const NodeSignature& node) {
  const auto norm = std::ranges::find(node.body, OpId::batch_norm, &FusedOperator::op);
  return norm == node.body.end() ? nullptr : &*norm;
}

int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Weights as they lie: blocks of `width` filters (1: none), each as long as the next; in a block
// one filter's element stands beside the next one's.
struct FilterBlocks {
  int64_t filters = 0;
  int64_t width = 1;
  int64_t elements = 0;  // of one filter in its block
  int64_t count() const { return (filters + width - 1) / width; }
};

FilterBlocks BlocksOf(const TensorType& type, const Layout& layout) {
  FilterBlocks blocks{type.shape[0].size, 1, 0};
  if (!layout.blocks.empty()) blocks.width = layout.blocks.back().size;
  blocks.elements = ByteSize(type, layout) / kFloat / (blocks.count() * blocks.width);
  return blocks;
}

struct Parameters {
  PreparedKernel conv;
  FilterBlocks blocks;
  FoldedPlaces places;
  bool has_bias = false;
  int scale = 0;  // the operand; shift, mean and variance follow
  int workspace = 0;
  int threads = 1;
  double epsilon = 0;
};

// The filters of one block.
void FoldBlock(const Parameters& p, const RunContext& context, const Instruction& i,
               int64_t block) noexcept {
  const auto operand = [&](int k) { return Data<const float>(context, i, k); };
  const float *scale = operand(p.scale), *shift = operand(p.scale + 1);
  const float *mean = operand(p.scale + 2), *variance = operand(p.scale + 3);
  auto* workspace = Data<float>(context, i, p.workspace);
  float* bias = workspace + p.places.bias / kFloat;
  float factors[kMostWidth] = {};
  const int64_t first = block * p.blocks.width;
  const int64_t filters = std::min(p.blocks.width, p.blocks.filters - first);
  for (int64_t j = 0; j < filters; ++j) {
    const int64_t f = first + j;
    const double factor = scale[f] / std::sqrt(variance[f] + p.epsilon);
    factors[j] = static_cast<float>(factor);
    const double summand = (p.has_bias ? operand(2)[f] : 0) - static_cast<double>(mean[f]);
    bias[f] = static_cast<float>(summand * factor + shift[f]);
  }
  const int64_t size = p.blocks.width * p.blocks.elements;
  const float* from = operand(1) + block * size;
  float* to = workspace + p.places.weights / kFloat + block * size;
  if (p.blocks.width == 1) {
    for (int64_t e = 0; e < size; ++e) to[e] = from[e] * factors[0];
    return;
  }
  for (int64_t e = 0; e < size; e += p.blocks.width) {
    for (int64_t j = 0; j < p.blocks.width; ++j) to[e + j] = from[e + j] * factors[j];
  }
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  if (p.threads == 1) {  // no team of another size: OpenMP allocates where that changes
    for (int64_t block = 0; block < p.blocks.count(); ++block) FoldBlock(p, context, i, block);
  } else {
#pragma omp parallel for num_threads(p.threads) schedule(static)
    for (int64_t block = 0; block < p.blocks.count(); ++block) FoldBlock(p, context, i, block);
  }
  Instruction conv = i;
  conv.parameters = p.conv.parameters.get();
  p.conv.run(context, conv);
}

}  // namespace

bool HasNorm(const NodeSignature& node) { return NormOf(node) != nullptr; }

bool CanFold(const NodeSignature& node) {
  const FusedOperator* norm = NormOf(node);
  return norm != nullptr && norm == &node.body[1] && node.inputs[1].dtype == DType::kF32 &&
         !norm->attributes.As<BatchNormAttributes>().training;
}

bool CanFoldInto(const NodeSignature& node, const Layout& weights) {
  const bool filters_first = weights.order.empty() || weights.order[0] == 0;
  const auto of_filters = std::ranges::count(weights.blocks, 0, &Layout::Block::axis);
  const bool filters_last = weights.blocks.empty() || (weights.blocks.back().axis == 0 &&
                                                       weights.blocks.back().size <= kMostWidth);
  return CanFold(node) && filters_first && filters_last &&
         of_filters == (weights.blocks.empty() ? 0 : 1);
}

FoldedPlaces PlacesOf(const NodeSignature& node, const Layout& weights) {
  if (!HasNorm(node)) return {};
  FoldedPlaces places;
  places.bias = Aligned(ByteSize(node.inputs[1], weights));
  places.end = places.bias + Aligned(node.inputs[1].shape[0].size * kFloat);
  return places;
}

double FoldingSeconds(const NodeSignature& node) {
  if (!HasNorm(node)) return 0;
  return 2 * static_cast<double>(ByteSize(node.inputs[1])) / kBytesPerSecond;
}

PreparedKernel BehindFolding(const KernelRequest& request, PreparedKernel conv) {
  const NodeSignature& node = request.node;
  const FusedOperator* norm = NormOf(node);
  if (norm == nullptr) return conv;
  const Layout& weights = request.operands[1].layout;
  const bool small = ByteSize(node.inputs[1]) < kLeastParallelBytes;
  return PreparedKernel::Of(
      &Run,
      Parameters{std::move(conv), BlocksOf(node.inputs[1], weights), PlacesOf(node, weights),
                 node.body[0].operands.size() == 3, norm->operands[1],
                 static_cast<int>(node.inputs.size() + node.outputs.size()),
                 small ? 1 : request.threads, norm->attributes.As<BatchNormAttributes>().epsilon});
}

}  // namespace cgrun::onednn
