// Computes max pooling plane by plane: a vector holds windows side by side, on a plane with its
// padding written out. On the way back, each window's dy goes to where its winner was. Each target
// of Highway includes this file once.
#if defined(CGRUN_KERNELS_CPU_MAX_POOL_PLANES_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_MAX_POOL_PLANES_H_
#undef CGRUN_KERNELS_CPU_MAX_POOL_PLANES_H_
#else
#define CGRUN_KERNELS_CPU_MAX_POOL_PLANES_H_
#endif

#include <algorithm>
#include <limits>
#include <vector>

#include "src/kernels/cpu/padded_plane.h"
#include "src/kernels/kernel.h"
#include "src/kernels/reference/reach.h"
#include "src/ops/pool.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

struct MaxPool {
  static constexpr float kLeast = -std::numeric_limits<float>::infinity();

  int64_t planes = 0;
  PaddedPlane plane;
  // The kernel positions at which windows begin to see the image: a window of −∞ alone has its
  // winner there.
  std::vector<int32_t> first_rows, first_columns;
  bool bytes = false;  // winners are uint8, else int32

  int64_t inputs() const { return plane.y.input * plane.x.input; }  // of a plane
  int64_t outputs() const { return plane.y.output * plane.x.output; }

  static Window WindowOfNode(const NodeSignature& node) {
    return WindowOf(node.inputs[0].shape, node.attributes.As<MaxPoolAttributes>().window());
  }

  static MaxPool Of(const NodeSignature& node) {
    const auto first_positions = [](const WindowAxis& axis) {
      std::vector<int32_t> first;
      for (const reference::Reach& reach : reference::ReachesOf(axis)) {
        first.push_back(static_cast<int32_t>(reach.first));
      }
      first.resize(static_cast<size_t>(RoundToLanes(axis.output)));
      return first;
    };
    const Shape& x = node.inputs[0].shape;
    const Window window = WindowOfNode(node);
    return {x[0].size * x[1].size, PaddedPlaneOf(window), first_positions(window.y),
            first_positions(window.x), node.outputs[1].dtype == DType::kU8};
  }
};

using PoolPositions = hn::Rebind<int32_t, F32>;

HWY_INLINE void StoreWinners(hn::Vec<PoolPositions> winners, int32_t* to, int64_t n) {
  StoreSome(PoolPositions(), winners, to, n);
}
HWY_INLINE void StoreWinners(hn::Vec<PoolPositions> winners, uint8_t* to, int64_t n) {
  const hn::Rebind<uint8_t, F32> d8;
  StoreSome(d8, hn::DemoteTo(d8, winners), to, n);
}

// One row of windows; a NaN wins, and the first of equals.
template <int kStride, class T, class Index>
void PoolRow(const MaxPool& p, const float* line, int64_t row, T* y, Index* index) {
  constexpr auto kLanes = static_cast<int64_t>(kF32Lanes);
  const F32 d;
  const PoolPositions di;
  const int64_t kernel = p.plane.x.kernel, stride = p.plane.x.stride;
  const int64_t dilation = p.plane.x.dilation;
  const auto first_row = static_cast<int32_t>(p.first_rows[static_cast<size_t>(row)] * kernel);
  for (int64_t o = 0; o < p.plane.x.output; o += kLanes) {
    VF32 best = hn::Set(d, MaxPool::kLeast);
    auto winner = hn::Add(hn::Set(di, first_row), hn::LoadU(di, p.first_columns.data() + o));
    int32_t position = 0;
    for (int64_t u = 0; u < p.plane.y.kernel; ++u) {
      const float* from = line + u * p.plane.y.dilation * p.plane.columns + o * stride;
      for (int64_t v = 0; v < kernel; ++v, ++position) {
        const VF32 x = LoadStrided<kStride>(from + v * dilation, stride);
        const auto wins = hn::Or(hn::Gt(x, best), hn::IsNaN(x));
        best = hn::IfThenElse(wins, x, best);
        winner = hn::IfThenElse(hn::RebindMask(di, wins), hn::Set(di, position), winner);
      }
    }
    const int64_t lanes = std::min(kLanes, p.plane.x.output - o);
    StoreSome(d, best, y + o, lanes);
    StoreWinners(winner, index + o, lanes);
  }
}

