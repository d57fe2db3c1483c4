// Computes layer_norm and its gradient, a block a row, with sums in f64. A row is read to its end
// before it is written. The sums over rows come first, so that both can run in place.
#include <algorithm>
#include <cmath>

#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/ops/infer.h"
#include "src/ops/layer_norm.h"

namespace cgrun::cuda {

// x seen as [rows, size].
struct LayerNormParameters {
  int64_t rows = 0;
  int64_t size = 0;
  double epsilon = 0;
};

template <class T>
struct LayerNormBody {
  using C = Compute<T>;
  LayerNormParameters p;
  const T *x, *scale, *shift;  // the last two null where there are none
  T* y;
  C *means, *deviations;
  __device__ void operator()(int64_t row) const {
    const T* from = x + row * p.size;
    const double count = static_cast<double>(p.size);
    const double exact_mean =
        SumOverBlock(p.size, [&](int64_t e) { return LoadF64(from[e]); }) / count;
    const double squares = SumOverBlock(p.size, [&](int64_t e) {
      const double distance = LoadF64(from[e]) - exact_mean;
      return distance * distance;
    });
    const C mean = static_cast<C>(exact_mean);
    const C inv_std = static_cast<C>(1 / std::sqrt(squares / count + p.epsilon));
    if (threadIdx.x == 0) {
      means[row] = mean;
      deviations[row] = inv_std;
    }
    for (int64_t e = threadIdx.x; e < p.size; e += kThreadsPerBlock) {
      const C normalised = (Load(from[e]) - mean) * inv_std;
      y[row * p.size + e] =
          Store<T>(scale == nullptr ? normalised : normalised * Load(scale[e]) + Load(shift[e]));
    }
  }
};

template <class T, bool kAffine>
struct LayerNorm {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    using C = Compute<T>;
    constexpr int kOutput = kAffine ? 3 : 1;
    const auto& p = *static_cast<const LayerNormParameters*>(i.parameters);
    ForEachGroup(context, p.rows,
                 LayerNormBody<T>{p, Data<const T>(context, i, 0),
                                  kAffine ? Data<const T>(context, i, 1) : nullptr,
                                  kAffine ? Data<const T>(context, i, 2) : nullptr,
                                  Data<T>(context, i, kOutput), Data<C>(context, i, kOutput + 1),
                                  Data<C>(context, i, kOutput + 2)});
  }
};

// Operands of the gradient; `scale` is null where there is none.
template <class T>
struct LayerNormGradOperands {
  LayerNormParameters p;
  const T *x, *dy;
  const Compute<T>*means, *deviations;
  const T* scale;

  __device__ double Normalised(int64_t row, int64_t at) const {
    return static_cast<double>((Load(x[at]) - means[row]) * deviations[row]);
  }
};

// Rows are summed up in parts, so that rows of few elements keep a whole GPU busy.
static int64_t PartsOf(const LayerNormParameters& p) {
  constexpr int64_t kMost = 64, kRowsWorthIt = 8;
  return std::clamp<int64_t>(p.rows / kRowsWorthIt, 1, kMost);
}

struct ParameterGradSums {
  double scale = 0;
  double shift = 0;
};

// Element `e` of a row in one part: index part·size + e.
template <class T>
struct LayerNormPartBody {
  LayerNormGradOperands<T> in;
  int64_t parts;
  ParameterGradSums* sums;
  __device__ void operator()(int64_t index) const {
    const int64_t part = Quotient(index, in.p.size), e = index - part * in.p.size;
    ParameterGradSums own;
    for (int64_t row = part; row < in.p.rows; row += parts) {
      const int64_t at = row * in.p.size + e;
      own.scale += LoadF64(in.dy[at]) * in.Normalised(row, at);
      own.shift += LoadF64(in.dy[at]);
    }
    sums[index] = own;
  }
};

template <class T>
struct LayerNormParameterGradBody {
  const ParameterGradSums* sums;
  int64_t size, parts;
  T *dscale, *dshift;
  __device__ void operator()(int64_t e) const {
    ParameterGradSums own;
    for (int64_t part = 0; part < parts; ++part) {
      own.scale += sums[part * size + e].scale;
      own.shift += sums[part * size + e].shift;
    }
    dscale[e] = StoreF64<T>(own.scale);
    dshift[e] = StoreF64<T>(own.shift);
  }
};

