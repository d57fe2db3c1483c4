// Defines elementwise kernels whose operands are broadcast, of one type. A kernel is
// its formula. An operand that has the result's shape is read before the result is written over it.
#ifndef CGRUN_KERNELS_REFERENCE_BROADCASTING_H_
#define CGRUN_KERNELS_REFERENCE_BROADCASTING_H_

#include <utility>

#include "src/kernels/reference/elementwise.h"
#include "src/kernels/strided.h"

namespace cgrun::reference {

// A Formula is a stateless functor. It is called with kInputs computed numbers.
template <class Formula, size_t kInputs = 2>
struct Broadcasting {
  template <class T>
  struct Kernel {
    template <size_t... k>
    static void Walk(const RunContext& context, const Instruction& i,
                     std::index_sequence<k...>) noexcept {
      const std::array<const T*, kInputs> x = {Data<const T>(context, i, k)...};
      T* y = Data<T>(context, i, kInputs);
      const auto& space = *static_cast<const StridedSpace<kInputs + 1>*>(i.parameters);
      ForEachIndex(space, {}, [=](const auto& at) {
        y[at[kInputs]] = Store<T>(Formula()(Load(x[k][at[k]])...));
      });
    }
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      Walk(context, i, std::make_index_sequence<kInputs>());
    }
  };

  // Two operands of one shape need no strides.
  static PreparedKernel Prepare(const KernelRequest& request) {
    const NodeSignature& node = request.node;
    if constexpr (kInputs == 2) {
      const Shape& y = node.outputs[0].shape;
      if (node.inputs[0].shape == y && node.inputs[1].shape == y) {
        return Binary<Formula>::Prepare(request);
      }
    }
    return PreparedKernel::Of(ForTypesOf<Formula, Kernel>(node.outputs[0].dtype),
                              BroadcastSpace<kInputs>(node));
  }
  static KernelDef Define(std::string_view name) {
    return {.name = name, .supports = kSupported<Formula>, .prepare = Prepare};
  }
};

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_BROADCASTING_H_
