// Computes random_normal and random_uniform: an affine function of what Philox draws for each
// element. The bits are those of the host; a normal number also depends on the GPU's logarithm and
// cosine.
#include "src/base/random.h"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/ops/random.h"

namespace cgrun::cuda {

struct RandomParameters {
  int64_t elements = 0;
  uint64_t key = 0;
  double offset = 0;
  double scale = 1;
};

struct NormalDraw {
  static __device__ double Draw(uint64_t key, uint64_t step, uint64_t element) {
    return RandomNormal(key, step, element);
  }
};

struct UniformDraw {
  static __device__ double Draw(uint64_t key, uint64_t step, uint64_t element) {
    return static_cast<double>(UniformFloat(RandomBits(key, step, element)));
  }
};

template <class Distribution, class T>
struct RandomBody {
  RandomParameters p;
  const int64_t* step;
  T* y;
  __device__ void operator()(int64_t e) const {
    const double drawn =
        Distribution::Draw(p.key, static_cast<uint64_t>(*step), static_cast<uint64_t>(e));
    y[e] = StoreF64<T>(p.offset + p.scale * drawn);
  }
};

template <class Distribution>
struct RandomNumbers {
  template <class T>
  struct Kernel {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const auto& p = *static_cast<const RandomParameters*>(i.parameters);
      ForEachElement(context, p.elements,
                     RandomBody<Distribution, T>{p, Data<const int64_t>(context, i, 0),
                                                 Data<T>(context, i, 1)});
    }
  };

  static PreparedKernel Prepare(const TensorType& y, int64_t key, double offset, double scale) {
    return PreparedKernel::Of(
        ForFloat<Kernel>(y.dtype),
        RandomParameters{y.shape.Elements(), static_cast<uint64_t>(key), offset, scale});
  }
};

static PreparedKernel PrepareNormal(const KernelRequest& request) {
  const auto& a = request.node.attributes.As<RandomNormalAttributes>();
  return RandomNumbers<NormalDraw>::Prepare(request.node.outputs[0], a.key, a.mean, a.deviation);
}

static PreparedKernel PrepareUniform(const KernelRequest& request) {
  const auto& a = request.node.attributes.As<RandomUniformAttributes>();
  return RandomNumbers<UniformDraw>::Prepare(request.node.outputs[0], a.key, a.low, a.high - a.low);
}

KernelDef random_normal() {
  return {.name = "cuda.random_normal", .supports = FirstOutputIsFloat, .prepare = PrepareNormal};
}
KernelDef random_uniform() {
  return {.name = "cuda.random_uniform", .supports = FirstOutputIsFloat, .prepare = PrepareUniform};
}

}  // namespace cgrun::cuda
