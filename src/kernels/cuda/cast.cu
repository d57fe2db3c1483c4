// cast between any two number types but f16.
#include <cmath>
#include <limits>

#include "src/kernels/cuda/elementwise.cuh"
#include "src/kernels/cuda/kernels.h"

namespace cgrun::cuda {

// `value` as an integer type: cut off, the nearest bound for what is beyond, 0 for NaN.
template <class To, class From>
__device__ To ToInteger(From value) {
  constexpr To kLowest = std::numeric_limits<To>::min(), kLargest = std::numeric_limits<To>::max();
  if (std::isnan(value)) return 0;
  if (value <= static_cast<From>(kLowest)) return kLowest;
  if (value >= static_cast<From>(kLargest)) return kLargest;
  return static_cast<To>(value);
}

template <class To, class From>
__device__ To Convert(From stored) {
  const Compute<From> value = Load(stored);
  if constexpr (std::is_same_v<To, From>) {
    return stored;
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<To> && kIsFloat<From>) {
    return ToInteger<To>(value);
  } else {
    return Store<To>(static_cast<Compute<To>>(value));
  }
}

template <class From, class To>
struct CastBody {
  const From* x;
  To* y;
  __device__ void operator()(int64_t e) const { y[e] = Convert<To>(x[e]); }
};

template <class From, class To>
struct Cast {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const int64_t elements = static_cast<const ElementwiseParameters*>(i.parameters)->elements;
    ForEachElement(context, elements,
                   CastBody<From, To>{Data<const From>(context, i, 0), Data<To>(context, i, 1)});
  }
};

static bool SupportsCast(const NodeSignature& node) {
  return node.inputs[0].dtype != DType::kF16 && node.outputs[0].dtype != DType::kF16;
}

static PreparedKernel PrepareCast(const KernelRequest& request) {
  const TensorType& x = request.node.inputs[0];
  const DType to = request.node.outputs[0].dtype;
  const KernelFunction run = ForEach(x.dtype, [&]<class From>(From*) {
    return ForEach(to, []<class To>(To*) -> KernelFunction { return &Cast<From, To>::Run; });
  });
  return PreparedKernel::Of(run, ElementwiseParameters{x.shape.Elements()});
}

KernelDef cast() { return {.name = "cuda.cast", .supports = SupportsCast, .prepare = PrepareCast}; }

}  // namespace cgrun::cuda
