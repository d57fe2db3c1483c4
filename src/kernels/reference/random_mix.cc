// Computes random_mix, sample by sample.
#include "src/ops/random_mix.h"

#include "src/base/random.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

struct RandomMixParameters {
  int64_t samples;
  int64_t elements;  // of a sample
  uint64_t key;
};

template <class T>
struct RandomMix {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const RandomMixParameters*>(i.parameters);
    const T* a = Data<const T>(context, i, 0);
    const T* b = Data<const T>(context, i, 1);
    const auto step = static_cast<uint64_t>(*Data<const int64_t>(context, i, 2));
    T* y = Data<T>(context, i, 3);
    using C = Compute<T>;
    for (int64_t n = 0; n < p.samples; ++n, a += p.elements, b += p.elements, y += p.elements) {
      const C u = UniformFloat(RandomBits(p.key, step, static_cast<uint64_t>(n)));
      for (int64_t e = 0; e < p.elements; ++e) {
        y[e] = Store<T>(u * Load(a[e]) + (1 - u) * Load(b[e]));
      }
    }
  }
};

PreparedKernel PrepareRandomMix(const KernelRequest& request) {
  const TensorType& a = request.node.inputs[0];
  const int64_t samples = a.shape[0].size;
  return PreparedKernel::Of(
      ForFloat<RandomMix>(a.dtype),
      RandomMixParameters{
          samples, a.shape.Elements() / samples,
          static_cast<uint64_t>(request.node.attributes.As<RandomMixAttributes>().key)});
}

}  // namespace

KernelDef random_mix() {
  return {
      .name = "reference.random_mix", .supports = FirstOutputIsFloat, .prepare = PrepareRandomMix};
}

}  // namespace cgrun::reference
