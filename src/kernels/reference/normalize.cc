// Computes normalize, channel by channel, in f64.
#include "src/ops/normalize.h"

#include <algorithm>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

struct Parameters {
  int64_t outer = 1;  // samples
  int64_t inner = 1;  // elements of a channel
  double scale = 1;
  std::vector<double> mean;  // of each channel
  std::vector<double> std;
};

template <class From, class To>
struct Normalize {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
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

Parameters Pack(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<NormalizeAttributes>();
  const Shape& x = node.inputs[0].shape;
  const size_t channels = std::max(attributes.mean.size(), attributes.std.size());
  Parameters p{1, x.Elements(), attributes.scale, attributes.mean, attributes.std};
  p.mean.resize(channels, attributes.mean[0]);
  p.std.resize(channels, attributes.std[0]);
  if (channels > 1) {
    p.outer = x[0].size;
    p.inner = x.Elements() / x[0].size / x[1].size;
  }
  return p;
}

bool Supports(const NodeSignature& node) {
  return node.inputs[0].dtype != DType::kF16 && IsComputed(node.outputs[0].dtype);
}

PreparedKernel Prepare(const KernelRequest& request) {
  const DType from = request.node.inputs[0].dtype, to = request.node.outputs[0].dtype;
  const KernelFunction run = ForEach(from, [&]<class From>(From*) {
    return ForEach(to, []<class To>(To*) -> KernelFunction {
      if constexpr (kIsFloat<To>) return &Normalize<From, To>::Run;
      return nullptr;
    });
  });
  return PreparedKernel::Of(run, Pack(request.node));
}

}  // namespace

KernelDef normalize() {
  return {.name = "reference.normalize", .supports = Supports, .prepare = Prepare};
}

}  // namespace cgrun::reference
