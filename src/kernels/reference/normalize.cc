// Computes normalize, channel by channel, in f64.
#include "src/ops/normalize.h"

#include <algorithm>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

struct NormalizeParameters {
  int64_t outer = 1;  // samples
  int64_t inner = 1;  // elements of a channel
  double scale = 1;
  std::vector<double> mean;  // of each channel
  std::vector<double> std;
};

template <class From, class To>
struct NormalizeNormalize {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const NormalizeParameters*>(i.parameters);
    const From* x = Data<const From>(context, i, 0);
    To* y = Data<To>(context, i, 1);
    for (int64_t sample = 0; sample < p.outer; ++sample) {
      for (size_t channel = 0; channel < p.mean.size(); ++channel) {
        for (int64_t e = 0; e < p.inner; ++e) {
          y[e] = StoreF64<To>((LoadF64(x[e]) * p.scale - p.mean[channel]) / p.std[channel]);
        }
        x += p.inner;
        y += p.inner;
      }
    }
  }
};

NormalizeParameters PackNormalize(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<NormalizeAttributes>();
  const Shape& x = node.inputs[0].shape;
  const size_t channels = std::max(attributes.mean.size(), attributes.std.size());
  NormalizeParameters p{1, x.Elements(), attributes.scale, attributes.mean, attributes.std};
  p.mean.resize(channels, attributes.mean[0]);
  p.std.resize(channels, attributes.std[0]);
  if (channels > 1) {
    p.outer = x[0].size;
    p.inner = x.Elements() / x[0].size / x[1].size;
  }
  return p;
}

bool SupportsNormalize(const NodeSignature& node) {
  return !IsStorageType(node.inputs[0].dtype) && IsComputed(node.outputs[0].dtype);
}

PreparedKernel PrepareNormalize(const KernelRequest& request) {
  const DType from = request.node.inputs[0].dtype, to = request.node.outputs[0].dtype;
  const KernelFunction run = ForEach(from, [&]<class From>(From*) {
    return ForEach(to, []<class To>(To*) -> KernelFunction {
      if constexpr (kIsFloat<To>) return &NormalizeNormalize<From, To>::Run;
      return nullptr;
    });
  });
  return PreparedKernel::Of(run, PackNormalize(request.node));
}

}  // namespace

KernelDef normalize() {
  return {
      .name = "reference.normalize", .supports = SupportsNormalize, .prepare = PrepareNormalize};
}

}  // namespace cgrun::reference
