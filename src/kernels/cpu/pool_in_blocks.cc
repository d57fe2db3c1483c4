// Computes pooling of channels in blocks, of f32 or bf16. A vector holds channels at one position,
// so that a window is a loop over its positions in the image. A gradient of f32 adds what each
// window gives where it belongs. A gradient of bf16 adds up, input by input, what all windows that
// see the input give. The order is the same, and the sum is rounded once.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/pool_in_blocks.cc"
#include <hwy/foreach_target.h>
//
#include <algorithm>
#include <limits>
#include <span>

#include "src/kernels/cpu/blocks.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/number.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/sums.h"
#include "src/kernels/reference/reach.h"
#include "src/ops/pool.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kLanes = static_cast<int64_t>(kF32Lanes);

using Positions = hn::Rebind<int32_t, F32>;
using VPositions = hn::Vec<Positions>;

struct Parameters {
  Blocks blocks;  // of the images
  WindowAxis y, x;
  std::vector<reference::Reach> rows, columns;     // the part of the image in each window
  std::vector<int64_t> row_counts, column_counts;  // avg_pool divides by their product
  reference::Readers row_readers, column_readers;  // the windows that see an input
  int threads = 1;

  int64_t inputs() const { return y.input * x.input * blocks.block; }
  int64_t outputs() const { return y.output * x.output * blocks.block; }
};

// Says what a window sees: positions [u0, u1) × [v0, v1) of the kernel, the first of all at
// `begin`.
struct Sight {
  const reference::Reach &rows, &columns;
  int64_t step_down, step_across;  // elements between kernel positions

  int64_t Offset(int64_t u, int64_t v) const { return u * step_down + v * step_across; }
};

// Calls work(window, sight, origin) for each window of an image: its number, and the element offset
// of kernel position (0, 0), which may lie outside.
template <class Work>
HWY_INLINE void ForWindows(const Parameters& p, const Work& work) {
  const int64_t across = p.x.dilation * p.blocks.block;
  const int64_t down = p.y.dilation * p.x.input * p.blocks.block;
  for (int64_t oy = 0; oy < p.y.output; ++oy) {
    const reference::Reach& rows = p.rows[static_cast<size_t>(oy)];
    for (int64_t ox = 0; ox < p.x.output; ++ox) {
      const reference::Reach& columns = p.columns[static_cast<size_t>(ox)];
      const int64_t origin = (rows.origin * p.x.input + columns.origin) * p.blocks.block;
      work(oy * p.x.output + ox, Sight{rows, columns, down, across}, origin);
    }
  }
}

HWY_INLINE std::span<const reference::Reader> ReadersAt(const reference::Readers& readers,
                                                        int64_t input) {
  const size_t* begin = readers.begin.data() + input;
  return {readers.all.data() + begin[0], begin[1] - begin[0]};
}

// The gradient of an image: the sums of give(up, across, offset) over the windows that see a
// position, in row-major order. `up` and `across` are a window's row and column, `offset` is where
// a vector of its channels begins among the outputs of an image.
template <class Give>
HWY_INLINE void Gather(const Parameters& p, BFloat16* dx, const Give& give) {
  const F32 d;
  for (int64_t y = 0; y < p.y.input; ++y) {
    const auto rows = ReadersAt(p.row_readers, y);
    for (int64_t x = 0; x < p.x.input; ++x) {
      const auto columns = ReadersAt(p.column_readers, x);
      for (int64_t lane = 0; lane < p.blocks.block; lane += kLanes, dx += kLanes) {
        VF32 sum = hn::Zero(d);
        for (const reference::Reader& up : rows) {
          for (const reference::Reader& across : columns) {
            const int64_t window = up.output * p.x.output + across.output;
            sum = hn::Add(sum, give(up, across, window * p.blocks.block + lane));
          }
        }
        StoreLanes(d, sum, dx);
      }
    }
  }
}

HWY_INLINE void StoreWinners(VPositions winners, int32_t* to) {
  hn::StoreU(winners, Positions(), to);
}
HWY_INLINE void StoreWinners(VPositions winners, uint8_t* to) {
  const hn::Rebind<uint8_t, F32> d8;
  hn::StoreU(hn::DemoteTo(d8, winners), d8, to);
}
HWY_INLINE VPositions LoadWinners(const int32_t* from) { return hn::LoadU(Positions(), from); }
HWY_INLINE VPositions LoadWinners(const uint8_t* from) {
  return hn::PromoteTo(Positions(), hn::LoadU(hn::Rebind<uint8_t, F32>(), from));
}

