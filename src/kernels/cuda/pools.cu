// Computes max_pool, avg_pool and their gradients, a thread a result, and global_avg_pool, a warp
// or a block a result. A gradient asks each window that sees an input, in the order in which the
// windows stand.
#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>

#include "src/kernels/cuda/divisor.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/kernels/cuda/window.cuh"
#include "src/ops/pool.h"

namespace cgrun::cuda {

// A window on planes, as the GPU reads it.
struct PoolSizes {
  int64_t planes = 0;
  WindowAxis y, x;
  bool include_padding = true;

  int64_t inputs() const { return planes * y.input * x.input; }
  int64_t outputs() const { return planes * y.output * x.output; }
};

// Counts the positions of output `o`'s window in the padded image, or in the image.
inline __device__ int64_t CountOf(const WindowAxis& axis, int64_t o, bool include_padding) {
  const int64_t begin = InputOf(axis, o, 0);
  if (include_padding) {
    const int64_t end = begin + axis.kernel, last = axis.input + axis.after;
    return (end < last ? end : last) - begin;
  }
  const int64_t end = begin + axis.kernel < axis.input ? begin + axis.kernel : axis.input;
  return end - (begin > 0 ? begin : 0);
}

// Returns whether every number that windows on it make fits into 32 bits.
static bool IsSmall(const WindowAxis& axis) {
  const int64_t parts[] = {axis.input,  axis.before, axis.after,   axis.stride,
                           axis.kernel, axis.output, axis.dilation};
  constexpr int64_t kMost = INT_MAX / 8;
  const auto is_small = [](int64_t part) { return part <= kMost; };
  return std::all_of(std::begin(parts), std::end(parts), is_small) &&
         axis.kernel <= kMost / axis.dilation && axis.output <= kMost / axis.stride;
}

// Elements are numbered by I: 32 bits, where they are enough, are several times as fast.
template <class F>
static void WithNumbersOf(const PoolSizes& p, F run) noexcept {
  const bool few =
      std::max(p.inputs(), p.outputs()) <= INT_MAX && p.y.kernel <= INT_MAX / p.x.kernel;
  if (few && IsSmall(p.y) && IsSmall(p.x)) {
    run(int32_t{});
  } else {
    run(int64_t{});
  }
}

template <class I>
struct PoolAxis {
  Divisor output;
  I input, kernel, stride, before, dilation;

  static PoolAxis Of(const WindowAxis& axis) {
    const auto number = [](int64_t value) { return static_cast<I>(value); };
    return {Divisor(axis.output), number(axis.input),  number(axis.kernel),
            number(axis.stride),  number(axis.before), number(axis.dilation)};
  }
};

template <class T, class Index, class I>
struct MaxPoolBody {
  PoolAxis<I> rows, columns;
  const T* x;
  T* y;
  Index* index;
  __device__ void operator()(int64_t element) const {
    using C = Compute<T>;
    const I e = static_cast<I>(element);
    const I line = columns.output.Quotient(e), plane = rows.output.Quotient(line);
    const I row = line - plane * static_cast<I>(rows.output.by());
    const I column = e - line * static_cast<I>(columns.output.by());
    const I top = row * rows.stride - rows.before, left = column * columns.stride - columns.before;
    const T* image = x + plane * rows.input * columns.input;
    C best = -std::numeric_limits<C>::infinity();
    I winner = -1;
    for (I u = 0; u < rows.kernel; ++u) {
      const I r = top + u * rows.dilation;
      if (r < 0 || r >= rows.input) continue;
      for (I v = 0; v < columns.kernel; ++v) {
        const I c = left + v * columns.dilation;
        if (c < 0 || c >= columns.input) continue;
        if (winner < 0) winner = u * columns.kernel + v;  // if all are −∞
        const C value = Load(image[r * columns.input + c]);
        if (!(value > best || std::isnan(value))) continue;
        best = value;
        winner = u * columns.kernel + v;
      }
    }
    y[e] = Store<T>(best);
    index[e] = static_cast<Index>(winner);
  }
};

template <class T, class Index>
struct MaxPool {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const PoolSizes*>(i.parameters);
    WithNumbersOf(p, [&](auto number) {
      using I = decltype(number);
      ForEachElement(context, p.outputs(),
                     MaxPoolBody<T, Index, I>{PoolAxis<I>::Of(p.y), PoolAxis<I>::Of(p.x),
                                              Data<const T>(context, i, 0), Data<T>(context, i, 1),
                                              Data<Index>(context, i, 2)});
    });
  }
};

// Says which windows see an input of an axis.
template <class I>
struct WindowReaders {
  Divisor input, stride, dilation;
  I before, reach, output;

