// Elementwise kernels on plain tensors of one shape: a kernel is its formula. Each element is read
// before it is written, so that every one of them can run in place.
#ifndef CGRUN_KERNELS_CUDA_ELEMENTWISE_CUH_
#define CGRUN_KERNELS_CUDA_ELEMENTWISE_CUH_

#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"

namespace cgrun::cuda {

struct ElementwiseParameters {
  int64_t elements;
};

template <class Formula, class T>
struct UnaryBody {
  const T* x;
  T* y;
  __device__ void operator()(int64_t e) const { y[e] = Store<T>(Formula()(Load(x[e]))); }
};

template <class Formula, class T>
struct BinaryBody {
  const T *a, *b;
  T* y;
  __device__ void operator()(int64_t e) const {
    y[e] = Store<T>(Formula()(Load(a[e]), Load(b[e])));
  }
};

// Formula: a stateless functor with a __device__ operator(), called with one or two computed
// numbers, as kInputs says.
template <class Formula, int kInputs>
struct Elementwise {
  template <class T>
  struct Kernel {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const int64_t elements = static_cast<const ElementwiseParameters*>(i.parameters)->elements;
      T* y = Data<T>(context, i, kInputs);
      if constexpr (kInputs == 1) {
        ForEachElement(context, elements, UnaryBody<Formula, T>{Data<const T>(context, i, 0), y});
      } else {
        ForEachElement(
            context, elements,
            BinaryBody<Formula, T>{Data<const T>(context, i, 0), Data<const T>(context, i, 1), y});
      }
    }
  };

  static PreparedKernel Prepare(const KernelRequest& request) {
    return PreparedKernel::Of(ForFloat<Kernel>(request.node.inputs[0].dtype),
                              ElementwiseParameters{request.node.outputs[0].shape.Elements()});
  }
  static KernelDef Define(std::string_view name) {
    KernelDef kernel;
    kernel.name = name;
    kernel.supports = AllFloat;
    kernel.prepare = Prepare;
    return kernel;
  }
};

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_ELEMENTWISE_CUH_