// One plane, of f32 or bf16. `padded` has room for it with its padding, which has been filled with
// kLeast.
template <int kStride, class T, class Index>
void PoolPlane(const MaxPool& p, const T* x, float* padded, T* y, Index* index) {
  CopyInto(p.plane, x, padded);
  for (int64_t row = 0; row < p.plane.y.output; ++row) {
    const int64_t at = row * p.plane.x.output;
    PoolRow<kStride>(p, p.plane.Line(padded, row), row, y + at, index + at);
  }
}

// choose.operator()<kStride, Index>() for a pool: kStride is that of its rows where it is 1 or 2.
template <class Choose>
KernelFunction ForPool(int64_t stride, bool bytes, const Choose& choose) {
  const auto of_index = [&]<class Index>(Index) -> KernelFunction {
    if (stride == 1) return choose.template operator()<1, Index>();
    if (stride == 2) return choose.template operator()<2, Index>();
    return choose.template operator()<0, Index>();
  };
  return bytes ? of_index(uint8_t{}) : of_index(int32_t{});
}

// Describes the gradient of a max_pool.
struct MaxUnpool {
  int64_t planes = 0;
  WindowAxis y, x;
  std::vector<int32_t> down, across;  // from a window's origin, by kernel position
  std::vector<int32_t> offsets;       // the two together
  int64_t begin = 0, end = 0;  // windows of a row that lie inside the image from left to right
  // One plane: image[0 … inputs()) ← what the windows of plane `plane` of all give it.
  void (*run)(const MaxUnpool&, const std::byte* index, const float* dy, int64_t plane,
              float* image) noexcept = nullptr;

  int64_t inputs() const { return y.input * x.input; }  // of the pool, in a plane
  int64_t outputs() const { return y.output * x.output; }

  static MaxUnpool Of(const NodeSignature& node);
};

// Adds what windows [begin, end) of a row give. A winner that is not in the image gets nothing.
template <class Index>
void AddToWinners(const MaxUnpool& p, const Index* index, const float* dy, int64_t row,
                  int64_t begin, int64_t end, float* image) {
  const int32_t *down = p.down.data(), *across = p.across.data();
  const size_t positions = p.down.size();
  const int64_t top = p.y.InputOf(row, 0), height = p.y.input, width = p.x.input;
  for (int64_t o = begin; o < end; ++o) {
    const auto position = static_cast<size_t>(index[o]);
    if (position >= positions) continue;
    const int64_t at_y = top + down[position], at_x = p.x.InputOf(o, 0) + across[position];
    const bool inside = static_cast<uint64_t>(at_y) < static_cast<uint64_t>(height) &&
                        static_cast<uint64_t>(at_x) < static_cast<uint64_t>(width);
    if (inside) image[at_y * width + at_x] += dy[o];
  }
}

// Adds the gradients of a row of windows to their winners, in the order of the windows.
template <class Index>
void AddRowToWinners(const MaxUnpool& p, const Index* index, const float* dy, int64_t row,
                     float* image) {
  const int64_t top = p.y.InputOf(row, 0);
  const bool inside = top >= 0 && top + p.down.back() < p.y.input;
  const int64_t begin = inside ? p.begin : 0, end = inside ? p.end : 0;
  AddToWinners(p, index, dy, row, 0, begin, image);
  const int32_t* offsets = p.offsets.data();
  const auto positions = static_cast<uint32_t>(p.offsets.size());
  float* at = image + top * p.x.input + p.x.InputOf(begin, 0);
  for (int64_t o = begin; o < end; ++o, at += p.x.stride) {
    const auto position = static_cast<uint32_t>(index[o]);
    if (position < positions) at[offsets[position]] += dy[o];
  }
  AddToWinners(p, index, dy, row, end, p.x.output, image);
}

template <class Index>
void UnpoolPlane(const MaxUnpool& p, const std::byte* index, const float* dy, int64_t plane,
                 float* image) noexcept {
  const Index* winners = reinterpret_cast<const Index*>(index) + plane * p.outputs();
  dy += plane * p.outputs();
  std::fill_n(image, p.inputs(), 0.0F);
  for (int64_t row = 0; row < p.y.output; ++row) {
    const int64_t at = row * p.x.output;
    AddRowToWinners(p, winners + at, dy + at, row, image);
  }
}

