// Defines elementwise kernels on plain tensors of one shape. A kernel is its formula. A thread
// takes 16 bytes of each operand, which it reads before it writes, so that every kernel can run in
// place.
#ifndef CGRUN_KERNELS_CUDA_ELEMENTWISE_CUH_
#define CGRUN_KERNELS_CUDA_ELEMENTWISE_CUH_

#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/kernels/cuda/pack.cuh"

namespace cgrun::cuda {

struct ElementwiseParameters {
  int64_t elements;
};

template <class T>
inline constexpr int kElementsOfPack = 16 / static_cast<int>(sizeof(T));

// Bodies get the number of a pack; the last may be cut short.
template <class Formula, class T>
struct UnaryBody {
  static constexpr int kPack = kElementsOfPack<T>;
  int64_t elements;
  const T* x;
  T* y;

  static __device__ T Apply(T x) { return Store<T>(Formula()(Load(x))); }

  __device__ void operator()(int64_t p) const {
    const int64_t first = p * kPack;
    if (first + kPack > elements) {
      for (int64_t e = first; e < elements; ++e) y[e] = Apply(x[e]);
      return;
    }
    auto pack = LoadPack<kPack>(x + first);
    for (int k = 0; k < kPack; ++k) pack.at[k] = Apply(pack.at[k]);
    StorePack(y + first, pack);
  }
};

template <class Formula, class T>
struct BinaryBody {
  static constexpr int kPack = kElementsOfPack<T>;
  int64_t elements;
  const T *a, *b;
  T* y;

  static __device__ T Apply(T a, T b) { return Store<T>(Formula()(Load(a), Load(b))); }

  __device__ void operator()(int64_t p) const {
    const int64_t first = p * kPack;
    if (first + kPack > elements) {
      for (int64_t e = first; e < elements; ++e) y[e] = Apply(a[e], b[e]);
      return;
    }
    auto pack = LoadPack<kPack>(a + first);
    const auto other = LoadPack<kPack>(b + first);
    for (int k = 0; k < kPack; ++k) pack.at[k] = Apply(pack.at[k], other.at[k]);
    StorePack(y + first, pack);
  }
};

// A Formula is a stateless functor with a constexpr operator(). It is called with one or two
// computed numbers, as kInputs says.
template <class Formula, int kInputs>
struct Elementwise {
  template <class T>
  struct Kernel {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const int64_t elements = static_cast<const ElementwiseParameters*>(i.parameters)->elements;
      const int64_t packs = (elements + kElementsOfPack<T> - 1) / kElementsOfPack<T>;
      const T* x = Data<const T>(context, i, 0);
      T* y = Data<T>(context, i, kInputs);
      if constexpr (kInputs == 1) {
        ForEachElement(context, packs, UnaryBody<Formula, T>{elements, x, y});
      } else {
        ForEachElement(context, packs,
                       BinaryBody<Formula, T>{elements, x, Data<const T>(context, i, 1), y});
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
