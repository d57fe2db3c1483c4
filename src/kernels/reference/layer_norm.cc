// Computes layer_norm and its gradient, row by row, with sums in f64. A row is read to its end
// before it is written. The sums over rows come first, so that both can run in place.
#include "src/ops/layer_norm.h"

#include <cmath>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/ops/infer.h"

namespace cgrun::reference {
namespace {

// x seen as [rows, size].
struct LayerNormParameters {
  int64_t rows = 0;
  int64_t size = 0;
  double epsilon = 0;
};

template <class T, bool kAffine>
struct LayerNormForward {
  using C = Compute<T>;

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const LayerNormParameters*>(i.parameters);
    constexpr int kOutput = kAffine ? 3 : 1;
    const T* x = Data<const T>(context, i, 0);
    const T* scale = kAffine ? Data<const T>(context, i, 1) : nullptr;
    const T* shift = kAffine ? Data<const T>(context, i, 2) : nullptr;
    T* y = Data<T>(context, i, kOutput);
    C* means = Data<C>(context, i, kOutput + 1);
    C* deviations = Data<C>(context, i, kOutput + 2);
    for (int64_t row = 0; row < p.rows; ++row, x += p.size, y += p.size) {
      const double mean = LayerNormMean(x, p.size);
      const C inv_std = static_cast<C>(1 / std::sqrt(Variance(x, p.size, mean) + p.epsilon));
      means[row] = static_cast<C>(mean);
      deviations[row] = inv_std;
      for (int64_t e = 0; e < p.size; ++e) {
        const C normalised = (Load(x[e]) - means[row]) * inv_std;
        if constexpr (kAffine) y[e] = Store<T>(normalised * Load(scale[e]) + Load(shift[e]));
        if constexpr (!kAffine) y[e] = Store<T>(normalised);
      }
    }
  }

  static double LayerNormMean(const T* x, int64_t size) {
    double sum = 0;
    for (int64_t e = 0; e < size; ++e) sum += LoadF64(x[e]);
    return sum / static_cast<double>(size);
  }

  static double Variance(const T* x, int64_t size, double mean) {
    double squares = 0;
    for (int64_t e = 0; e < size; ++e) {
      const double distance = LoadF64(x[e]) - mean;
      squares += distance * distance;
    }
    return squares / static_cast<double>(size);
  }
};

// Operands of the gradient; `scale` is null where there is none.
template <class T>
struct GradOperands {
  const T* x;
  const T* dy;
  const Compute<T>* means;
  const Compute<T>* deviations;
  const T* scale;

  double Normalised(int64_t row, int64_t at) const {
    return static_cast<double>((Load(x[at]) - means[row]) * deviations[row]);
  }
};

template <class T>
void ParameterGradients(const LayerNormParameters& p, const GradOperands<T>& in, T* dscale,
                        T* dshift) {
  for (int64_t e = 0; e < p.size; ++e) {
    double product = 0, sum = 0;
    for (int64_t row = 0; row < p.rows; ++row) {
      const int64_t at = row * p.size + e;
      product += LoadF64(in.dy[at]) * in.Normalised(row, at);
      sum += LoadF64(in.dy[at]);
    }
    dscale[e] = StoreF64<T>(product);
    dshift[e] = StoreF64<T>(sum);
  }
}

template <class T>
void InputGradient(const LayerNormParameters& p, const GradOperands<T>& in, T* dx) {
  const double count = static_cast<double>(p.size);
  for (int64_t row = 0; row < p.rows; ++row) {
    const int64_t first = row * p.size;
    const auto scaled = [&](int64_t e) {
      const double dy = LoadF64(in.dy[first + e]);
      return in.scale == nullptr ? dy : dy * LoadF64(in.scale[e]);
    };
    double sum = 0, product = 0;
    for (int64_t e = 0; e < p.size; ++e) {
      sum += scaled(e);
      product += scaled(e) * in.Normalised(row, first + e);
    }
    const double inv_std = static_cast<double>(in.deviations[row]);
    for (int64_t e = 0; e < p.size; ++e) {
      const double through = in.Normalised(row, first + e) * (product / count);
      dx[first + e] = StoreF64<T>(inv_std * (scaled(e) - sum / count - through));
    }
  }
}

template <class T, bool kAffine>
struct LayerNormGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    using C = Compute<T>;
    const auto& p = *static_cast<const LayerNormParameters*>(i.parameters);
    const GradOperands<T> in{Data<const T>(context, i, 0), Data<const T>(context, i, 1),
                             Data<const C>(context, i, 2), Data<const C>(context, i, 3),
                             kAffine ? Data<const T>(context, i, 4) : nullptr};
    if constexpr (kAffine) {
      ParameterGradients(p, in, Data<T>(context, i, 6), Data<T>(context, i, 7));
    }
    InputGradient(p, in, Data<T>(context, i, kAffine ? 5 : 4));
  }
};

template <class T>
using AffineForward = LayerNormForward<T, true>;
template <class T>
using PlainForward = LayerNormForward<T, false>;
template <class T>
using AffineGrad = LayerNormGrad<T, true>;
template <class T>
using PlainGrad = LayerNormGrad<T, false>;

template <template <class> class Affine, template <class> class Plain>
static PreparedKernel PrepareLayerNorm(const KernelRequest& request) {
  const TensorType& x = request.node.inputs[0];
  const auto& attributes = request.node.attributes.As<LayerNormAttributes>();
  LayerNormParameters p{1, 1, attributes.epsilon};
  const int first = *NormalizeAxis(attributes.axis, x.shape.rank());
  for (int axis = 0; axis < x.shape.rank(); ++axis) {
    (axis < first ? p.rows : p.size) *= x.shape[axis].size;
  }
  return PreparedKernel::Of(
      attributes.affine ? ForFloat<Affine>(x.dtype) : ForFloat<Plain>(x.dtype), p);
}

}  // namespace

KernelDef layer_norm() {
  return {.name = "reference.layer_norm",
          .supports = FirstInputIsFloat,
          .prepare = PrepareLayerNorm<AffineForward, PlainForward>};
}

KernelDef layer_norm_grad() {
  return {.name = "reference.layer_norm_grad",
          .supports = FirstInputIsFloat,
          .prepare = PrepareLayerNorm<AffineGrad, PlainGrad>};
}

}  // namespace cgrun::reference
