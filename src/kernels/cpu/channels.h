// Describes how batch_norm and its gradient go through x: as [images, channels, plane], or with its
// channels in blocks.
#ifndef CGRUN_KERNELS_CPU_CHANNELS_H_
#define CGRUN_KERNELS_CPU_CHANNELS_H_

#include <algorithm>
#include <utility>

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
  bool training = true;  // with the statistics of the batch
  int threads = 1;
  int64_t block = 0;  // channels side by side at a position; 0: a channel's plane is contiguous
  float min = 0;      // results are clipped to [min, max], which are numbers of x's type
  float max = 0;

  // Channels side by side are columns: a vector of them is, for each image and position, at …
  bool columns() const { return block > 0; }
  int64_t padded_channels() const { return (channels + block - 1) / block * block; }
  int64_t ColumnOffset(int64_t image, int64_t channel) const {
    return image * padded_channels() * plane + channel / block * block * plane + channel % block;
  }

  double count() const { return static_cast<double>(images * plane); }
};

inline Channels ChannelsOf(const KernelRequest& request) {
  const auto& attributes = request.node.attributes.As<BatchNormAttributes>();
  const Shape& x = request.node.inputs[0].shape;
  const Layout& layout = request.operands[0].layout;
  const bool narrow = request.node.inputs[0].dtype == DType::kBF16;
  const auto bound = [narrow](double value) {
    const auto in_f32 = static_cast<float>(value);
    return narrow ? static_cast<float>(BFloat16(in_f32)) : in_f32;
  };
  Channels channels{x[0].size,
                    x[1].size,
                    x.Elements() / (x[0].size * x[1].size),
                    attributes.epsilon,
                    attributes.momentum,
                    attributes.training,
                    ThreadsFor(request, Work::kComputes),
                    BlockOf(x, layout),
                    bound(attributes.min),
                    bound(attributes.max)};
  const bool is_matrix = channels.plane == 1 && channels.block == 0;
  if (is_matrix || HasChannelsLast(layout)) {  // one image of all positions
    channels.plane *= std::exchange(channels.images, 1);
    channels.block = channels.channels;
  }
  return channels;
}

// Chooses layouts for KernelDef::choose. If a tensor of x's shape comes with its channels in blocks
// of whole vectors, or all side by side, all tensors of that shape get its layout, results too.
template <int64_t kLanes>
bool ChooseChannels(const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
  const auto like_x = [&x = node.inputs[0]](const TensorType& type) {
    return type.shape == x.shape;
  };
  for (size_t i = 0; i < setting.layouts.size(); ++i) {
    const Layout& layout = setting.layouts[i];
    if (!like_x(node.inputs[i])) continue;
    if (!HasChannelsLast(layout) && !ComesInBlocks(node, setting, i, kLanes)) continue;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      if (like_x(node.inputs[k])) option->input_layouts[k] = layout;
    }
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (like_x(node.outputs[k])) option->output_layouts[k] = layout;
    }
    break;
  }
  return true;
}

// One thread goes through so many vectors of channels side by side, so that each position is a few
// whole cache lines.
inline constexpr int64_t kMostColumns = 4;

struct Columns {
  int64_t first = 0;   // channel
  int64_t count = 0;   // of vectors: 1, 2 or 4
  int64_t lanes = 0;   // that are channels; 0 where all of them pad
  int64_t stored = 0;  // in memory, with those that pad
};

// Returns the columns from channel `first` on that are in one block and before `end`. If the last
// vector is not whole, it is alone.
inline Columns ColumnsAt(const Channels& p, int64_t first, int64_t end, int64_t vector_lanes) {
  const int64_t block_end = first / p.block * p.block + p.block;
  const int64_t there = std::min(end, block_end) - first;
  int64_t count = kMostColumns;
  while (count > 1 && count * vector_lanes > there) count /= 2;
  const int64_t stored = std::min(count * vector_lanes, there);
  return {first, count, std::clamp<int64_t>(p.channels - first, 0, stored), stored};
}

// Calls row(channel) if a channel's planes are contiguous, else columns.operator()<vectors,
// chains>(Columns) for vectors of channels, on the threads. If a position has several vectors, each
// has one chain of additions. If blocks are of one vector, two chains take turns, so that an
// addition need not wait for the one before it. The number of chains depends on the layout alone.
template <int64_t kLanes, class OfRow, class OfColumns>
void SplitChannels(const Channels& p, const OfRow& row, const OfColumns& of_columns) noexcept {
  if (!p.columns()) {
    return Split(p.threads, p.channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) row(c);
    });
  }
  const bool in_turns = p.block == kLanes;
  Split(p.threads, p.padded_channels(), kLanes, [&](int64_t begin, int64_t end) {
    for (; begin < end;) {
      const Columns columns = ColumnsAt(p, begin, end, kLanes);
      if (in_turns) {
        of_columns.template operator()<1, 2>(columns);
      } else if (columns.count == 1) {
        of_columns.template operator()<1, 1>(columns);
      } else if (columns.count == 2) {
        of_columns.template operator()<2, 1>(columns);
      } else {
        of_columns.template operator()<4, 1>(columns);
      }
      begin += columns.count * kLanes;
    }
  });
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
