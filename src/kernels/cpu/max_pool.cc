// max_pool, f32: a vector of windows side by side, on planes with their padding written out in the
// workspace. Its gradient adds each window's dy where that window's winner was.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/max_pool.cc"
#include <hwy/foreach_target.h>
//
#include <limits>

#include "src/kernels/cpu/blocks.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/padded_plane.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/reference/reach.h"
#include "src/ops/pool.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kLanes = static_cast<int64_t>(kF32Lanes);
constexpr float kLeast = -std::numeric_limits<float>::infinity();

struct Parameters {
  int64_t planes = 0;
  PaddedPlane plane;
  // The kernel positions at which windows begin to see the image: a window of −∞ alone has its
  // winner there.
  std::vector<int32_t> first_rows, first_columns;
  int threads = 1;
};

using Positions = hn::Rebind<int32_t, F32>;

HWY_INLINE void StoreWinners(hn::Vec<Positions> winners, int32_t* to, int64_t n) {
  StoreSome(Positions(), winners, to, n);
}
HWY_INLINE void StoreWinners(hn::Vec<Positions> winners, uint8_t* to, int64_t n) {
  const hn::Rebind<uint8_t, F32> d8;
  StoreSome(d8, hn::DemoteTo(d8, winners), to, n);
}

// One row of windows; a NaN wins, and the first of equals.
template <int kStride, class Index>
void RunRow(const Parameters& p, const float* line, int64_t row, float* y, Index* index) {
  const F32 d;
  const Positions di;
  const int64_t kernel = p.plane.x.kernel, stride = p.plane.x.stride;
  const int64_t dilation = p.plane.x.dilation;
  const auto first_row = static_cast<int32_t>(p.first_rows[static_cast<size_t>(row)] * kernel);
  for (int64_t o = 0; o < p.plane.x.output; o += kLanes) {
    VF32 best = hn::Set(d, kLeast);
    auto winner = hn::Add(hn::Set(di, first_row), hn::LoadU(di, p.first_columns.data() + o));
    int32_t position = 0;
    for (int64_t u = 0; u < p.plane.y.kernel; ++u) {
      const float* from = line + u * p.plane.y.dilation * p.plane.columns + o * stride;
      for (int64_t v = 0; v < kernel; ++v, ++position) {
        const VF32 x = LoadStrided<kStride>(from + v * dilation, stride);
        const auto wins = hn::Or(hn::Gt(x, best), hn::IsNaN(x));
        best = hn::IfThenElse(wins, x, best);
        winner = hn::IfThenElse(hn::RebindMask(di, wins), hn::Set(di, position), winner);
      }
    }
    const int64_t lanes = std::min(kLanes, p.plane.x.output - o);
    StoreSome(d, best, y + o, lanes);
    StoreWinners(winner, index + o, lanes);
  }
}

template <int kStride, class Index>
void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* x = Data<const float>(context, i, 0);
  float* y = Data<float>(context, i, 1);
  Index* index = Data<Index>(context, i, 2);
  float* workspace = Data<float>(context, i, 3);
  const int64_t inputs = p.plane.y.input * p.plane.x.input;
  const int64_t outputs = p.plane.y.output * p.plane.x.output;
  SplitParts(p.threads, p.planes, 1, [&](int part, int64_t begin, int64_t end) {
    float* plane = workspace + part * p.plane.elements();
    std::fill_n(plane, p.plane.elements(), kLeast);
    for (int64_t n = begin; n < end; ++n) {
      CopyInto(p.plane, x + n * inputs, plane);
      for (int64_t row = 0; row < p.plane.y.output; ++row) {
        const int64_t at = n * outputs + row * p.plane.x.output;
        RunRow<kStride>(p, p.plane.Line(plane, row), row, y + at, index + at);
      }
    }
  });
}

template <class Index>
KernelFunction Choose(int64_t stride) {
  if (stride == 1) return &Run<1, Index>;
  return stride == 2 ? &Run<2, Index> : &Run<0, Index>;
}

