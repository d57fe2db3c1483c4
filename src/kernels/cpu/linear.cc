// Computes linear by OpenBLAS, alone or with an activation behind it. One product of all rows of x
// with the transposed weight is added to the bias.
#include <algorithm>
#include <type_traits>

#include "src/kernels/cpu/activation.h"
#include "src/kernels/cpu/blas.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/linear_product.h"
#include "src/kernels/cpu/number.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/vector_target.h"
#include "src/kernels/one_thread.h"

namespace cgrun::cpu {
namespace {

struct Parameters {
  int64_t rows = 0, units = 0, features = 0;
  Activation activation;
  int threads = 1;  // of the activation
  bool has_vectors = false;
  bool single_threaded = false;  // the product

  int64_t multiplications() const { return rows * units * features; }
};

template <class T>
void Activate(const Parameters& p, T* y) {
  if (p.activation.kind == Activation::Kind::kNone) return;
  const T slope = static_cast<T>(p.activation.slope);
  const bool is_relu = p.activation.kind == Activation::Kind::kRelu;
  Split(p.threads, p.rows * p.units, kGrain, [&, is_relu, slope](int64_t begin, int64_t end) {
    if constexpr (std::is_same_v<T, float>) {
      if (p.has_vectors) return ActivateInPlace(p.activation, y + begin, end - begin);
    }
    for (int64_t i = begin; i < end; ++i) {
      const T below = is_relu ? T(0) : slope * y[i];
      y[i] = y[i] < T(0) ? below : y[i];
    }
  });
}

template <class T, bool kBias>
struct Kernel {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    T* y = Data<T>(context, i, kBias ? 3 : 2);
    if constexpr (kBias) {
      const T* bias = Data<const T>(context, i, 2);
      for (int64_t row = 0; row < p.rows; ++row) std::copy_n(bias, p.units, y + row * p.units);
    }
    const OneThread one(p.single_threaded);
    Multiply<T>(p.rows, p.units, p.features, {Data<const T>(context, i, 0), p.features, false},
                {Data<const T>(context, i, 1), p.features, true}, T(kBias ? 1 : 0), y, p.units);
    Activate(p, y);
  }
};

template <class T>
using WithBias = Kernel<T, true>;
template <class T>
using WithoutBias = Kernel<T, false>;

Parameters Pack(const NodeSignature& node) {
  const Shape &x = node.inputs[0].shape, &y = node.outputs[0].shape;
  const int64_t units = y[y.rank() - 1].size;
  return {y.Elements() / units, units, x[x.rank() - 1].size, Activation::In(node)};
}

bool Supports(const NodeSignature& node) {
  if (!AllF32OrF64(node) || node.outputs[0].shape.Elements() == 0) return false;
  const Parameters p = Pack(node);
  return std::max({p.rows, p.units, p.features}) <= kMostBlasSize;
}

bool SupportsActivated(const NodeSignature& node) {
  return IsActivated(node, OpId::linear) && Supports(node);
}

bool ByTeam(const NodeSignature& node, int threads) {
  return threads > 1 && !RunsSingleThreaded(Pack(node).multiplications(), threads);
}

PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const DType dtype = node.inputs[0].dtype;
  Parameters p = Pack(node);
  p.threads = ThreadsFor(request);
  p.single_threaded = RunsSingleThreaded(p.multiplications(), request.threads);
  p.has_vectors = HasVectorTarget();
  PrepareBlas(request.threads, dtype, p.rows, p.units, p.features);
  return PreparedKernel::Of(
      node.inputs.size() == 3 ? ForF32OrF64<WithBias>(dtype) : ForF32OrF64<WithoutBias>(dtype), p);
}

}  // namespace

std::vector<KernelDef> linear() {
  std::vector<KernelDef> kernels = linear_product();
  kernels.push_back({.name = "openblas.linear",
                     .supports = Supports,
                     .prepare = Prepare,
                     .by_team = ByTeam,
                     .flops_per_second = kBlasFlopsPerSecond});
  return kernels;
}

std::vector<KernelDef> activated_linear() {
  std::vector<KernelDef> kernels = activated_linear_product();
  kernels.push_back({.name = "openblas.fused_linear",
                     .supports = SupportsActivated,
                     .prepare = Prepare,
                     .by_team = ByTeam,
                     .flops_per_second = kBlasFlopsPerSecond});
  return kernels;
}

}  // namespace cgrun::cpu
