// What batch_norm and its gradient go through: x seen as [images, channels, plane], or with its
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
                    ThreadsFor(request, Work::kComputes),
                    BlockOf(x, layout),
                    bound(attributes.min),
                    bound(attributes.max)};
  if (channels.plane == 1 || HasChannelsLast(layout)) {  // one image of all positions
    channels.plane *= std::exchange(channels.images, 1);
    channels.block = channels.channels;
  }
  return channels;
}

// In the layout in which one of the `kActivations` first inputs comes, where its channels are in
// blocks of whole vectors, or all side by side; for KernelDef::choose. Its first output is in it
// too.
template <size_t kActivations, int64_t kLanes>
bool ChooseChannels(const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
  for (size_t i = 0; i < kActivations && i < setting.layouts.size(); ++i) {
    const Layout& layout = setting.layouts[i];
    if (!HasChannelsLast(layout) && !ComesInBlocks(node, setting, i, kLanes)) continue;
    for (size_t k = 0; k < kActivations; ++k) option->input_layouts[k] = layout;
    option->output_layouts[0] = layout;
    break;
  }
  return true;
}

// As many vectors of channels side by side are a group, which one thread goes through together, a
// tile of positions at a time: they share cache lines, and the lines of a tile stay in the cache.
inline constexpr int64_t kMostColumns = 8;
inline constexpr int64_t kTilePositions = 64;  // even, so that chains take turns across tiles

struct Columns {
  int64_t first = 0;   // channel
  int64_t count = 0;   // of vectors
  int64_t lanes = 0;   // that are channels; 0 where all of them pad
  int64_t stored = 0;  // in memory, with those that pad
};

// Those from channel `first` on that are in one block and before `end`.
inline Columns ColumnsAt(const Channels& p, int64_t first, int64_t end, int64_t vector_lanes) {
  const int64_t block_end = first / p.block * p.block + p.block;
  const int64_t there = std::min(end, block_end) - first;
  const int64_t count = std::min(kMostColumns, (there + vector_lanes - 1) / vector_lanes);
  const int64_t stored = std::min(count * vector_lanes, there);
  return {first, count, std::clamp<int64_t>(p.channels - first, 0, stored), stored};
}

// Calls row(channel) where a channel's planes are contiguous, else group(Columns) for groups of
// vectors of channels, on the threads.
template <int64_t kLanes, class OfRow, class OfGroup>
void SplitChannels(const Channels& p, const OfRow& row, const OfGroup& group) noexcept {
  if (!p.columns()) {
    return Split(p.threads, p.channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) row(c);
    });
  }
  Split(p.threads, p.padded_channels(), kLanes, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const Columns columns = ColumnsAt(p, begin, end, kLanes);
      group(columns);
      begin += columns.count * kLanes;
    }
  });
}

// Positions of one image and vector of channels.
struct Stretch {
  int64_t at = 0;      // the first element
  int64_t lane = 0;    // of the group, the first of the vector
  int64_t stored = 0;  // of the vector's lanes
  int64_t positions = 0;
  bool odd_image = false;
};

// Calls work(Stretch) for all of a group, vector by vector in each tile.
template <int64_t kLanes, class Work>
inline void ForStretches(const Channels& p, const Columns& columns, const Work& work) {
  const int64_t tile = columns.count == 1 ? p.plane : kTilePositions;
  for (int64_t n = 0; n < p.images; ++n) {
    const int64_t image = p.ColumnOffset(n, columns.first);
    for (int64_t begin = 0; begin < p.plane; begin += tile) {
      for (int64_t lane = 0; lane < columns.stored; lane += kLanes) {
        work(Stretch{image + begin * p.block + lane, lane, std::min(kLanes, columns.stored - lane),
                     std::min(tile, p.plane - begin), n % 2 == 1});
      }
    }
  }
}

// Calls work(offset, chain) for every element of a stretch, in order; the chains, two of them, take
// turns, so that an addition need not wait for the one before it.
template <class Work>
inline void ForPositions(const Channels& p, const Stretch& stretch, const Work& work) {
  int64_t at = stretch.at;
  int64_t e = 0;
  for (; e + 2 <= stretch.positions; e += 2, at += 2 * p.block) {
    work(at, 0);
    work(at + p.block, 1);
  }
  if (e == stretch.positions) return;
  if (stretch.odd_image) {  // said twice: a constant chain is a register
    work(at, 1);
  } else {
    work(at, 0);
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
