// Cuts each channel of a tensor [images, channels, …] into parts, one for each block. So few
// channels of many elements keep a whole GPU busy. The parts depend only on the shape.
//
//   plane:    | segment | segment | segment |      of one channel of one image
//   block:    rows × width threads; a row of them takes a segment, then the next that is its own
#ifndef CGRUN_KERNELS_CUDA_CHANNEL_PARTS_CUH_
#define CGRUN_KERNELS_CUDA_CHANNEL_PARTS_CUH_

#include <algorithm>

#include "src/base/shape.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/pack.cuh"

namespace cgrun::cuda {

struct ChannelParts {
  static constexpr int kPack = 4;  // elements that a thread takes together, where planes allow it

  int64_t images = 0;
  int64_t channels = 0;
  int64_t plane = 0;     // elements
  int64_t segment = 0;   // elements; the last of a plane may have fewer
  int64_t segments = 0;  // of a plane
  int64_t parts = 0;     // of a channel
  int width_bits = 0;    // log2 of the threads of a row

  static ChannelParts Of(const Shape& x) {
    constexpr int64_t kMostOfSegment = 4096, kBlocksWanted = 1024;
    ChannelParts p;
    p.images = x[0].size;
    p.channels = x[1].size;
    p.plane = x.Elements() / (p.images * p.channels);
    p.segments = (p.plane + kMostOfSegment - 1) / kMostOfSegment;
    const int64_t even = (p.plane + p.segments - 1) / p.segments;
    p.segment = (even + kPack - 1) / kPack * kPack;
    p.segments = (p.plane + p.segment - 1) / p.segment;
    const int64_t steps = std::min(p.segment, p.plane) / (p.packs() ? kPack : 1);
    while (p.width() < std::min<int64_t>(steps, kThreadsPerBlock)) ++p.width_bits;
    const int64_t all = p.images * p.segments, rows = kThreadsPerBlock / p.width();
    p.parts = std::clamp<int64_t>(kBlocksWanted / p.channels, 1, (all + rows - 1) / rows);
    return p;
  }

  bool packs() const { return plane % kPack == 0; }
  int64_t blocks() const { return channels * parts; }
  __host__ __device__ int64_t width() const { return int64_t{1} << width_bits; }
  __host__ __device__ int64_t elements_of_channel() const { return images * plane; }
  // Returns where the first element of a channel lies.
  __device__ int64_t First(int64_t channel) const { return channel * plane; }

  // Calls use(e, load(e)) for the elements of block `block`, by all its threads: `e` is the offset
  // of the first of kCount elements, which is 1 or, where packs(), kPack. A thread loads from
  // several segments before it uses what it loaded, as one load alone waits longer than it takes.
  template <int kCount, class Load, class Use>
  __device__ void ForElementsOf(int64_t block, Load load, Use use) const {
    constexpr int kTogether = 4;
    const int64_t channel = block / parts, part = block % parts;
    const int64_t row = threadIdx.x >> width_bits, rows = kThreadsPerBlock >> width_bits;
    const int64_t column = threadIdx.x & (width() - 1), step = parts * rows;
    for (int64_t s = part * rows + row; s < images * segments; s += kTogether * step) {
      Piece pieces[kTogether];
#pragma unroll
      for (int k = 0; k < kTogether; ++k) pieces[k] = PieceOf(channel, s + k * step);
      for (int64_t i = column * kCount; i < segment; i += width() * kCount) {
        decltype(load(i)) loaded[kTogether];
#pragma unroll
        for (int k = 0; k < kTogether; ++k) {
          if (i < pieces[k].count) loaded[k] = load(pieces[k].first + i);
        }
#pragma unroll
        for (int k = 0; k < kTogether; ++k) {
          if (i < pieces[k].count) use(pieces[k].first + i, loaded[k]);
        }
      }
    }
  }

 private:
  // Holds a segment of a channel, if there is one.
  struct Piece {
    int64_t first, count;
  };
  __device__ Piece PieceOf(int64_t channel, int64_t s) const {
    const int64_t image = segments == 1 ? s : Quotient(s, segments);
    const int64_t begin = (s - image * segments) * segment;
    const int64_t end = begin + segment < plane ? begin + segment : plane;
    return {(image * channels + channel) * plane + begin, image < images ? end - begin : 0};
  }
};

// Calls body(b) for each block of the parts, by all its threads together.
template <class Body>
void ForEachPart(const RunContext& context, const ChannelParts& p, const Body& body) noexcept {
  ForEachGroup(context, p.blocks(), body);
}

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_CHANNEL_PARTS_CUH_