// The largest of a window and where it was; a NaN wins, and the first of equals.
template <class T, class Index>
HWY_INLINE void MaxOfWindow(const Parameters& p, const Sight& s, const T* x, T* y, Index* index) {
  const F32 d;
  const Positions di;
  const auto first = static_cast<int32_t>(s.rows.first * p.x.kernel + s.columns.first);
  VF32 best = hn::Set(d, -std::numeric_limits<float>::infinity());
  VPositions winner = hn::Set(di, first);
  for (int64_t u = s.rows.first; u < s.rows.last; ++u) {
    for (int64_t v = s.columns.first; v < s.columns.last; ++v) {
      const VF32 value = LoadLanes(d, x + s.Offset(u, v));
      const auto wins = hn::Or(hn::Gt(value, best), hn::IsNaN(value));
      best = hn::IfThenElse(wins, value, best);
      winner = hn::IfThenElse(hn::RebindMask(di, wins),
                              hn::Set(di, static_cast<int32_t>(u * p.x.kernel + v)), winner);
    }
  }
  StoreExact(d, best, y);
  StoreWinners(winner, index);
}

template <class T, class Index>
void RunMax(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const T* x = Data<const T>(context, i, 0);
  T* y = Data<T>(context, i, 1);
  Index* index = Data<Index>(context, i, 2);
  Split(p.threads, p.blocks.planes(), 1, [&, x, y, index](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      ForWindows(p, [&](int64_t window, const Sight& sight, int64_t origin) {
        const int64_t to = n * p.outputs() + window * p.blocks.block;
        for (int64_t lane = 0; lane < p.blocks.block; lane += kLanes) {
          MaxOfWindow(p, sight, x + n * p.inputs() + origin + lane, y + to + lane,
                      index + to + lane);
        }
      });
    }
  });
}

// Adds dy to the winner of each channel.
template <class Index>
HWY_INLINE void AddToWinners(const Parameters& p, const Sight& s, const Index* index,
                             const float* dy, float* dx) {
  const F32 d;
  const Positions di;
  const VPositions winner = LoadWinners(index);
  const VF32 gradient = hn::LoadU(d, dy);
  for (int64_t u = s.rows.first; u < s.rows.last; ++u) {
    for (int64_t v = s.columns.first; v < s.columns.last; ++v) {
      const auto here = hn::Set(di, static_cast<int32_t>(u * p.x.kernel + v));
      const auto wins = hn::RebindMask(d, hn::Eq(winner, here));
      float* to = dx + s.Offset(u, v);
      hn::StoreU(hn::Add(hn::LoadU(d, to), hn::IfThenElseZero(wins, gradient)), d, to);
    }
  }
}

template <class Index>
void RunMaxGrad(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const Index* index = Data<const Index>(context, i, 0);
  const float* dy = Data<const float>(context, i, 1);
  float* dx = Data<float>(context, i, 2);
  Split(p.threads, p.blocks.planes(), 1, [&, index, dy, dx](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      float* image = dx + n * p.inputs();
      std::fill_n(image, p.inputs(), 0.0F);
      ForWindows(p, [&](int64_t window, const Sight& sight, int64_t origin) {
        const int64_t from = n * p.outputs() + window * p.blocks.block;
        for (int64_t lane = 0; lane < p.blocks.block; lane += kLanes) {
          AddToWinners(p, sight, index + from + lane, dy + from + lane, image + origin + lane);
        }
      });
    }
  });
}

