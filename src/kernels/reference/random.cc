// Computes random_normal and random_uniform: an affine function of what Philox draws for each
// element.
#include "src/ops/random.h"

#include "src/base/random.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

struct RandomParameters {
  int64_t elements = 0;
  uint64_t key = 0;
  double offset = 0;
  double scale = 1;
};

struct Normal {
  static double Draw(uint64_t key, uint64_t step, uint64_t element) {
    return RandomNormal(key, step, element);
  }
};

struct Uniform {
  static double Draw(uint64_t key, uint64_t step, uint64_t element) {
    return static_cast<double>(UniformFloat(RandomBits(key, step, element)));
  }
};

template <class Distribution>
struct Random {
  template <class T>
  struct Kernel {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const auto& p = *static_cast<const RandomParameters*>(i.parameters);
      const auto step = static_cast<uint64_t>(*Data<const int64_t>(context, i, 0));
      T* y = Data<T>(context, i, 1);
      for (int64_t e = 0; e < p.elements; ++e) {
        const double drawn = Distribution::Draw(p.key, step, static_cast<uint64_t>(e));
        y[e] = StoreF64<T>(p.offset + p.scale * drawn);
      }
    }
  };

  static PreparedKernel Prepare(const TensorType& y, int64_t key, double offset, double scale) {
    return PreparedKernel::Of(
        ForFloat<Kernel>(y.dtype),
        RandomParameters{y.shape.Elements(), static_cast<uint64_t>(key), offset, scale});
  }
};

PreparedKernel PrepareNormal(const KernelRequest& request) {
  const auto& a = request.node.attributes.As<RandomNormalAttributes>();
  return Random<Normal>::Prepare(request.node.outputs[0], a.key, a.mean, a.deviation);
}

PreparedKernel PrepareUniform(const KernelRequest& request) {
  const auto& a = request.node.attributes.As<RandomUniformAttributes>();
  return Random<Uniform>::Prepare(request.node.outputs[0], a.key, a.low, a.high - a.low);
}

}  // namespace

KernelDef random_normal() {
  return {
      .name = "reference.random_normal", .supports = FirstOutputIsFloat, .prepare = PrepareNormal};
}

KernelDef random_uniform() {
  return {.name = "reference.random_uniform",
          .supports = FirstOutputIsFloat,
          .prepare = PrepareUniform};
}

}  // namespace cgrun::reference
