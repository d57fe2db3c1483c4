// Computes avg_pool of f32 or bf16. A vector holds windows side by side, on planes with zeros
// around them. The gradient adds each window's share to what the window saw.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/avg_pool.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/blocks.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/number.h"
#include "src/kernels/cpu/padded_plane.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/reference/reach.h"
#include "src/ops/pool.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kLanes = static_cast<int64_t>(kF32Lanes);

// As many as whole vectors of outputs have.
std::vector<float> CountsOf(const WindowAxis& axis, bool include_padding) {
  std::vector<float> counts;
  for (const int64_t count : reference::CountsOf(axis, include_padding)) {
    counts.push_back(static_cast<float>(count));
  }
  counts.resize(static_cast<size_t>(RoundToLanes(axis.output)), 1);
  return counts;
}

struct Parameters {
  int64_t planes = 0;
  PaddedPlane plane;
  std::vector<float> row_counts, column_counts;  // a window's sum is divided by their product
  int threads = 1;
};

template <int kStride, class T>
void RunRow(const Parameters& p, const float* line, float row_count, T* y) {
  const F32 d;
  const int64_t stride = p.plane.x.stride;
  for (int64_t o = 0; o < p.plane.x.output; o += kLanes) {
    VF32 sum = hn::Zero(d);
    for (int64_t u = 0; u < p.plane.y.kernel; ++u) {
      const float* from = line + u * p.plane.columns + o * stride;
      for (int64_t v = 0; v < p.plane.x.kernel; ++v) {
        sum = hn::Add(sum, LoadStrided<kStride>(from + v, stride));
      }
    }
    const VF32 count = hn::Mul(hn::Set(d, row_count), hn::LoadU(d, p.column_counts.data() + o));
    StoreSome(d, hn::Div(sum, count), y + o, std::min(kLanes, p.plane.x.output - o));
  }
}

template <class T, int kStride>
void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const T* x = Data<const T>(context, i, 0);
  T* y = Data<T>(context, i, 1);
  float* workspace = Data<float>(context, i, 2);
  const int64_t inputs = p.plane.y.input * p.plane.x.input;
  const int64_t outputs = p.plane.y.output * p.plane.x.output;
  SplitParts(p.threads, p.planes, 1, [&](int part, int64_t begin, int64_t end) {
    float* plane = workspace + part * p.plane.elements();
    std::fill_n(plane, p.plane.elements(), 0.0F);
    for (int64_t n = begin; n < end; ++n) {
      CopyInto(p.plane, x + n * inputs, plane);
      for (int64_t row = 0; row < p.plane.y.output; ++row) {
        RunRow<kStride>(p, p.plane.Line(plane, row), p.row_counts[static_cast<size_t>(row)],
                        y + n * outputs + row * p.plane.x.output);
      }
    }
  });
}

Window WindowOfPool(const NodeSignature& node) {
  return WindowOf(node.inputs[0].shape, node.attributes.As<AvgPoolAttributes>().window());
}

template <class T>
KernelFunction RunOf(int64_t stride) {
  return stride == 1 ? &Run<T, 1> : stride == 2 ? &Run<T, 2> : &Run<T, 0>;
}

PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const Shape& x = node.inputs[0].shape;
  const Window window = WindowOfPool(node);
  const bool include_padding = node.attributes.As<AvgPoolAttributes>().count_include_pad;
  const int64_t stride = window.x.stride;
  const bool narrow = node.inputs[0].dtype == DType::kBF16;
  return PreparedKernel::Of(
      narrow ? RunOf<BFloat16>(stride) : RunOf<float>(stride),
      Parameters{x[0].size * x[1].size, PaddedPlaneOf(window), CountsOf(window.y, include_padding),
                 CountsOf(window.x, include_padding), ThreadsFor(request, Work::kComputes)});
}

int64_t WorkspaceBytes(const NodeSignature& node, int threads) {
  return PlaneBytes(WindowOfPool(node), threads);
}

struct GradParameters {
  int64_t planes = 0;
  WindowAxis y, x;
  std::vector<reference::Reach> rows, columns;
  std::vector<float> row_counts, column_counts;
  int threads = 1;
};

