// Computes reduce_sum, reduce_mean, reduce_max and the gradient of reduce_max, in f64. If a result
// has few elements, a thread makes it, else a block. If a result is that of a channel, blocks take
// parts of it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/kernels/cuda/channel_parts.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/strided.cuh"
#include "src/ops/infer.h"
#include "src/ops/reduce.h"

namespace cgrun::cuda {

constexpr int64_t kMostOfOneThread = 128;

struct ReduceParameters {
  DeviceSpace<2> kept;     // offsets of a group's first element in x, and of its result
  DeviceSpace<1> reduced;  // offsets of a group's elements from its first
  double count = 1;        // of elements in a group

  bool threads_suffice() const { return reduced.count <= kMostOfOneThread; }
};

struct ReduceSpaces {
  StridedSpace<2> kept;
  StridedSpace<1> reduced;
};

static ReduceSpaces SpacesOf(const NodeSignature& node) {
  const Shape& x = node.inputs[0].shape;
  const auto axes = NormalizeAxes(node.attributes.As<ReduceAttributes>().axes, x.rank());
  CGRUN_CHECK(axes.has_value());
  const std::vector<int64_t> from = RowMajorStrides(x);
  const Shape result = ReducedShape(x, *axes, true);
  const std::vector<int64_t> to = RowMajorStrides(result);
  std::vector<int64_t> reduced_sizes = x.Sizes();
  for (int axis = 0; axis < x.rank(); ++axis) {
    const bool reduced = std::find(axes->begin(), axes->end(), axis) != axes->end();
    if (!reduced) reduced_sizes[static_cast<size_t>(axis)] = 1;
  }
  return {MakeSpace<2>(result.Sizes(), {from, to}), MakeSpace<1>(reduced_sizes, {from})};
}

static bool SupportsReduce(const NodeSignature& node) {
  if (!AllFloat(node)) return false;
  const ReduceSpaces spaces = SpacesOf(node);
  return HasFewAxes(spaces.kept) && HasFewAxes(spaces.reduced);
}

static ReduceParameters PackReduce(const NodeSignature& node) {
  const ReduceSpaces spaces = SpacesOf(node);
  ReduceParameters p;
  p.kept = ToDevice(spaces.kept);
  p.reduced = ToDevice(spaces.reduced);
  p.count = static_cast<double>(node.inputs[0].shape.Elements() / p.kept.count);
  return p;
}

struct ChannelReduceParameters {
  ChannelParts parts;
  double count = 1;  // of elements in a channel
};

// Returns whether every axis but the channels is reduced, and there are many elements to a channel.
static bool ReducesToChannels(const NodeSignature& node) {
  const Shape& x = node.inputs[0].shape;
  if (x.rank() < 3) return false;
  const auto axes = NormalizeAxes(node.attributes.As<ReduceAttributes>().axes, x.rank());
  CGRUN_CHECK(axes.has_value());
  const bool kept = std::find(axes->begin(), axes->end(), 1) == axes->end();
  return kept && std::ssize(*axes) == x.rank() - 1 && x.Elements() / x[1].size > kMostOfOneThread;
}

// The workspace holds the results of the parts.
static int64_t ReduceWorkspace(const NodeSignature& node, int) {
  if (!ReducesToChannels(node)) return 0;
  return ChannelParts::Of(node.inputs[0].shape).blocks() * static_cast<int64_t>(sizeof(double));
}

// Adding to −0 leaves every number as it is, −0 too.
struct SumFormula {
  static __device__ double Initial() { return -0.0; }
  __device__ double operator()(double sum, double x) const { return sum + x; }
  static __device__ double Finish(double sum, double) { return sum; }
};

struct MeanFormula : SumFormula {
  static __device__ double Finish(double sum, double count) { return sum / count; }
};

struct LargestFormula {
  static __device__ double Initial() { return -std::numeric_limits<double>::infinity(); }
  __device__ double operator()(double max, double x) const {
    return x > max || std::isnan(x) ? x : max;
  }
  static __device__ double Finish(double max, double) { return max; }
};

// Joins the elements first, first + step, … of a group.
template <class Formula, class T>
__device__ double JoinElements(const DeviceSpace<1>& reduced, const T* x, int64_t first,
                               int64_t step) {
  double result = Formula::Initial();
  for (int64_t index = first; index < reduced.count; index += step) {
    int64_t at[1];
    reduced.At(index, at);
    result = Formula()(result, LoadF64(x[at[0]]));
  }
  return result;
}

template <class Formula, class T>
struct ReduceByThread {
  ReduceParameters p;
  const T* x;
  T* y;
  __device__ void operator()(int64_t group) const {
    int64_t at[2];
    p.kept.At(group, at);
    const double result = JoinElements<Formula>(p.reduced, x + at[0], 0, 1);
    y[at[1]] = StoreF64<T>(Formula::Finish(result, p.count));
  }
};

template <class Formula, class T>
struct ReduceByBlock {
  ReduceParameters p;
  const T* x;
  T* y;
  __device__ void operator()(int64_t group) const {
    int64_t at[2];
    p.kept.At(group, at);
    const double own = JoinElements<Formula>(p.reduced, x + at[0], threadIdx.x, kThreadsPerBlock);
    const double result = JoinBlock(own, Formula());
    if (threadIdx.x == 0) y[at[1]] = StoreF64<T>(Formula::Finish(result, p.count));
  }
};

template <class Formula, class T, int kCount>
struct ReducePart {
  ChannelParts p;
  const T* x;
  double* of_parts;
  __device__ void operator()(int64_t block) const {
    double own = Formula::Initial();
    const auto load = [&](int64_t e) { return LoadPack<kCount>(x + e); };
    p.ForElementsOf<kCount>(block, load, [&](int64_t, const Pack<T, kCount>& pack) {
      for (int k = 0; k < kCount; ++k) own = Formula()(own, LoadF64(pack.at[k]));
    });
    const double result = JoinBlock(own, Formula());
    if (threadIdx.x == 0) of_parts[block] = result;
  }
};

template <class Formula, class T>
struct ReduceParts {
  ChannelReduceParameters p;
  const double* of_parts;
  T* y;
  __device__ void operator()(int64_t channel) const {
    double own = Formula::Initial();
    for (int64_t part = threadIdx.x; part < p.parts.parts; part += kThreadsPerBlock) {
      own = Formula()(own, of_parts[channel * p.parts.parts + part]);
    }
    const double result = JoinBlock(own, Formula());
    if (threadIdx.x == 0) y[channel] = StoreF64<T>(Formula::Finish(result, p.count));
  }
};

template <class Formula>
struct Reduce {
  template <class T>
  struct ByChannel {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const auto& p = *static_cast<const ChannelReduceParameters*>(i.parameters);
      constexpr int kPack = ChannelParts::kPack;
      const T* x = Data<const T>(context, i, 0);
      double* of_parts = Data<double>(context, i, 2);
      if (p.parts.packs()) {
        ForEachPart(context, p.parts, ReducePart<Formula, T, kPack>{p.parts, x, of_parts});
      } else {
        ForEachPart(context, p.parts, ReducePart<Formula, T, 1>{p.parts, x, of_parts});
      }
      ForEachGroup(context, p.parts.channels,
                   ReduceParts<Formula, T>{p, of_parts, Data<T>(context, i, 1)});
    }
  };
  template <class T>
  struct ByThread {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const auto& p = *static_cast<const ReduceParameters*>(i.parameters);
      ForEachElement(
          context, p.kept.count,
          ReduceByThread<Formula, T>{p, Data<const T>(context, i, 0), Data<T>(context, i, 1)});
    }
  };
  template <class T>
  struct ByBlock {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const auto& p = *static_cast<const ReduceParameters*>(i.parameters);
      ForEachGroup(
          context, p.kept.count,
          ReduceByBlock<Formula, T>{p, Data<const T>(context, i, 0), Data<T>(context, i, 1)});
    }
  };

  static PreparedKernel Prepare(const KernelRequest& request) {
    const ReduceParameters p = PackReduce(request.node);
    const DType dtype = request.node.inputs[0].dtype;
    if (ReducesToChannels(request.node)) {
      const ChannelReduceParameters channels{ChannelParts::Of(request.node.inputs[0].shape),
                                             p.count};
      return PreparedKernel::Of(ForFloat<ByChannel>(dtype), channels);
    }
    return PreparedKernel::Of(
        p.threads_suffice() ? ForFloat<ByThread>(dtype) : ForFloat<ByBlock>(dtype), p);
  }
  static KernelDef Define(std::string_view name) {
    return {.name = name,
            .supports = SupportsReduce,
            .workspace_bytes = ReduceWorkspace,
            .prepare = Prepare};
  }
};

