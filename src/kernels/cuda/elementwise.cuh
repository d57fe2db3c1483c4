// Elementwise kernels on plain tensors of one shape: a kernel is its formula. Each element is read
// before it is written, so that every one of them can run in place.
#ifndef CGRUN_KERNELS_CUDA_ELEMENTWISE_CUH_
#define CGRUN_KERNELS_CUDA_ELEMENTWISE_CUH_

#include <algorithm>

#include "src/kernels/cuda/number.cuh"

namespace cgrun::cuda {

struct ElementwiseParameters {
  int64_t elements;
};

inline constexpr int kThreadsPerBlock = 256;
inline constexpr int64_t kMaxBlocks = 1 << 16;  // each thread then takes several elements

inline unsigned BlocksFor(int64_t elements) {
  return static_cast<unsigned>(
      std::min(kMaxBlocks, (elements + kThreadsPerBlock - 1) / kThreadsPerBlock));
}

template <class Formula, class T>
__global__ void RunUnary(const T* x, T* y, int64_t elements) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  int64_t e = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; e < elements; e += stride) y[e] = Store<T>(Formula()(Load(x[e])));
}

template <class Formula, class T>
__global__ void RunBinary(const T* a, const T* b, T* y, int64_t elements) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  int64_t e = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; e < elements; e += stride) y[e] = Store<T>(Formula()(Load(a[e]), Load(b[e])));
}

// Formula: a stateless functor with a __device__ operator(), called with one or two computed
// numbers, as kInputs says.
template <class Formula, int kInputs>
struct Elementwise {
  template <class T>
  struct Kernel {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const int64_t elements = static_cast<const ElementwiseParameters*>(i.parameters)->elements;
      if (elements == 0) return;
      const auto stream = static_cast<cudaStream_t>(context.stream.handle);
      const unsigned blocks = BlocksFor(elements);
      T* y = Data<T>(context, i, kInputs);
      if constexpr (kInputs == 1) {
        RunUnary<Formula, T>
            <<<blocks, kThreadsPerBlock, 0, stream>>>(Data<const T>(context, i, 0), y, elements);
      } else {
        RunBinary<Formula, T><<<blocks, kThreadsPerBlock, 0, stream>>>(
            Data<const T>(context, i, 0), Data<const T>(context, i, 1), y, elements);
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
