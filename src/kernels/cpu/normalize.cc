// Computes normalize of bytes or f32, channel by channel, in f64: the result is rounded once.
#include "src/ops/normalize.h"

#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/normalize.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/lanes.h"
#include "src/kernels/cpu/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Channel {
  double mean = 0;
  double inverse_std = 1;
};

struct Parameters {
  int64_t elements = 0;
  int64_t inner = 1;  // elements of a channel of a sample
  double scale = 1;
  std::vector<Channel> channels;
  int threads = 1;
};

// Elements [begin, end), all of one channel.
template <class From>
void Row(const From* x, float* y, double scale, const Channel& channel, int64_t begin,
         int64_t end) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto factor = hn::Set(d, scale), mean = hn::Set(d, channel.mean),
             inverse = hn::Set(d, channel.inverse_std);
  int64_t e = begin;
  for (; e + lanes <= end; e += lanes) {
    const auto centred = hn::Sub(hn::Mul(LoadLanes(d, x + e), factor), mean);
    StoreLanes(d, hn::Mul(centred, inverse), y + e);
  }
  for (; e < end; ++e) {
    const double centred = static_cast<double>(x[e]) * scale - channel.mean;
    y[e] = static_cast<float>(centred * channel.inverse_std);
  }
}

template <class From>
void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const From* x = Data<const From>(context, i, 0);
  float* y = Data<float>(context, i, 1);
  Split(p.threads, p.elements, kGrain, [&, x, y](int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end;) {
      const int64_t row = e / p.inner, stop = std::min(end, (row + 1) * p.inner);
      const auto channel = static_cast<size_t>(row) % p.channels.size();
      Row(x, y, p.scale, p.channels[channel], e, stop);
      e = stop;
    }
  });
}

Parameters Pack(const KernelRequest& request) {
  const auto& attributes = request.node.attributes.As<NormalizeAttributes>();
  const Shape& x = request.node.inputs[0].shape;
  const size_t channels = std::max(attributes.mean.size(), attributes.std.size());
  const auto of = [](const RealList& list, size_t c) { return list[list.size() > 1 ? c : 0]; };
  Parameters p{x.Elements(), x.Elements(), attributes.scale, {}, ThreadsFor(request)};
  for (size_t c = 0; c < channels; ++c) {
    p.channels.push_back({of(attributes.mean, c), 1 / of(attributes.std, c)});
  }
  if (channels > 1) p.inner = x.Elements() / x[0].size / x[1].size;
  return p;
}

bool Supports(const NodeSignature& node) {
  const DType from = node.inputs[0].dtype;
  return (from == DType::kU8 || from == DType::kF32) && node.outputs[0].dtype == DType::kF32;
}

PreparedKernel Prepare(const KernelRequest& request) {
  const bool bytes = request.node.inputs[0].dtype == DType::kU8;
  return PreparedKernel::Of(bytes ? &Run<uint8_t> : &Run<float>, Pack(request));
}

KernelDef normalize() {
  return PerElement({.name = "cpu.normalize", .supports = Supports, .prepare = Prepare});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(normalize)

}  // namespace cgrun::cpu
#endif