  static WindowReaders Of(const WindowAxis& axis) {
    return {Divisor(axis.input),
            Divisor(axis.stride),
            Divisor(axis.dilation),
            static_cast<I>(axis.before),
            static_cast<I>((axis.kernel - 1) * axis.dilation),
            static_cast<I>(axis.output)};
  }
  __device__ I Step() const { return static_cast<I>(stride.by()); }
  // The windows from First() to Last(), if any, reach over input `i`.
  __device__ I First(I i) const {
    const I beyond = i + before - reach;
    return beyond <= 0 ? 0 : stride.Quotient(beyond + Step() - 1);
  }
  __device__ I Last(I i) const {
    const I last = stride.Quotient(i + before);
    return last < output ? last : output - 1;
  }
  // The kernel position at which window `o` of these has it, or −1.
  __device__ I KernelPosition(I i, I o) const {
    const I offset = i + before - o * Step();
    if (dilation.by() == 1) return offset;
    const I k = dilation.Quotient(offset);
    return k * static_cast<I>(dilation.by()) == offset ? k : -1;
  }
};

template <class T, class Index, class I>
struct MaxPoolGradBody {
  WindowReaders<I> rows, columns;
  I kernel_width;
  const Index* index;
  const T* dy;
  T* dx;
  __device__ void operator()(int64_t element) const {
    const I e = static_cast<I>(element);
    const I line = columns.input.Quotient(e), plane = rows.input.Quotient(line);
    const I row = line - plane * static_cast<I>(rows.input.by());
    const I column = e - line * static_cast<I>(columns.input.by());
    const I left = columns.First(column), right = columns.Last(column), bottom = rows.Last(row);
    Compute<T> sum = 0;
    for (I up = rows.First(row); up <= bottom; ++up) {
      const I u = rows.KernelPosition(row, up);
      if (u < 0) continue;
      const I first = (plane * rows.output + up) * columns.output;
      for (I across = left; across <= right; ++across) {
        const I v = columns.KernelPosition(column, across);
        if (v < 0 || index[first + across] != static_cast<Index>(u * kernel_width + v)) continue;
        sum += Load(dy[first + across]);
      }
    }
    dx[e] = Store<T>(sum);
  }
};

template <class T, class Index>
struct MaxPoolGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const PoolSizes*>(i.parameters);
    WithNumbersOf(p, [&](auto number) {
      using I = decltype(number);
      ForEachElement(
          context, p.inputs(),
          MaxPoolGradBody<T, Index, I>{WindowReaders<I>::Of(p.y), WindowReaders<I>::Of(p.x),
                                       static_cast<I>(p.x.kernel), Data<const Index>(context, i, 0),
                                       Data<const T>(context, i, 1), Data<T>(context, i, 2)});
    });
  }
};

template <class T>
struct AvgPoolBody {
  PoolSizes p;
  const T* x;
  T* y;
  __device__ void operator()(int64_t e) const {
    using C = Compute<T>;
    const auto [plane, row, column] = PositionOf(e, p.y.output, p.x.output);
    const T* image = x + plane * p.y.input * p.x.input;
    C sum = 0;
    for (int64_t u = 0; u < p.y.kernel; ++u) {
      const int64_t r = InputOf(p.y, row, u);
      if (!IsInside(p.y, r)) continue;
      for (int64_t v = 0; v < p.x.kernel; ++v) {
        const int64_t c = InputOf(p.x, column, v);
        if (IsInside(p.x, c)) sum += Load(image[r * p.x.input + c]);
      }
    }
    const int64_t count =
        CountOf(p.y, row, p.include_padding) * CountOf(p.x, column, p.include_padding);
    y[e] = Store<T>(sum / static_cast<C>(count));
  }
};

template <class T>
struct AvgPool {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const PoolSizes*>(i.parameters);
    ForEachElement(context, p.outputs(),
                   AvgPoolBody<T>{p, Data<const T>(context, i, 0), Data<T>(context, i, 1)});
  }
};

template <class T>
struct AvgPoolGradBody {
  PoolSizes p;
  const T* dy;
  T* dx;
  __device__ void operator()(int64_t e) const {
    using C = Compute<T>;
    const auto [plane, row, column] = PositionOf(e, p.y.input, p.x.input);
    const int64_t first = plane * p.y.output * p.x.output;
    C sum = 0;
    for (int64_t u = p.y.kernel; u-- > 0;) {
      const int64_t up = ReaderOf(p.y, row, u);
      if (up < 0) continue;
      for (int64_t v = p.x.kernel; v-- > 0;) {
        const int64_t across = ReaderOf(p.x, column, v);
        if (across < 0) continue;
        const int64_t count =
            CountOf(p.y, up, p.include_padding) * CountOf(p.x, across, p.include_padding);
        sum += Load(dy[first + up * p.x.output + across]) / static_cast<C>(count);
      }
    }
    dx[e] = Store<T>(sum);
  }
};

template <class T>
struct AvgPoolGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const PoolSizes*>(i.parameters);
    ForEachElement(context, p.inputs(),
                   AvgPoolGradBody<T>{p, Data<const T>(context, i, 0), Data<T>(context, i, 1)});
  }
};

struct GlobalPoolParameters {
  int64_t planes = 0;
  int64_t plane = 0;  // elements
};

