// Defines elementwise kernels on plain tensors of one shape. A kernel is its formula. Each element
// is read before it is written, so that every kernel can run in place.
#ifndef CGRUN_KERNELS_REFERENCE_ELEMENTWISE_H_
#define CGRUN_KERNELS_REFERENCE_ELEMENTWISE_H_

#include "src/kernels/reference/number.h"

namespace cgrun::reference {

struct ElementwiseParameters {
  int64_t elements;
};

// A Formula that has kTakesIntegers is called with integers, too.
template <class Formula>
inline constexpr bool kTakesIntegers = requires {
  requires Formula::kTakesIntegers;
};

template <class Formula>
inline constexpr auto kSupported = kTakesIntegers<Formula> ? &AllNumbers : &AllFloat;

template <class Formula, template <class> class Kernel>
static KernelFunction ForTypesOf(DType dtype) {
  if constexpr (kTakesIntegers<Formula>) return ForNumber<Kernel>(dtype);
  if constexpr (!kTakesIntegers<Formula>) return ForFloat<Kernel>(dtype);
}

// A Formula is a stateless functor. It is called with one or two computed numbers.
template <class Formula>
struct Unary {
  template <class T>
  struct Kernel {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const int64_t elements = static_cast<const ElementwiseParameters*>(i.parameters)->elements;
      const T* x = Data<const T>(context, i, 0);
      T* y = Data<T>(context, i, 1);
      for (int64_t e = 0; e < elements; ++e) y[e] = Store<T>(Formula()(Load(x[e])));
    }
  };

  static PreparedKernel Prepare(const KernelRequest& request) {
    return PreparedKernel::Of(ForTypesOf<Formula, Kernel>(request.node.inputs[0].dtype),
                              ElementwiseParameters{request.node.outputs[0].shape.Elements()});
  }
  static KernelDef Define(std::string_view name) {
    return {.name = name, .supports = kSupported<Formula>, .prepare = Prepare, .elementwise = true};
  }
};

template <class Formula>
struct Binary {
  template <class T>
  struct Kernel {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const int64_t elements = static_cast<const ElementwiseParameters*>(i.parameters)->elements;
      const T* a = Data<const T>(context, i, 0);
      const T* b = Data<const T>(context, i, 1);
      T* y = Data<T>(context, i, 2);
      for (int64_t e = 0; e < elements; ++e) y[e] = Store<T>(Formula()(Load(a[e]), Load(b[e])));
    }
  };

  static PreparedKernel Prepare(const KernelRequest& request) {
    return PreparedKernel::Of(ForTypesOf<Formula, Kernel>(request.node.inputs[0].dtype),
                              ElementwiseParameters{request.node.outputs[0].shape.Elements()});
  }
  static KernelDef Define(std::string_view name) {
    return {.name = name, .supports = kSupported<Formula>, .prepare = Prepare, .elementwise = true};
  }
};

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_ELEMENTWISE_H_
