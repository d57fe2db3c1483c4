// What batch_norm and its gradient go through: x seen as [images, channels, plane], or with its
// channels in blocks.
#ifndef CGRUN_KERNELS_CPU_CHANNELS_H_
#define CGRUN_KERNELS_CPU_CHANNELS_H_

#include "src/kernels/cpu/blocks.h"
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
  int64_t block = 0;  // channels side by side at a position; 0: a channel's plane is contiguous
  float min = 0;      // results are clipped to [min, max], which are numbers of x's type
  float max = 0;

  // Channels side by side are columns: a vector of them is, for each image and position, at …
  bool columns() const { return plane == 1 || block > 0; }
  int64_t padded_channels() const {
    return block > 0 ? (channels + block - 1) / block * block : channels;
  }
  int64_t ColumnOffset(int64_t image, int64_t channel) const {
    const int64_t at = image * padded_channels() * plane;
    return block > 0 ? at + channel / block * block * plane + channel % block : at + channel;
  }
  int64_t position_stride() const { return block > 0 ? block : 1; }

  double count() const { return static_cast<double>(images * plane); }
};

inline Channels ChannelsOf(const KernelRequest& request) {
  const auto& attributes = request.node.attributes.As<BatchNormAttributes>();
  const Shape& x = request.node.inputs[0].shape;
  const int64_t plane = x.Elements() / (x[0].size * x[1].size);
  const bool narrow = request.node.inputs[0].dtype == DType::kBF16;
  const auto bound = [narrow](double value) {
    const auto in_f32 = static_cast<float>(value);
    return narrow ? static_cast<float>(BFloat16(in_f32)) : in_f32;
  };
  return {x[0].size,
          x[1].size,
          plane,
          attributes.epsilon,
          attributes.momentum,
          ThreadsFor(request, Work::kComputes),
          BlockOf(request.operands[0].layout),
          bound(attributes.min),
          bound(attributes.max)};
}

// In the blocks in which one of the `kActivations` first inputs comes, where it does; for
// KernelDef::choose. Its first output is in blocks too.
template <size_t kActivations, int64_t kLanes>
bool ChooseChannels(const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
  for (size_t i = 0; i < kActivations; ++i) {
    const Layout* layout = ComesInBlocks(node, setting, i, kLanes);
    if (layout == nullptr) continue;
    for (size_t k = 0; k < kActivations; ++k) option->input_layouts[k] = *layout;
    option->output_layouts[0] = *layout;
    break;
  }
  return true;
}

// Channels [first, first + lanes) of a vector, and how many of its lanes are in memory.
struct Column {
  int64_t first = 0;
  int64_t lanes = 0;   // that are channels; 0 where all of them pad
  int64_t stored = 0;  // with those that pad
};

inline Column ColumnAt(const Channels& p, int64_t first, int64_t vector_lanes) {
  const int64_t lanes = std::clamp<int64_t>(p.channels - first, 0, vector_lanes);
  return {first, lanes, p.block > 0 ? vector_lanes : lanes};
}

// Calls row(channel) where a channel's planes are contiguous, else column(Column) for vectors of
// channels, on the threads.
template <int64_t kLanes, class OfRow, class OfColumn>
void SplitChannels(const Channels& p, const OfRow& row, const OfColumn& column) noexcept {
  if (!p.columns()) {
    return Split(p.threads, p.channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) row(c);
    });
  }
  Split(p.threads, p.padded_channels(), kLanes, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; c += kLanes) column(ColumnAt(p, c, kLanes));
  });
}

// Calls work(offset, chain) for every element of a column, in order; the chains, two of them, take
// turns, so that an addition need not wait for the one before it.
template <class Work>
inline void ForColumn(const Channels& p, const Column& column, const Work& work) {
  for (int64_t n = 0; n < p.images; ++n) {
    int64_t at = p.ColumnOffset(n, column.first);
    int64_t e = 0;
    for (; e + 2 <= p.plane; e += 2, at += 2 * p.position_stride()) {
      work(at, 0);
      work(at + p.position_stride(), 1);
    }
    if (e < p.plane) work(at, n % 2);
  }
}

inline bool HasNarrowChannels(const NodeSignature& node) {
  return node.inputs[0].dtype == DType::kF32 || node.inputs[0].dtype == DType::kBF16;
}

// kernel(T*) for the type of x, which is f32 or bf16.
template <class Choose>
static KernelFunction ForChannels(const NodeSignature& node, const Choose& choose) {
  if (node.inputs[0].dtype == DType::kBF16) return choose(static_cast<BFloat16*>(nullptr));
  return choose(static_cast<float*>(nullptr));
}

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_CHANNELS_H_
