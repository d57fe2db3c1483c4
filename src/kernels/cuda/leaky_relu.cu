// Computes leaky_relu and its gradient.
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/kernels/formulas.h"
#include "src/ops/leaky_relu.h"

namespace cgrun::cuda {

struct LeakyReluParameters {
  int64_t elements;
  double slope;
};

template <class T>
struct LeakyReluBody {
  const T* x;
  T* y;
  formulas::LeakyRelu<Compute<T>> formula;
  __device__ void operator()(int64_t e) const { y[e] = Store<T>(formula(Load(x[e]))); }
};

template <class T>
struct LeakyRelu {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const LeakyReluParameters*>(i.parameters);
    ForEachElement(context, p.elements,
                   LeakyReluBody<T>{Data<const T>(context, i, 0),
                                    Data<T>(context, i, 1),
                                    {static_cast<Compute<T>>(p.slope)}});
  }
};

template <class T>
struct LeakyReluGradBody {
  const T *t, *dy;
  T* dx;
  formulas::LeakyReluGrad<Compute<T>> formula;
  __device__ void operator()(int64_t e) const {
    dx[e] = Store<T>(formula(Load(t[e]), Load(dy[e])));
  }
};

template <class T>
struct LeakyReluGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const LeakyReluParameters*>(i.parameters);
    ForEachElement(context, p.elements,
                   LeakyReluGradBody<T>{Data<const T>(context, i, 0),
                                        Data<const T>(context, i, 1),
                                        Data<T>(context, i, 2),
                                        {static_cast<Compute<T>>(p.slope)}});
  }
};

template <template <class> class Kernel>
static PreparedKernel PrepareLeakyRelu(const KernelRequest& request) {
  const TensorType& type = request.node.outputs[0];
  const double slope = request.node.attributes.As<LeakyReluAttributes>().slope;
  return PreparedKernel::Of(ForFloat<Kernel>(type.dtype),
                            LeakyReluParameters{type.shape.Elements(), slope});
}

KernelDef leaky_relu() {
  return {.name = "cuda.leaky_relu", .supports = AllFloat, .prepare = PrepareLeakyRelu<LeakyRelu>};
}
KernelDef leaky_relu_grad() {
  return {.name = "cuda.leaky_relu_grad",
          .supports = AllFloat,
          .prepare = PrepareLeakyRelu<LeakyReluGrad>};
}

}  // namespace cgrun::cuda