// Windows of 2 × 2 elements that move by two, all of them inside the image: no two see an element,
// so that a row of windows is two rows of the image, which are written once.
inline bool IsOfQuads(const MaxUnpool& p) {
  const auto is_of_pairs = [](const WindowAxis& axis) {
    return axis.kernel == 2 && axis.stride == 2 && axis.dilation == 1 && axis.before == 0 &&
           2 * axis.output <= axis.input;
  };
  return is_of_pairs(p.y) && is_of_pairs(p.x);
}

// Two rows of the image.
inline void UnpoolQuads(const uint8_t* index, const float* dy, int64_t windows, float* upper,
                        float* lower) {
  constexpr int64_t kLanes = 4;  // small images have short rows
  const hn::CappedTag<float, kLanes> d;
  const hn::Rebind<int32_t, decltype(d)> di;
  int64_t o = 0;
  for (; o + kLanes <= windows; o += kLanes) {
    const auto winners =
        hn::PromoteTo(di, hn::LoadU(hn::Rebind<uint8_t, decltype(d)>(), index + o));
    const auto gradient = hn::Add(hn::LoadU(d, dy + o), hn::Zero(d));  // as a sum: of −0 it is 0
    const auto at = [&](int32_t position) {
      const auto wins = hn::RebindMask(d, hn::Eq(winners, hn::Set(di, position)));
      return hn::IfThenElseZero(wins, gradient);
    };
    hn::StoreInterleaved2(at(0), at(1), d, upper + 2 * o);
    hn::StoreInterleaved2(at(2), at(3), d, lower + 2 * o);
  }
  for (; o < windows; ++o) {
    for (int64_t v = 0; v < 2; ++v) {
      upper[2 * o + v] = index[o] == v ? dy[o] + 0.0F : 0.0F;
      lower[2 * o + v] = index[o] == 2 + v ? dy[o] + 0.0F : 0.0F;
    }
  }
}

inline void UnpoolPlaneOfQuads(const MaxUnpool& p, const std::byte* index, const float* dy,
                               int64_t plane, float* image) noexcept {
  const auto* winners = reinterpret_cast<const uint8_t*>(index) + plane * p.outputs();
  dy += plane * p.outputs();
  const int64_t windows = p.x.output, width = p.x.input;
  for (int64_t row = 0; row < p.y.output; ++row) {
    float* upper = image + 2 * row * width;
    UnpoolQuads(winners + row * windows, dy + row * windows, windows, upper, upper + width);
    for (float* line : {upper, upper + width}) {
      std::fill(line + 2 * windows, line + width, 0.0F);
    }
  }
  std::fill(image + 2 * p.y.output * width, image + p.inputs(), 0.0F);
}

inline MaxUnpool MaxUnpool::Of(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<PoolGradAttributes>();
  const Window window = WindowOf(attributes.input, attributes.window());
  MaxUnpool p;
  p.planes = attributes.input[0].size * attributes.input[1].size;
  p.y = window.y;
  p.x = window.x;
  for (int64_t u = 0; u < p.y.kernel; ++u) {
    for (int64_t v = 0; v < p.x.kernel; ++v) {
      p.down.push_back(static_cast<int32_t>(u * p.y.dilation));
      p.across.push_back(static_cast<int32_t>(v * p.x.dilation));
      p.offsets.push_back(static_cast<int32_t>(p.down.back() * p.x.input + p.across.back()));
    }
  }
  const auto is_inside = [&](int64_t o) {
    return p.x.InputOf(o, 0) >= 0 && p.x.InputOf(o, p.x.kernel - 1) < p.x.input;
  };
  while (p.begin < p.x.output && !is_inside(p.begin)) ++p.begin;
  for (p.end = p.begin; p.end < p.x.output && is_inside(p.end);) ++p.end;
  const bool bytes = node.inputs[0].dtype == DType::kU8;
  p.run = bytes ? &UnpoolPlane<uint8_t> : &UnpoolPlane<int32_t>;
  if (bytes && IsOfQuads(p)) p.run = &UnpoolPlaneOfQuads;
  return p;
}

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_MAX_POOL_PLANES_H_
