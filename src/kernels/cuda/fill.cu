// Computes fill: one number everywhere.
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/ops/fill.h"

namespace cgrun::cuda {

struct FillParameters {
  int64_t elements;
  double value;
};

template <class T>
struct FillBody {
  T* y;
  double value;
  __device__ void operator()(int64_t e) const { y[e] = StoreF64<T>(value); }
};

template <class T>
struct Fill {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const FillParameters*>(i.parameters);
    ForEachElement(context, p.elements, FillBody<T>{Data<T>(context, i, 1), p.value});
  }
};

static PreparedKernel PrepareFill(const KernelRequest& request) {
  const TensorType& type = request.node.outputs[0];
  return PreparedKernel::Of(
      ForFloat<Fill>(type.dtype),
      FillParameters{type.shape.Elements(), request.node.attributes.As<FillAttributes>().value});
}

KernelDef fill() { return {.name = "cuda.fill", .supports = AllFloat, .prepare = PrepareFill}; }

}  // namespace cgrun::cuda