template <class T>
struct GlobalAvgPoolBody {
  int64_t plane;
  const T* x;
  T* y;
  __device__ void operator()(int64_t c) const {
    const double sum = SumOverBlock(plane, [&](int64_t e) { return LoadF64(x[c * plane + e]); });
    if (threadIdx.x == 0) y[c] = StoreF64<T>(sum / static_cast<double>(plane));
  }
};

// A warp a plane: planes are numbered by kWarp threads each.
template <class T>
struct SmallAvgPoolBody {
  int64_t plane;
  const T* x;
  T* y;
  __device__ void operator()(int64_t thread) const {
    const int64_t c = thread / kWarp, lane = thread % kWarp;
    double own = -0.0;  // adding to −0 leaves every number as it is
    for (int64_t e = lane; e < plane; e += kWarp) own += LoadF64(x[c * plane + e]);
    const double sum = JoinWarp(own, JoinSum());
    if (lane == 0) y[c] = StoreF64<T>(sum / static_cast<double>(plane));
  }
};

template <class T>
struct GlobalAvgPool {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    constexpr int64_t kMostOfWarp = 1024;
    const auto& p = *static_cast<const GlobalPoolParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    T* y = Data<T>(context, i, 1);
    if (p.plane <= kMostOfWarp) {
      ForEachElement(context, p.planes * kWarp, SmallAvgPoolBody<T>{p.plane, x, y});
    } else {
      ForEachGroup(context, p.planes, GlobalAvgPoolBody<T>{p.plane, x, y});
    }
  }
};

template <class T>
using MaxPoolU8 = MaxPool<T, uint8_t>;
template <class T>
using MaxPoolI32 = MaxPool<T, int32_t>;
template <class T>
using MaxPoolGradU8 = MaxPoolGrad<T, uint8_t>;
template <class T>
using MaxPoolGradI32 = MaxPoolGrad<T, int32_t>;

static PoolSizes PackPool(const Shape& images, const WindowAttributes& attributes,
                          bool include_padding) {
  const Window window = WindowOf(images, attributes);
  return {images[0].size * images[1].size, window.y, window.x, include_padding};
}

static PreparedKernel PrepareMaxPool(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const DType dtype = node.inputs[0].dtype;
  const bool bytes = node.outputs[1].dtype == DType::kU8;
  return PreparedKernel::Of(
      bytes ? ForFloat<MaxPoolU8>(dtype) : ForFloat<MaxPoolI32>(dtype),
      PackPool(node.inputs[0].shape, node.attributes.As<MaxPoolAttributes>().window(), true));
}

static PreparedKernel PrepareMaxPoolGrad(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<PoolGradAttributes>();
  const DType dtype = node.inputs[1].dtype;
  const bool bytes = node.inputs[0].dtype == DType::kU8;
  return PreparedKernel::Of(
      bytes ? ForFloat<MaxPoolGradU8>(dtype) : ForFloat<MaxPoolGradI32>(dtype),
      PackPool(attributes.input, attributes.window(), true));
}

static PreparedKernel PrepareAvgPool(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<AvgPoolAttributes>();
  return PreparedKernel::Of(
      ForFloat<AvgPool>(node.inputs[0].dtype),
      PackPool(node.inputs[0].shape, attributes.window(), attributes.count_include_pad));
}

static PreparedKernel PrepareAvgPoolGrad(const KernelRequest& request) {
  const auto& attributes = request.node.attributes.As<PoolGradAttributes>();
  return PreparedKernel::Of(
      ForFloat<AvgPoolGrad>(request.node.inputs[0].dtype),
      PackPool(attributes.input, attributes.window(), attributes.count_include_pad));
}

static PreparedKernel PrepareGlobalAvgPool(const KernelRequest& request) {
  const Shape& x = request.node.inputs[0].shape;
  const int64_t planes = x[0].size * x[1].size;
  return PreparedKernel::Of(ForFloat<GlobalAvgPool>(request.node.inputs[0].dtype),
                            GlobalPoolParameters{planes, x.Elements() / planes});
}

static bool SecondInputIsFloat(const NodeSignature& node) {
  return IsComputed(node.inputs[1].dtype);
}

KernelDef max_pool() {
  return {.name = "cuda.max_pool", .supports = FirstInputIsFloat, .prepare = PrepareMaxPool};
}
KernelDef max_pool_grad() {
  return {
      .name = "cuda.max_pool_grad", .supports = SecondInputIsFloat, .prepare = PrepareMaxPoolGrad};
}
KernelDef avg_pool() {
  return {.name = "cuda.avg_pool", .supports = AllFloat, .prepare = PrepareAvgPool};
}
KernelDef avg_pool_grad() {
  return {.name = "cuda.avg_pool_grad", .supports = AllFloat, .prepare = PrepareAvgPoolGrad};
}
KernelDef global_avg_pool() {
  return {.name = "cuda.global_avg_pool", .supports = AllFloat, .prepare = PrepareGlobalAvgPool};
}

}  // namespace cgrun::cuda