template <class Index>
void RunMaxGradBF16(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const Index* index = Data<const Index>(context, i, 0);
  const BFloat16* dy = Data<const BFloat16>(context, i, 1);
  BFloat16* dx = Data<BFloat16>(context, i, 2);
  Split(p.threads, p.blocks.planes(), 1, [&, index, dy, dx](int64_t begin, int64_t end) {
    const F32 d;
    const Positions di;
    for (int64_t n = begin; n < end; ++n) {
      const Index* winners = index + n * p.outputs();
      const BFloat16* from = dy + n * p.outputs();
      Gather(p, dx + n * p.inputs(), [&](const auto& up, const auto& across, int64_t offset) {
        const int64_t position = up.position * p.x.kernel + across.position;
        const auto here = hn::Set(di, static_cast<int32_t>(position));
        const auto wins = hn::RebindMask(d, hn::Eq(LoadWinners(winners + offset), here));
        return hn::IfThenElseZero(wins, LoadLanes(d, from + offset));
      });
    }
  });
}

HWY_INLINE VF32 CountOf(const Parameters& p, int64_t window) {
  const auto row = static_cast<size_t>(window / p.x.output);
  const auto column = static_cast<size_t>(window % p.x.output);
  return hn::Set(F32(), static_cast<float>(p.row_counts[row] * p.column_counts[column]));
}

template <class T>
void RunAverage(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const T* x = Data<const T>(context, i, 0);
  T* y = Data<T>(context, i, 1);
  Split(p.threads, p.blocks.planes(), 1, [&, x, y](int64_t begin, int64_t end) {
    const F32 d;
    for (int64_t n = begin; n < end; ++n) {
      ForWindows(p, [&](int64_t window, const Sight& s, int64_t origin) {
        for (int64_t lane = 0; lane < p.blocks.block; lane += kLanes) {
          const T* from = x + n * p.inputs() + origin + lane;
          VF32 sum = hn::Zero(d);
          for (int64_t u = s.rows.first; u < s.rows.last; ++u) {
            for (int64_t v = s.columns.first; v < s.columns.last; ++v) {
              sum = hn::Add(sum, LoadLanes(d, from + s.Offset(u, v)));
            }
          }
          StoreLanes(d, hn::Div(sum, CountOf(p, window)),
                     y + n * p.outputs() + window * p.blocks.block + lane);
        }
      });
    }
  });
}

void RunAverageGrad(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* dy = Data<const float>(context, i, 0);
  float* dx = Data<float>(context, i, 1);
  Split(p.threads, p.blocks.planes(), 1, [&, dy, dx](int64_t begin, int64_t end) {
    const F32 d;
    for (int64_t n = begin; n < end; ++n) {
      float* image = dx + n * p.inputs();
      std::fill_n(image, p.inputs(), 0.0F);
      ForWindows(p, [&](int64_t window, const Sight& s, int64_t origin) {
        for (int64_t lane = 0; lane < p.blocks.block; lane += kLanes) {
          const float* from = dy + n * p.outputs() + window * p.blocks.block + lane;
          const VF32 share = hn::Div(hn::LoadU(d, from), CountOf(p, window));
          for (int64_t u = s.rows.first; u < s.rows.last; ++u) {
            for (int64_t v = s.columns.first; v < s.columns.last; ++v) {
              float* to = image + origin + lane + s.Offset(u, v);
              hn::StoreU(hn::Add(hn::LoadU(d, to), share), d, to);
            }
          }
        }
      });
    }
  });
}

void RunAverageGradBF16(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const BFloat16* dy = Data<const BFloat16>(context, i, 0);
  BFloat16* dx = Data<BFloat16>(context, i, 1);
  Split(p.threads, p.blocks.planes(), 1, [&, dy, dx](int64_t begin, int64_t end) {
    const F32 d;
    for (int64_t n = begin; n < end; ++n) {
      const BFloat16* from = dy + n * p.outputs();
      Gather(p, dx + n * p.inputs(), [&](const auto& up, const auto& across, int64_t offset) {
        const int64_t count = p.row_counts[static_cast<size_t>(up.output)] *
                              p.column_counts[static_cast<size_t>(across.output)];
        return hn::Div(LoadLanes(d, from + offset), hn::Set(d, static_cast<float>(count)));
      });
    }
  });
}

Parameters ParametersOf(const KernelRequest& request, const Shape& images, const Layout& layout,
                        const WindowAttributes& attributes, bool include_padding = false) {
  const Window window = WindowOf(images, attributes);
  return {BlocksOf(images, layout),
          window.y,
          window.x,
          reference::ReachesOf(window.y),
          reference::ReachesOf(window.x),
          reference::CountsOf(window.y, include_padding),
          reference::CountsOf(window.x, include_padding),
          reference::ReadersOf(window.y),
          reference::ReadersOf(window.x),
          ThreadsFor(request, Work::kComputes)};
}

