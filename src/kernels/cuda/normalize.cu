// Computes normalize, channel by channel, in f64.
#include <algorithm>

#include "src/kernels/cuda/device_table.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/ops/normalize.h"

namespace cgrun::cuda {

struct NormalizeParameters {
  int64_t elements = 0;
  int64_t inner = 1;  // elements of a channel
  double scale = 1;
  DeviceTable<double> mean;  // of each channel
  DeviceTable<double> std;
};

template <class From, class To>
struct NormalizeBody {
  const From* x;
  To* y;
  int64_t inner, channels;
  double scale;
  const double *mean, *std;
  __device__ void operator()(int64_t e) const {
    const int64_t channel = e / inner % channels;
    y[e] = StoreF64<To>((LoadF64(x[e]) * scale - mean[channel]) / std[channel]);
  }
};

template <class From, class To>
struct Normalize {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const NormalizeParameters*>(i.parameters);
    ForEachElement(
        context, p.elements,
        NormalizeBody<From, To>{Data<const From>(context, i, 0), Data<To>(context, i, 1), p.inner,
                                p.mean.size(), p.scale, p.mean.data(), p.std.data()});
  }
};

static NormalizeParameters PackNormalize(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<NormalizeAttributes>();
  const Shape& x = node.inputs[0].shape;
  const size_t channels = std::max(attributes.mean.size(), attributes.std.size());
  std::vector<double> mean = attributes.mean, std = attributes.std;
  mean.resize(channels, attributes.mean[0]);
  std.resize(channels, attributes.std[0]);
  NormalizeParameters p;
  p.elements = x.Elements();
  p.inner = channels > 1 ? x.Elements() / x[0].size / x[1].size : x.Elements();
  p.scale = attributes.scale;
  p.mean = DeviceTable<double>(mean);
  p.std = DeviceTable<double>(std);
  return p;
}

static bool SupportsNormalize(const NodeSignature& node) {
  return !IsStorageType(node.inputs[0].dtype) && IsComputed(node.outputs[0].dtype);
}

static PreparedKernel PrepareNormalize(const KernelRequest& request) {
  const DType from = request.node.inputs[0].dtype, to = request.node.outputs[0].dtype;
  const KernelFunction run = ForEach(from, [&]<class From>(From*) {
    return ForEach(to, []<class To>(To*) -> KernelFunction {
      if constexpr (kIsFloat<To>) return &Normalize<From, To>::Run;
      return nullptr;
    });
  });
  return PreparedKernel::Of(run, PackNormalize(request.node));
}

KernelDef normalize() {
  return {.name = "cuda.normalize", .supports = SupportsNormalize, .prepare = PrepareNormalize};
}

}  // namespace cgrun::cuda
