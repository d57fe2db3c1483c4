// cast between any two number types but f16.
#include <cmath>
#include <limits>

#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

// `value` as an integer type: cut off, the nearest bound for what is beyond, 0 for NaN.
template <class To, class From>
To ToInteger(From value) {
  constexpr To kLowest = std::numeric_limits<To>::min(), kLargest = std::numeric_limits<To>::max();
  if (std::isnan(value)) return 0;
  if (value <= static_cast<From>(kLowest)) return kLowest;
  if (value >= static_cast<From>(kLargest)) return kLargest;
  return static_cast<To>(value);
}

template <class To, class From>
To Convert(From stored) {
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
struct Cast {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const int64_t elements = static_cast<const ElementwiseParameters*>(i.parameters)->elements;
    const From* x = Data<const From>(context, i, 0);
    To* y = Data<To>(context, i, 1);
    for (int64_t e = 0; e < elements; ++e) y[e] = Convert<To>(x[e]);
  }
};

bool Supports(const NodeSignature& node) {
  return node.inputs[0].dtype != DType::kF16 && node.outputs[0].dtype != DType::kF16;
}

PreparedKernel Prepare(const KernelRequest& request) {
  const TensorType& x = request.node.inputs[0];
  const DType to = request.node.outputs[0].dtype;
  const KernelFunction run = ForEach(x.dtype, [&]<class From>(From*) {
    return ForEach(to, []<class To>(To*) -> KernelFunction { return &Cast<From, To>::Run; });
  });
  return PreparedKernel::Of(run, ElementwiseParameters{x.shape.Elements()});
}

}  // namespace

KernelDef cast() { return {.name = "reference.cast", .supports = Supports, .prepare = Prepare}; }

}  // namespace cgrun::reference