template <class T>
struct LayerNormInputGradBody {
  LayerNormGradOperands<T> in;
  T* dx;

  __device__ double Scaled(int64_t first, int64_t e) const {
    const double dy = LoadF64(in.dy[first + e]);
    return in.scale == nullptr ? dy : dy * LoadF64(in.scale[e]);
  }

  __device__ void operator()(int64_t row) const {
    const int64_t first = row * in.p.size;
    const double count = static_cast<double>(in.p.size);
    const double sum = SumOverBlock(in.p.size, [&](int64_t e) { return Scaled(first, e); });
    const double product = SumOverBlock(
        in.p.size, [&](int64_t e) { return Scaled(first, e) * in.Normalised(row, first + e); });
    const double inv_std = static_cast<double>(in.deviations[row]);
    for (int64_t e = threadIdx.x; e < in.p.size; e += kThreadsPerBlock) {
      const double through = in.Normalised(row, first + e) * (product / count);
      dx[first + e] = StoreF64<T>(inv_std * (Scaled(first, e) - sum / count - through));
    }
  }
};

template <class T, bool kAffine>
struct LayerNormGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    using C = Compute<T>;
    const auto& p = *static_cast<const LayerNormParameters*>(i.parameters);
    const LayerNormGradOperands<T> in{p,
                                      Data<const T>(context, i, 0),
                                      Data<const T>(context, i, 1),
                                      Data<const C>(context, i, 2),
                                      Data<const C>(context, i, 3),
                                      kAffine ? Data<const T>(context, i, 4) : nullptr};
    if constexpr (kAffine) {
      const int64_t parts = PartsOf(p);
      auto* sums = Data<ParameterGradSums>(context, i, 8);
      ForEachElement(context, parts * p.size, LayerNormPartBody<T>{in, parts, sums});
      ForEachElement(context, p.size,
                     LayerNormParameterGradBody<T>{sums, p.size, parts, Data<T>(context, i, 6),
                                                   Data<T>(context, i, 7)});
    }
    ForEachGroup(context, p.rows,
                 LayerNormInputGradBody<T>{in, Data<T>(context, i, kAffine ? 5 : 4)});
  }
};

template <class T>
using AffineLayerNorm = LayerNorm<T, true>;
template <class T>
using PlainLayerNorm = LayerNorm<T, false>;
template <class T>
using AffineLayerNormGrad = LayerNormGrad<T, true>;
template <class T>
using PlainLayerNormGrad = LayerNormGrad<T, false>;

static LayerNormParameters PackLayerNorm(const NodeSignature& node) {
  const Shape& x = node.inputs[0].shape;
  const auto& attributes = node.attributes.As<LayerNormAttributes>();
  LayerNormParameters p{1, 1, attributes.epsilon};
  const int first = *NormalizeAxis(attributes.axis, x.rank());
  for (int axis = 0; axis < x.rank(); ++axis) (axis < first ? p.rows : p.size) *= x[axis].size;
  return p;
}

static bool IsAffine(const NodeSignature& node) {
  return node.attributes.As<LayerNormAttributes>().affine;
}

template <template <class> class Affine, template <class> class Plain>
static PreparedKernel PrepareLayerNorm(const KernelRequest& request) {
  const DType dtype = request.node.inputs[0].dtype;
  return PreparedKernel::Of(
      IsAffine(request.node) ? ForFloat<Affine>(dtype) : ForFloat<Plain>(dtype),
      PackLayerNorm(request.node));
}

static int64_t GradWorkspace(const NodeSignature& node, int) {
  if (!IsAffine(node)) return 0;
  const LayerNormParameters p = PackLayerNorm(node);
  return PartsOf(p) * p.size * static_cast<int64_t>(sizeof(ParameterGradSums));
}

KernelDef layer_norm() {
  return {.name = "cuda.layer_norm",
          .supports = FirstInputIsFloat,
          .prepare = PrepareLayerNorm<AffineLayerNorm, PlainLayerNorm>};
}
KernelDef layer_norm_grad() {
  return {.name = "cuda.layer_norm_grad",
          .supports = FirstInputIsFloat,
          .workspace_bytes = GradWorkspace,
          .prepare = PrepareLayerNorm<AffineLayerNormGrad, PlainLayerNormGrad>};
}

}  // namespace cgrun::cuda