// Adds to one row of an image what a row of windows gives it.
void AddShares(const GradParameters& p, const float* dy, float row_count, float* line) {
  const auto outputs = static_cast<size_t>(p.x.output);
  for (size_t o = 0; o < outputs; ++o) {
    const reference::Reach& reach = p.columns[o];
    const float share = dy[o] / (row_count * p.column_counts[o]);
    for (int64_t v = reach.first; v < reach.last; ++v) line[reach.origin + v] += share;
  }
}

// One plane; row_of(row) is a row of its dy, in f32.
template <class RowOf>
HWY_INLINE void SharePlane(const GradParameters& p, const RowOf& row_of, float* image) {
  std::fill_n(image, p.y.input * p.x.input, 0.0F);
  for (size_t row = 0; row < p.rows.size(); ++row) {
    const reference::Reach& reach = p.rows[row];
    const float* from = row_of(static_cast<int64_t>(row));
    for (int64_t u = reach.first; u < reach.last; ++u) {
      AddShares(p, from, p.row_counts[row], image + (reach.origin + u) * p.x.input);
    }
  }
}

void RunGrad(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const GradParameters*>(i.parameters);
  const float* dy = Data<const float>(context, i, 0);
  float* dx = Data<float>(context, i, 1);
  const int64_t inputs = p.y.input * p.x.input, outputs = p.y.output * p.x.output;
  Split(p.threads, p.planes, 1, [&, dy, dx](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const auto row_of = [&](int64_t row) { return dy + n * outputs + row * p.x.output; };
      SharePlane(p, row_of, dx + n * inputs);
    }
  });
}

void RunGradBF16(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const GradParameters*>(i.parameters);
  const BFloat16* dy = Data<const BFloat16>(context, i, 0);
  BFloat16* dx = Data<BFloat16>(context, i, 1);
  float* workspace = Data<float>(context, i, 2);
  const int64_t inputs = p.y.input * p.x.input, outputs = p.y.output * p.x.output;
  SplitParts(p.threads, p.planes, 1, [&, dy, dx](int part, int64_t begin, int64_t end) {
    float* image = workspace + part * GradientElements({p.y, p.x});
    float* line = image + inputs;
    for (int64_t n = begin; n < end; ++n) {
      const auto row_of = [&](int64_t row) {
        CopyNumbers(dy + n * outputs + row * p.x.output, p.x.output, line);
        return line;
      };
      SharePlane(p, row_of, image);
      CopyNumbers(image, inputs, dx + n * inputs);
    }
  });
}

Window WindowOfGrad(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<PoolGradAttributes>();
  return WindowOf(attributes.input, attributes.window());
}

PreparedKernel PrepareGrad(const KernelRequest& request) {
  const auto& attributes = request.node.attributes.As<PoolGradAttributes>();
  const Window window = WindowOfGrad(request.node);
  return PreparedKernel::Of(
      request.node.inputs[0].dtype == DType::kBF16 ? &RunGradBF16 : &RunGrad,
      GradParameters{attributes.input[0].size * attributes.input[1].size, window.y, window.x,
                     reference::ReachesOf(window.y), reference::ReachesOf(window.x),
                     CountsOf(window.y, attributes.count_include_pad),
                     CountsOf(window.x, attributes.count_include_pad),
                     ThreadsFor(request, Work::kComputes)});
}

int64_t GradWorkspaceBytes(const NodeSignature& node, int threads) {
  return GradientBytes(WindowOfGrad(node), node.inputs[0].dtype, threads);
}

KernelDef avg_pool() {
  return PerElement({.name = "cpu.avg_pool",
                     .supports = AllF32OrBF16,
                     .workspace_bytes = WorkspaceBytes,
                     .prepare = Prepare});
}

KernelDef avg_pool_grad() {
  return PerElement({.name = "cpu.avg_pool_grad",
                     .supports = AllF32OrBF16,
                     .workspace_bytes = GradWorkspaceBytes,
                     .prepare = PrepareGrad});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL_AND(avg_pool, avg_pool_in_blocks)
CGRUN_CPU_KERNEL_AND(avg_pool_grad, avg_pool_grad_in_blocks)

}  // namespace cgrun::cpu
#endif
