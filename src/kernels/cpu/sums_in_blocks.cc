// Computes sums over channels in blocks, of f32 or bf16: global_avg_pool, and reduce_sum over all
// axes but the channels, which is a bias's gradient. They are added in f64, channel by channel in
// the order of the positions.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/sums_in_blocks.cc"
#include <hwy/foreach_target.h>
//
#include <algorithm>

#include "src/kernels/cpu/blocks.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/number.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/sums.h"
#include "src/ops/infer.h"
#include "src/ops/reduce.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kLanes = static_cast<int64_t>(kF32Lanes);

struct Parameters {
  Blocks blocks;
  int64_t channels = 0;  // without those that pad
  int threads = 1;

  int64_t vectors() const { return blocks.channels() / kLanes; }  // of an image's channels
  // The first element of a vector of channels.
  int64_t Offset(int64_t image, int64_t vector) const {
    const int64_t channel = vector * kLanes;
    const int64_t group = image * blocks.groups + channel / blocks.block;
    return group * blocks.plane * blocks.block + channel % blocks.block;
  }
};

using Pair = States<Sum, 2>;

// Adds the positions of one image, in two chains.
template <class T>
void AddPlane(const Parameters& p, const T* x, Pair& sums) {
  int64_t e = 0;
  for (; e + 2 <= p.blocks.plane; e += 2) {
    sums[0].Add(LoadLanes(F32(), x + e * p.blocks.block));
    sums[1].Add(LoadLanes(F32(), x + (e + 1) * p.blocks.block));
  }
  if (e < p.blocks.plane) sums[0].Add(LoadLanes(F32(), x + e * p.blocks.block));
}

// Writes the sums of channels from `vector` on, each divided by `count`.
template <class T>
void Write(const Parameters& p, Pair& sums, int64_t vector, double count, T* y) {
  sums[0].Join(sums[1]);
  HWY_ALIGN double lanes[kF32Lanes];
  sums[0].Lanes(lanes);
  const int64_t first = vector * kLanes, end = std::min(first + kLanes, p.channels);
  for (int64_t c = first; c < end; ++c) {
    y[c] = static_cast<T>(static_cast<float>(lanes[c - first] / count));
  }
}

template <class T>
void RunAverage(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const T* x = Data<const T>(context, i, 0);
  T* y = Data<T>(context, i, 1);
  Split(p.threads, p.blocks.images * p.vectors(), 1, [&, x, y](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t image = task / p.vectors(), vector = task % p.vectors();
      Pair sums;
      AddPlane(p, x + p.Offset(image, vector), sums);
      Write(p, sums, vector, static_cast<double>(p.blocks.plane), y + image * p.channels);
    }
  });
}

template <class T>
void RunSum(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const T* x = Data<const T>(context, i, 0);
  T* y = Data<T>(context, i, 1);
  Split(p.threads, p.vectors(), 1, [&, x, y](int64_t begin, int64_t end) {
    for (int64_t vector = begin; vector < end; ++vector) {
      Pair sums;
      for (int64_t n = 0; n < p.blocks.images; ++n) AddPlane(p, x + p.Offset(n, vector), sums);
      Write(p, sums, vector, 1, y);
    }
  });
}

template <KernelFunction kRunF32, KernelFunction kRunBF16>
PreparedKernel Prepare(const KernelRequest& request) {
  const Shape& x = request.node.inputs[0].shape;
  const KernelFunction run = request.node.inputs[0].dtype == DType::kF32 ? kRunF32 : kRunBF16;
  return PreparedKernel::Of(run, Parameters{BlocksOf(x, request.operands[0].layout), x[1].size,
                                            ThreadsFor(request, Work::kComputes)});
}

// x as it comes, y plain.
bool Choose(const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
  const Layout* layout = ComesInBlocks(node, setting, 0, kLanes);
  if (layout == nullptr) return false;
  option->input_layouts[0] = *layout;
  return true;
}

KernelDef Define(std::string_view name, PreparedKernel (*prepare)(const KernelRequest&)) {
  return PerElement({.name = name, .supports = AllF32OrBF16, .prepare = prepare, .choose = Choose});
}

KernelDef global_avg_pool_in_blocks() {
  return Define("cpu.global_avg_pool.blocks", Prepare<&RunAverage<float>, &RunAverage<BFloat16>>);
}

KernelDef reduce_sum_in_blocks() {
  KernelDef def = Define("cpu.reduce_sum.blocks", Prepare<&RunSum<float>, &RunSum<BFloat16>>);
  def.supports = [](const NodeSignature& node) {
    const Shape& x = node.inputs[0].shape;
    const auto axes = NormalizeAxes(node.attributes.As<ReduceAttributes>().axes, x.rank());
    return AllF32OrBF16(node) && x.rank() == 4 && axes == std::vector<int>{0, 2, 3};
  };
  return def;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(global_avg_pool_in_blocks)
CGRUN_CPU_KERNEL(reduce_sum_in_blocks)

}  // namespace cgrun::cpu
#endif