const Layout& LayoutOf(const KernelRequest& request, size_t operand) {
  return request.operands[operand].layout;
}

// Chooses, for KernelDef::choose, the layout in which input `kInput` comes, for all operands.
template <size_t kInput>
bool ChooseBlocks(const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
  const Layout* layout = ComesInBlocks(node, setting, kInput, kLanes);
  if (layout == nullptr) return false;
  std::fill(option->input_layouts.begin(), option->input_layouts.end(), *layout);
  std::fill(option->output_layouts.begin(), option->output_layouts.end(), *layout);
  return true;
}

template <size_t kInput>
bool IsBF16(const NodeSignature& node) {
  return node.inputs[kInput].dtype == DType::kBF16;
}

template <size_t kInput>
bool Supports(const NodeSignature& node) {
  return node.inputs[kInput].dtype == DType::kF32 || IsBF16<kInput>(node);
}

template <size_t kInput>
KernelDef Define(std::string_view name, PreparedKernel (*prepare)(const KernelRequest&)) {
  return PerElement({.name = name,
                     .supports = Supports<kInput>,
                     .prepare = prepare,
                     .choose = ChooseBlocks<kInput>});
}

template <class T>
KernelFunction MaxOf(bool bytes) {
  return bytes ? &RunMax<T, uint8_t> : &RunMax<T, int32_t>;
}

KernelDef max_pool_in_blocks() {
  return Define<0>("cpu.max_pool.blocks", [](const KernelRequest& request) {
    const NodeSignature& node = request.node;
    const bool bytes = node.outputs[1].dtype == DType::kU8;
    return PreparedKernel::Of(IsBF16<0>(node) ? MaxOf<BFloat16>(bytes) : MaxOf<float>(bytes),
                              ParametersOf(request, node.inputs[0].shape, LayoutOf(request, 0),
                                           node.attributes.As<MaxPoolAttributes>().window()));
  });
}

KernelFunction MaxGradOf(bool narrow, bool bytes) {
  if (narrow) return bytes ? &RunMaxGradBF16<uint8_t> : &RunMaxGradBF16<int32_t>;
  return bytes ? &RunMaxGrad<uint8_t> : &RunMaxGrad<int32_t>;
}

KernelDef max_pool_grad_in_blocks() {
  return Define<1>("cpu.max_pool_grad.blocks", [](const KernelRequest& request) {
    const auto& attributes = request.node.attributes.As<PoolGradAttributes>();
    const bool bytes = request.node.inputs[0].dtype == DType::kU8;
    return PreparedKernel::Of(
        MaxGradOf(IsBF16<1>(request.node), bytes),
        ParametersOf(request, attributes.input, LayoutOf(request, 1), attributes.window()));
  });
}

KernelDef avg_pool_in_blocks() {
  return Define<0>("cpu.avg_pool.blocks", [](const KernelRequest& request) {
    const auto& attributes = request.node.attributes.As<AvgPoolAttributes>();
    return PreparedKernel::Of(
        IsBF16<0>(request.node) ? &RunAverage<BFloat16> : &RunAverage<float>,
        ParametersOf(request, request.node.inputs[0].shape, LayoutOf(request, 0),
                     attributes.window(), attributes.count_include_pad));
  });
}

KernelDef avg_pool_grad_in_blocks() {
  return Define<0>("cpu.avg_pool_grad.blocks", [](const KernelRequest& request) {
    const auto& attributes = request.node.attributes.As<PoolGradAttributes>();
    return PreparedKernel::Of(IsBF16<0>(request.node) ? &RunAverageGradBF16 : &RunAverageGrad,
                              ParametersOf(request, attributes.input, LayoutOf(request, 0),
                                           attributes.window(), attributes.count_include_pad));
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(max_pool_in_blocks)
CGRUN_CPU_KERNEL(max_pool_grad_in_blocks)
CGRUN_CPU_KERNEL(avg_pool_in_blocks)
CGRUN_CPU_KERNEL(avg_pool_grad_in_blocks)

}  // namespace cgrun::cpu
#endif
