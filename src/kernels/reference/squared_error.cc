// squared_error and its gradient, in f64.
#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/losses.h"

namespace cgrun::reference {
namespace {

template <class T>
struct Loss {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const int64_t elements = static_cast<const ElementwiseParameters*>(i.parameters)->elements;
    const T* prediction = Data<const T>(context, i, 0);
    const T* target = Data<const T>(context, i, 1);
    double sum = 0;
    for (int64_t e = 0; e < elements; ++e) {
      const double difference = LoadF64(prediction[e]) - LoadF64(target[e]);
      sum += difference * difference;
    }
    *Data<LossOf<T>>(context, i, 2) = static_cast<LossOf<T>>(sum / static_cast<double>(elements));
  }
};

template <class T>
struct Grad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const int64_t elements = static_cast<const ElementwiseParameters*>(i.parameters)->elements;
    const T* prediction = Data<const T>(context, i, 0);
    const T* target = Data<const T>(context, i, 1);
    const double factor = 2 * static_cast<double>(*Data<const LossOf<T>>(context, i, 2)) /
                          static_cast<double>(elements);
    T* dx = Data<T>(context, i, 3);
    for (int64_t e = 0; e < elements; ++e) {
      dx[e] = StoreF64<T>((LoadF64(prediction[e]) - LoadF64(target[e])) * factor);
    }
  }
};

template <template <class> class Kernel>
PreparedKernel Prepare(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  return PreparedKernel::Of(ForFloat<Kernel>(type.dtype),
                            ElementwiseParameters{type.shape.Elements()});
}

}  // namespace

KernelDef squared_error() {
  return {
      .name = "reference.squared_error", .supports = FirstInputIsFloat, .prepare = Prepare<Loss>};
}

KernelDef squared_error_grad() {
  return {.name = "reference.squared_error_grad",
          .supports = FirstInputIsFloat,
          .prepare = Prepare<Grad>};
}

}  // namespace cgrun::reference