template <class T>
struct ReduceMaxGradBody {
  ReduceParameters p;
  const T *x, *y, *dy;
  T* dx;

  static __device__ bool IsMax(double x, double y) {
    return x == y || (std::isnan(x) && std::isnan(y));
  }

  __device__ void operator()(int64_t group) const {
    int64_t at[2];
    p.kept.At(group, at);
    const double max = LoadF64(y[at[1]]);
    const double count = SumOverBlock(p.reduced.count, [&](int64_t index) {
      int64_t from[1];
      p.reduced.At(index, from);
      return IsMax(LoadF64(x[at[0] + from[0]]), max) ? 1.0 : 0.0;
    });
    const T share = StoreF64<T>(LoadF64(dy[at[1]]) / count);
    for (int64_t index = threadIdx.x; index < p.reduced.count; index += kThreadsPerBlock) {
      int64_t from[1];
      p.reduced.At(index, from);
      const int64_t e = at[0] + from[0];
      dx[e] = IsMax(LoadF64(x[e]), max) ? share : Store<T>(0);
    }
  }
};

template <class T>
struct ReduceMaxGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ReduceParameters*>(i.parameters);
    ForEachGroup(context, p.kept.count,
                 ReduceMaxGradBody<T>{p, Data<const T>(context, i, 0), Data<const T>(context, i, 1),
                                      Data<const T>(context, i, 2), Data<T>(context, i, 3)});
  }
};

static PreparedKernel PrepareReduceMaxGrad(const KernelRequest& request) {
  return PreparedKernel::Of(ForFloat<ReduceMaxGrad>(request.node.inputs[0].dtype),
                            PackReduce(request.node));
}

KernelDef reduce_sum() { return Reduce<SumFormula>::Define("cuda.reduce_sum"); }
KernelDef reduce_mean() { return Reduce<MeanFormula>::Define("cuda.reduce_mean"); }
KernelDef reduce_max() { return Reduce<LargestFormula>::Define("cuda.reduce_max"); }
KernelDef reduce_max_grad() {
  return {
      .name = "cuda.reduce_max_grad", .supports = SupportsReduce, .prepare = PrepareReduceMaxGrad};
}

}  // namespace cgrun::cuda
