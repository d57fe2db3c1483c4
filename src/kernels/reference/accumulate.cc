// Computes accumulate and norm_scale.
#include <array>
#include <cmath>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/ops/norm_scale.h"

namespace cgrun::reference {
namespace {

template <class T>
struct Accumulate {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const int64_t elements = *static_cast<const int64_t*>(i.parameters);
    const T* sum = Data<const T>(context, i, 0);
    const T* gradient = Data<const T>(context, i, 1);
    const double* factors = Data<const double>(context, i, 2);
    const bool goes_on = factors[0] != 0;
    const double weight = factors[1];
    T* y = Data<T>(context, i, 3);
    for (int64_t e = 0; e < elements; ++e) {
      const double part = weight * LoadF64(gradient[e]);
      y[e] = StoreF64<T>(goes_on ? LoadF64(sum[e]) + part : part);
    }
  }
};

PreparedKernel PrepareAccumulate(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  return PreparedKernel::Of(ForFloat<Accumulate>(type.dtype), type.shape.Elements());
}

struct ScaleParameters {
  std::vector<int64_t> elements;  // of each input
  double norm = 1;
};

// Sums the squares of a tensor in eight sums in turn, so that an addition need not wait for the one
// before it.
template <class T>
double SumOfSquares(const T* x, int64_t elements) {
  std::array<double, 8> sums{};
  int64_t e = 0;
  for (; e + 8 <= elements; e += 8) {
    for (size_t s = 0; s < 8; ++s) {
      const double value = LoadF64(x[e + static_cast<int64_t>(s)]);
      sums[s] += value * value;
    }
  }
  for (size_t s = 0; e < elements; ++e, ++s) sums[s] += LoadF64(x[e]) * LoadF64(x[e]);
  double total = 0;
  for (double sum : sums) total += sum;
  return total;
}

template <class T>
struct NormScale {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ScaleParameters*>(i.parameters);
    double squares = 0;
    for (size_t input = 0; input < p.elements.size(); ++input) {
      squares +=
          SumOfSquares(Data<const T>(context, i, static_cast<int>(input)), p.elements[input]);
    }
    const double scale = p.norm / (std::sqrt(squares) + 1e-6);
    *Data<T>(context, i, static_cast<int>(p.elements.size())) = StoreF64<T>(scale > 1 ? 1 : scale);
  }
};

PreparedKernel PrepareNormScale(const KernelRequest& request) {
  ScaleParameters p;
  for (const TensorType& type : request.node.inputs) p.elements.push_back(type.shape.Elements());
  p.norm = request.node.attributes.As<NormScaleAttributes>().norm;
  return PreparedKernel::Of(ForFloat<NormScale>(request.node.inputs[0].dtype), std::move(p));
}

}  // namespace

KernelDef accumulate() {
  return {
      .name = "reference.accumulate", .supports = FirstInputIsFloat, .prepare = PrepareAccumulate};
}
KernelDef norm_scale() {
  return {
      .name = "reference.norm_scale", .supports = FirstInputIsFloat, .prepare = PrepareNormScale};
}

}  // namespace cgrun::reference
