// If k[f] = scale[f] ÷ √(variance[f] + ε) and s[f] = (b[f] − mean[f])·k[f] + shift[f], then y is x
// ∗ (w·k) + s, or (x ∗ w)·k + s.
#include "src/kernels/onednn/folded_norm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "src/kernels/onednn/primitive.h"
#include "src/ops/batch_norm.h"

namespace cgrun::onednn {
namespace {

constexpr int64_t kAlignment = 64;                  // bytes
constexpr double kBytesPerSecond = 20e9;            // read and written, however many threads
constexpr int64_t kLeastParallelBytes = 128 << 10;  // fewer are not worth a second thread
constexpr int64_t kFloat = sizeof(float);
constexpr int64_t kMostPeriod = 256;  // of factors, see FilterBlocks

const FusedOperator* NormOf(const NodeSignature& node) {
  const auto norm = std::ranges::find(node.body, OpId::batch_norm, &FusedOperator::op);
  return norm == node.body.end() ? nullptr : &*norm;
}

int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Describes how weights lie: in blocks of `width` filters (1: none), all of one length. In a block,
// `run` elements of one filter stand beside as many of the next one. Their factors therefore repeat
// after a period.
struct FilterBlocks {
  int64_t filters = 0;
  int64_t width = 1;
  int64_t run = 1;
  int64_t elements = 0;  // of a block
  int64_t count() const { return (filters + width - 1) / width; }
  int64_t period() const { return width * run; }
};

FilterBlocks BlocksOf(const TensorType& type, const Layout& layout) {
  FilterBlocks blocks{type.shape[0].size};
  for (const Layout::Block& block : layout.blocks) {
    const bool of_filters = block.axis == 0;
    if (of_filters) blocks.width = block.size;
    blocks.run = of_filters ? 1 : blocks.run * block.size;
  }
  if (blocks.width == 1) blocks.run = 1;
  blocks.elements = ByteSize(type, layout) / SizeOf(type.dtype) / blocks.count();
  return blocks;
}

struct Parameters {
  PreparedKernel conv;
  FilterBlocks blocks;
  FoldedPlaces places;
  bool into_weights = true;
  DType dtype = DType::kF32;  // of the weights
  bool has_bias = false;
  int scale = 0;  // the operand; shift, mean and variance follow
  int workspace = 0;
  int threads = 1;
  double epsilon = 0;
};

struct Affine {
  float factor = 0, summand = 0;
};

template <class T>
Affine AffineOf(const Parameters& p, const RunContext& context, const Instruction& i,
                int64_t filter) noexcept {
  const auto of_filter = [&](int k) { return Data<const float>(context, i, p.scale + k)[filter]; };
  const double factor = of_filter(0) / std::sqrt(of_filter(3) + p.epsilon);
  const float bias = p.has_bias ? static_cast<float>(Data<const T>(context, i, 2)[filter]) : 0.0F;
  const double summand = static_cast<double>(bias) - static_cast<double>(of_filter(2));
  return {static_cast<float>(factor), static_cast<float>(summand * factor + of_filter(1))};
}

inline void Multiply(float weight, float factor, float* product) { *product = weight * factor; }

// The product is rounded to the nearest number, ties to even.
inline void Multiply(BFloat16 weight, float factor, BFloat16* product) {
  const float value = std::bit_cast<float>(uint32_t{weight.bits} << 16) * factor;
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = bits + 0x7FFF + (bits >> 16 & 1);
  product->bits = static_cast<uint16_t>((value == value ? rounded : bits | 0x400000) >> 16);
}

// The filters of one block.
template <class T>
void FoldBlock(const Parameters& p, const RunContext& context, const Instruction& i,
               int64_t block) noexcept {
  auto* workspace = Data<std::byte>(context, i, p.workspace);
  auto* summands = reinterpret_cast<float*>(workspace + p.places.summands);
  float factors[kMostPeriod] = {};
  const int64_t first = block * p.blocks.width, period = p.blocks.period();
  const int64_t filters = std::min(p.blocks.width, p.blocks.filters - first);
  for (int64_t j = 0; j < filters; ++j) {
    const Affine affine = AffineOf<T>(p, context, i, first + j);
    std::fill_n(factors + j * p.blocks.run, p.blocks.run, affine.factor);
    summands[first + j] = affine.summand;
  }
  const T* from = Data<const T>(context, i, 1) + block * p.blocks.elements;
  T* to = reinterpret_cast<T*>(workspace + p.places.factors) + block * p.blocks.elements;
  if (period == 1) {
    const float factor = factors[0];
#pragma omp simd
    for (int64_t e = 0; e < p.blocks.elements; ++e) Multiply(from[e], factor, to + e);
    return;
  }
  for (int64_t begin = 0; begin < p.blocks.elements; begin += period) {
#pragma omp simd
    for (int64_t e = 0; e < period; ++e) Multiply(from[begin + e], factors[e], to + begin + e);
  }
}

template <class T>
void FoldIntoWeights(const Parameters& p, const RunContext& context,
                     const Instruction& i) noexcept {
  if (p.threads == 1) {  // no team of another size: OpenMP allocates where that changes
    for (int64_t block = 0; block < p.blocks.count(); ++block) FoldBlock<T>(p, context, i, block);
  } else {
#pragma omp parallel for num_threads(p.threads) schedule(static)
    for (int64_t block = 0; block < p.blocks.count(); ++block) FoldBlock<T>(p, context, i, block);
  }
}

void FoldBehindSums(const Parameters& p, const RunContext& context, const Instruction& i) noexcept {
  auto* workspace = Data<float>(context, i, p.workspace);
  for (int64_t filter = 0; filter < p.blocks.filters; ++filter) {
    const Affine affine = AffineOf<BFloat16>(p, context, i, filter);
    workspace[p.places.factors / kFloat + filter] = affine.factor;
    workspace[p.places.summands / kFloat + filter] = affine.summand;
  }
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  if (p.into_weights && p.dtype == DType::kF32) {
    FoldIntoWeights<float>(p, context, i);
  } else if (p.into_weights) {
    FoldIntoWeights<BFloat16>(p, context, i);
  } else {
    FoldBehindSums(p, context, i);
  }
  Instruction conv = i;
  conv.parameters = p.conv.parameters.get();
  p.conv.run(context, conv);
}

}  // namespace

bool HasNorm(const NodeSignature& node) { return NormOf(node) != nullptr; }

bool CanFold(const NodeSignature& node) {
  const FusedOperator* norm = NormOf(node);
  return norm != nullptr && norm == &node.body[1] &&
         !norm->attributes.As<BatchNormAttributes>().training;
}

bool FoldsIntoWeights(const NodeSignature& node) {
  if (!HasNorm(node)) return false;
  const TensorType &weight = node.inputs[1], &y = node.outputs[0];
  return weight.dtype == DType::kF32 ||
         (!MultipliesTiles() && weight.shape.Elements() < y.shape.Elements());
}

bool CanFoldInto(const NodeSignature& node, const Layout& weights) {
  if (!FoldsIntoWeights(node)) return CanFold(node);
  const bool filters_first = weights.order.empty() || weights.order[0] == 0;
  const auto of_filters = std::ranges::count(weights.blocks, 0, &Layout::Block::axis);
  return CanFold(node) && filters_first && of_filters == (weights.blocks.empty() ? 0 : 1) &&
         BlocksOf(node.inputs[1], weights).period() <= kMostPeriod;
}

FoldedPlaces PlacesOf(const NodeSignature& node, const Layout& weights) {
  if (!HasNorm(node)) return {};
  const int64_t of_filters = Aligned(node.inputs[1].shape[0].size * kFloat);
  FoldedPlaces places;
  places.summands =
      FoldsIntoWeights(node) ? Aligned(ByteSize(node.inputs[1], weights)) : of_filters;
  places.end = places.summands + of_filters;
  return places;
}

double FoldingSeconds(const NodeSignature& node) {
  if (!FoldsIntoWeights(node)) return 0;
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
                 FoldsIntoWeights(node), node.inputs[1].dtype, node.body[0].operands.size() == 3,
                 norm->operands[1], static_cast<int>(node.inputs.size() + node.outputs.size()),
                 small ? 1 : request.threads, norm->attributes.As<BatchNormAttributes>().epsilon});
}

}  // namespace cgrun::onednn
