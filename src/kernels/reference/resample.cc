// Computes resample and its gradient, line by line. The taps of each element are worked out before
// the first run.
#include "src/ops/resample.h"

#include <algorithm>
#include <utility>

#include "src/kernels/reference/axis_walk.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

struct ResampleParameters {
  AxisLines lines;  // of x
  ResampleTaps taps;
  double outside = 0;
};

// Integers are rounded to nearest, ties to even.
template <class T>
T Resampled(double value) {
  if constexpr (std::is_integral_v<T>) return kernels::ToInteger<T>(std::nearbyint(value));
  if constexpr (!std::is_integral_v<T>) return StoreF64<T>(value);
}

template <class T>
struct Resample {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ResampleParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    T* y = Data<T>(context, i, 1);
    const int64_t inner = p.lines.inner, size = std::ssize(p.taps.ends);
    ForEachLine(p.lines, [&](int64_t line, int64_t first) {
      T* to = y + line / inner * size * inner + line % inner;
      int64_t k = 0;
      for (int64_t e = 0; e < size; ++e) {
        const int64_t end = p.taps.ends[static_cast<size_t>(e)];
        double sum = k == end ? p.outside : -0.0;
        for (; k < end; ++k) {
          const auto tap = static_cast<size_t>(k);
          sum += p.taps.weight[tap] * LoadF64(x[first + p.taps.index[tap] * inner]);
        }
        to[e * inner] = Resampled<T>(sum);
      }
    });
  }
};

// Spreads a line of dy over a line of zeros.
template <class T>
struct ResampleGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ResampleParameters*>(i.parameters);
    const T* dy = Data<const T>(context, i, 0);
    T* dx = Data<T>(context, i, 1);
    double* sums = Data<double>(context, i, 2);
    const int64_t inner = p.lines.inner, size = std::ssize(p.taps.ends);
    ForEachLine(p.lines, [&](int64_t line, int64_t first) {
      const T* from = dy + line / inner * size * inner + line % inner;
      std::fill_n(sums, p.lines.size, 0.0);
      int64_t k = 0;
      for (int64_t e = 0; e < size; ++e) {
        const double gradient = LoadF64(from[e * inner]);
        for (; k < p.taps.ends[static_cast<size_t>(e)]; ++k) {
          const auto tap = static_cast<size_t>(k);
          sums[p.taps.index[tap]] += p.taps.weight[tap] * gradient;
        }
      }
      for (int64_t e = 0; e < p.lines.size; ++e) dx[first + e * inner] = StoreF64<T>(sums[e]);
    });
  }
};

ResampleParameters PackResample(const NodeSignature& node, const Shape& original) {
  const auto& a = node.attributes.As<ResampleAttributes>();
  const AxisLines lines = LinesOf(original, a.axis);
  return {lines, TapsOf(a, lines.size), a.outside};
}

PreparedKernel PrepareResample(const KernelRequest& request) {
  const TensorType& x = request.node.inputs[0];
  return PreparedKernel::Of(ForNumber<Resample>(x.dtype), PackResample(request.node, x.shape));
}

PreparedKernel PrepareResampleGrad(const KernelRequest& request) {
  const TensorType& dx = request.node.outputs[0];
  return PreparedKernel::Of(ForFloat<ResampleGrad>(dx.dtype), PackResample(request.node, dx.shape));
}

// A line of sums.
int64_t ResampleGradWorkspaceBytes(const NodeSignature& node, int) {
  return node.attributes.As<ResampleAttributes>().from * static_cast<int64_t>(sizeof(double));
}

}  // namespace

KernelDef resample() {
  return {.name = "reference.resample", .supports = AllNumbers, .prepare = PrepareResample};
}

KernelDef resample_grad() {
  return {.name = "reference.resample_grad",
          .supports = AllFloat,
          .workspace_bytes = ResampleGradWorkspaceBytes,
          .prepare = PrepareResampleGrad};
}

}  // namespace cgrun::reference
