// What batch_norm and its gradient go through: x seen as [images, channels, plane].
#ifndef CGRUN_KERNELS_CPU_CHANNELS_H_
#define CGRUN_KERNELS_CPU_CHANNELS_H_

#include "src/kernels/cpu/parallel.h"
#include "src/ops/batch_norm.h"

namespace cgrun::cpu {

struct Channels {
  int64_t images = 0;
  int64_t channels = 0;
  int64_t plane = 0;
  double epsilon = 0;
  double momentum = 0;
  int threads = 1;

  double count() const { return static_cast<double>(images * plane); }
};

inline Channels ChannelsOf(const KernelRequest& request) {
  const auto& attributes = request.node.attributes.As<BatchNormAttributes>();
  const Shape& x = request.node.inputs[0].shape;
  const int64_t plane = x.Elements() / (x[0].size * x[1].size);
  return {x[0].size,          x[1].size,           plane,
          attributes.epsilon, attributes.momentum, ThreadsFor(request, Work::kComputes)};
}

inline bool HasF32Channels(const NodeSignature& node) {
  return node.inputs[0].dtype == DType::kF32;
}

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_CHANNELS_H_
