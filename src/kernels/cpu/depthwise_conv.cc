// Computes conv of f32 for groups of one channel, alone or with an activation behind it. Each plane
// is copied into the middle of its padding. Then some rows of outputs at a time take the weights
// one after the other, so that each weight is read once for all of them. A sum stays in one
// register from the first tap to the last: its bits depend neither on the threads nor on the batch.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/depthwise_conv.cc"
#include <hwy/foreach_target.h>
//
#include <array>
#include <utility>

#include "src/kernels/cpu/activated.h"
#include "src/kernels/cpu/conv_seconds.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/number.h"
#include "src/kernels/cpu/padded_plane.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/tiled_conv.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int kMostRows = 8;  // their sums are independent: enough to hide the time of one

struct DepthwiseConv {
  ConvGeometry geometry;
  PaddedPlane padded;
  bool has_bias = false;
  Activation activation;
  int threads = 1;

  static DepthwiseConv Of(const NodeSignature& node, int threads) {
    DepthwiseConv p;
    p.geometry = ConvGeometryOf(node);
    p.padded = PaddedPlaneOf(p.geometry.window);
    p.has_bias = node.inputs.size() == 3;
    p.activation = Activation::In(node);
    p.threads = ConvThreads(p.geometry, threads);
    return p;
  }
};

// Computes the result of one filter on one padded plane.
struct PlaneProduct {
  const DepthwiseConv& p;
  const float* plane;
  const float* weight;
  float bias;
  float* y;
};

// Rows [row, row + kRows) of the outputs, one vector of them after the other.
template <int kStride, int kRows>
void RunRows(const PlaneProduct& product, int64_t row) {
  const F32 d;
  const DepthwiseConv& p = product.p;
  const WindowAxis &y = p.padded.y, &x = p.padded.x;
  const int64_t line = y.stride * p.padded.columns;
  const float* const first = p.padded.Line(product.plane, row);
  constexpr auto kLanes = static_cast<int64_t>(kF32Lanes);
  for (int64_t column = 0; column < x.output; column += kLanes) {
    VF32 sums[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) sums[r] = hn::Zero(d);
    const float* weight = product.weight;
    for (int64_t u = 0; u < y.kernel; ++u) {
      const float* seen = first + u * y.dilation * p.padded.columns + column * x.stride;
      for (int64_t v = 0; v < x.kernel; ++v, seen += x.dilation) {
        const VF32 w = hn::Set(d, *weight++);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          sums[r] = hn::MulAdd(w, LoadStrided<kStride>(seen + r * line, x.stride), sums[r]);
        }
      }
    }
    const VF32 bias = hn::Set(d, product.bias);
    const int64_t count = std::min(kLanes, x.output - column);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      StoreSome(d, Activated(p.activation, hn::Add(sums[r], bias)),
                product.y + (row + r) * x.output + column, count);
    }
  }
}

using RunSomeRows = void (*)(const PlaneProduct&, int64_t row);

// The instances of RunRows for 1, 2, … rows.
template <int kStride, size_t... kRow>
constexpr std::array<RunSomeRows, kMostRows> RowsTable(std::index_sequence<kRow...>) {
  return {&RunRows<kStride, static_cast<int>(kRow) + 1>...};
}
template <int kStride>
constexpr auto kRowsTable = RowsTable<kStride>(std::make_index_sequence<kMostRows>());

void RunPlane(const PlaneProduct& product) {
  const WindowAxis &y = product.p.padded.y, &x = product.p.padded.x;
  const auto& table = x.stride == 1 ? kRowsTable<1> : x.stride == 2 ? kRowsTable<2> : kRowsTable<0>;
  for (int64_t row = 0; row < y.output; row += kMostRows) {
    const int64_t rows = std::min<int64_t>(kMostRows, y.output - row);
    table[static_cast<size_t>(rows) - 1](product, row);
  }
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const DepthwiseConv*>(i.parameters);
  const ConvGeometry& g = p.geometry;
  const auto *x = Data<const float>(context, i, 0), *weight = Data<const float>(context, i, 1);
  const float* bias = p.has_bias ? Data<const float>(context, i, 2) : nullptr;
  const int output = p.has_bias ? 3 : 2;
  float *y = Data<float>(context, i, output), *planes = Data<float>(context, i, output + 1);
  SplitParts(p.threads, g.images * g.groups, 1, [&](int part, int64_t begin, int64_t end) {
    float* plane = planes + part * p.padded.elements();
    std::fill_n(plane, p.padded.elements(), 0.0F);
    for (int64_t map = begin; map < end; ++map) {
      CopyInto(p.padded, x + map * g.input_plane(), plane);
      for (int64_t f = 0; f < g.filters; ++f) {
        const int64_t filter = map % g.groups * g.filters + f;
        RunPlane({p, plane, weight + filter * g.taps(), bias == nullptr ? 0.0F : bias[filter],
                  y + (map * g.filters + f) * g.output_plane()});
      }
    }
  });
}

bool Supports(const NodeSignature& node) {
  if (!AllF32(node) || !NoneIsEmpty(node)) return false;
  const ConvGeometry g = ConvGeometryOf(node);
  return g.groups > 1 && g.channels == 1;
}

bool SupportsActivated(const NodeSignature& node) {
  return IsActivated(node, OpId::conv) && Supports(node);
}

KernelDef depthwise_conv() {
  return {.name = "cpu.depthwise_conv",
          .supports = Supports,
          .workspace_bytes =
              [](const NodeSignature& node, int threads) {
                const ConvGeometry g = ConvGeometryOf(node);
                return PlaneBytes(g.window, ConvThreads(g, threads));
              },
          .prepare =
              [](const KernelRequest& request) {
                return PreparedKernel::Of(&Run, DepthwiseConv::Of(request.node, request.threads));
              },
          .seconds =
              [](const NodeSignature& node, int threads) {
                return DepthwiseConvSeconds(node, static_cast<int64_t>(kF32Lanes), threads);
              }};
}
KernelDef activated_depthwise_conv() {
  KernelDef def = depthwise_conv();
  def.name = "cpu.fused_depthwise_conv";
  def.supports = SupportsActivated;
  return def;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(depthwise_conv)
CGRUN_CPU_KERNEL(activated_depthwise_conv)

}  // namespace cgrun::cpu
#endif
