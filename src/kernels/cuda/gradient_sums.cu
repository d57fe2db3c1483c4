// Computes accumulate and norm_scale.
#include <cmath>

#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/ops/norm_scale.h"

namespace cgrun::cuda {

template <class T>
struct AccumulateBody {
  const T *sum, *gradient;
  const double* factors;
  T* y;
  __device__ void operator()(int64_t e) const {
    const double part = factors[1] * LoadF64(gradient[e]);
    y[e] = StoreF64<T>(factors[0] != 0 ? LoadF64(sum[e]) + part : part);
  }
};

template <class T>
struct Accumulate {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const int64_t elements = *static_cast<const int64_t*>(i.parameters);
    ForEachElement(context, elements,
                   AccumulateBody<T>{Data<const T>(context, i, 0), Data<const T>(context, i, 1),
                                     Data<const double>(context, i, 2), Data<T>(context, i, 3)});
  }
};

static PreparedKernel PrepareAccumulate(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  return PreparedKernel::Of(ForFloat<Accumulate>(type.dtype), type.shape.Elements());
}

constexpr int64_t kParts = 64;  // in which the squares of a tensor are summed

struct NormScaleParameters {
  std::vector<int64_t> elements;  // of each input
  double norm = 1;
};

template <class T>
struct SquaresBody {
  const T* x;
  int64_t elements;
  double* sums;  // of each part
  __device__ void operator()(int64_t part) const {
    const int64_t size = (elements + kParts - 1) / kParts, first = part * size;
    const int64_t rest = elements - first;
    const double sum = SumOverBlock(rest < size ? rest : size, [&](int64_t e) {
      const double value = LoadF64(x[first + e]);
      return value * value;
    });
    if (threadIdx.x == 0) sums[part] = sum;
  }
};

template <class T>
struct NormScaleBody {
  const double* sums;
  int64_t count;
  double norm;
  T* scale;
  __device__ void operator()(int64_t) const {
    const double squares = SumOverBlock(count, [&](int64_t i) { return sums[i]; });
    const double factor = norm / (std::sqrt(squares) + 1e-6);
    if (threadIdx.x == 0) *scale = StoreF64<T>(factor > 1 ? 1 : factor);
  }
};

template <class T>
struct NormScale {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const NormScaleParameters*>(i.parameters);
    const int inputs = static_cast<int>(p.elements.size());
    double* sums = Data<double>(context, i, inputs + 1);
    for (int input = 0; input < inputs; ++input) {
      ForEachGroup(context, kParts,
                   SquaresBody<T>{Data<const T>(context, i, input),
                                  p.elements[static_cast<size_t>(input)], sums + input * kParts});
    }
    ForEachGroup(context, 1,
                 NormScaleBody<T>{sums, inputs * kParts, p.norm, Data<T>(context, i, inputs)});
  }
};

static PreparedKernel PrepareNormScale(const KernelRequest& request) {
  NormScaleParameters p;
  for (const TensorType& type : request.node.inputs) p.elements.push_back(type.shape.Elements());
  p.norm = request.node.attributes.As<NormScaleAttributes>().norm;
  return PreparedKernel::Of(ForFloat<NormScale>(request.node.inputs[0].dtype), std::move(p));
}

static int64_t NormScaleWorkspace(const NodeSignature& node, int) {
  return static_cast<int64_t>(node.inputs.size()) * kParts * static_cast<int64_t>(sizeof(double));
}

KernelDef accumulate() {
  return {.name = "cuda.accumulate", .supports = FirstInputIsFloat, .prepare = PrepareAccumulate};
}
KernelDef norm_scale() {
  return {.name = "cuda.norm_scale",
          .supports = FirstInputIsFloat,
          .workspace_bytes = NormScaleWorkspace,
          .prepare = PrepareNormScale};
}

}  // namespace cgrun::cuda