Window WindowOfPool(const NodeSignature& node) {
  return WindowOf(node.inputs[0].shape, node.attributes.As<MaxPoolAttributes>().window());
}

std::vector<int32_t> FirstPositions(const WindowAxis& axis) {
  std::vector<int32_t> first;
  for (const reference::Reach& reach : reference::ReachesOf(axis)) {
    first.push_back(static_cast<int32_t>(reach.first));
  }
  first.resize(static_cast<size_t>(RoundToLanes(axis.output)));
  return first;
}

PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const Shape& x = node.inputs[0].shape;
  const Window window = WindowOfPool(node);
  const bool bytes = node.outputs[1].dtype == DType::kU8;
  return PreparedKernel::Of(
      bytes ? Choose<uint8_t>(window.x.stride) : Choose<int32_t>(window.x.stride),
      Parameters{x[0].size * x[1].size, PaddedPlaneOf(window), FirstPositions(window.y),
                 FirstPositions(window.x), ThreadsFor(request, Work::kComputes)});
}

int64_t WorkspaceBytes(const NodeSignature& node, int threads) {
  return PlaneBytes(WindowOfPool(node), threads);
}

struct GradParameters {
  int64_t planes = 0;
  WindowAxis y, x;
  std::vector<int32_t> down, across;  // from a window's origin, by kernel position
  int threads = 1;
};

// Adds what one row of windows gives. A winner that is not in the image gets nothing.
template <class Index>
void AddToWinners(const GradParameters& p, const Index* index, const float* dy, int64_t row,
                  float* image) {
  const int32_t *down = p.down.data(), *across = p.across.data();
  const size_t positions = p.down.size();
  const int64_t top = p.y.InputOf(row, 0), height = p.y.input, width = p.x.input;
  int64_t left = -p.x.before;
  for (int64_t o = 0; o < p.x.output; ++o, left += p.x.stride) {
    const auto position = static_cast<size_t>(index[o]);
    if (position >= positions) continue;
    const int64_t at_y = top + down[position], at_x = left + across[position];
    const bool inside = static_cast<uint64_t>(at_y) < static_cast<uint64_t>(height) &&
                        static_cast<uint64_t>(at_x) < static_cast<uint64_t>(width);
    if (inside) image[at_y * width + at_x] += dy[o];
  }
}

template <class Index>
void RunGrad(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const GradParameters*>(i.parameters);
  const Index* index = Data<const Index>(context, i, 0);
  const float* dy = Data<const float>(context, i, 1);
  float* dx = Data<float>(context, i, 2);
  const int64_t inputs = p.y.input * p.x.input, outputs = p.y.output * p.x.output;
  Split(p.threads, p.planes, 1, [&, index, dy, dx](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      std::fill_n(dx + n * inputs, inputs, 0.0F);
      for (int64_t row = 0; row < p.y.output; ++row) {
        const int64_t at = n * outputs + row * p.x.output;
        AddToWinners(p, index + at, dy + at, row, dx + n * inputs);
      }
    }
  });
}

PreparedKernel PrepareGrad(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<PoolGradAttributes>();
  const Window window = WindowOf(attributes.input, attributes.window());
  GradParameters p;
  p.planes = attributes.input[0].size * attributes.input[1].size;
  p.y = window.y;
  p.x = window.x;
  p.threads = ThreadsFor(request, Work::kComputes);
  for (int64_t u = 0; u < p.y.kernel; ++u) {
    for (int64_t v = 0; v < p.x.kernel; ++v) {
      p.down.push_back(static_cast<int32_t>(u * p.y.dilation));
      p.across.push_back(static_cast<int32_t>(v * p.x.dilation));
    }
  }
  const bool bytes = node.inputs[0].dtype == DType::kU8;
  return PreparedKernel::Of(bytes ? &RunGrad<uint8_t> : &RunGrad<int32_t>, std::move(p));
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
