// Computes reduce_sum, reduce_mean, reduce_max: one result at a time, its elements in index order,
// in f64.
#include "src/ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/check.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/kernels/strided.h"
#include "src/ops/infer.h"

namespace cgrun::reference {
namespace {

struct ReduceParameters {
  StridedSpace<2> kept;     // offsets of a group's first element in x, and of its result
  StridedSpace<1> reduced;  // offsets of a group's elements from its first
  double count = 1;         // of elements in a group
};

ReduceParameters PackReduce(const NodeSignature& node) {
  const Shape& x = node.inputs[0].shape;
  const auto axes = NormalizeAxes(node.attributes.As<ReduceAttributes>().axes, x.rank());
  CGRUN_CHECK(axes.has_value());
  const std::vector<int64_t> from = RowMajorStrides(x);
  const Shape result = ReducedShape(x, *axes, true);
  const std::vector<int64_t> to = RowMajorStrides(result);
  std::vector<int64_t> kept_sizes = result.Sizes(), reduced_sizes = x.Sizes();
  for (int axis = 0; axis < x.rank(); ++axis) {
    const bool reduced = std::find(axes->begin(), axes->end(), axis) != axes->end();
    if (!reduced) reduced_sizes[static_cast<size_t>(axis)] = 1;
  }
  ReduceParameters p;
  p.kept = MakeSpace<2>(kept_sizes, {from, to});
  p.reduced = MakeSpace<1>(reduced_sizes, {from});
  p.count = static_cast<double>(x.Elements() / result.Elements());
  return p;
}

// Adding to −0 leaves every number as it is, −0 too.
struct ReduceSum {
  static constexpr double kInitial = -0.0;
  static double Join(double sum, double x) { return sum + x; }
  static double Finish(double sum, double) { return sum; }
};

struct ReduceMean : ReduceSum {
  static double Finish(double sum, double count) { return sum / count; }
};

struct Max {
  static constexpr double kInitial = -std::numeric_limits<double>::infinity();
  static double Join(double max, double x) { return x > max || std::isnan(x) ? x : max; }
  static double Finish(double max, double) { return max; }
};

template <class Formula>
struct Reduce {
  template <class T>
  struct Kernel {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const auto& p = *static_cast<const ReduceParameters*>(i.parameters);
      const T* x = Data<const T>(context, i, 0);
      T* y = Data<T>(context, i, 1);
      ForEachIndex(p.kept, {0, 0}, [&](const auto& group) {
        double result = Formula::kInitial;
        ForEachIndex(p.reduced, {group[0]},
                     [&](const auto& at) { result = Formula::Join(result, LoadF64(x[at[0]])); });
        y[group[1]] = StoreF64<T>(Formula::Finish(result, p.count));
      });
    }
  };

  static PreparedKernel Prepare(const KernelRequest& request) {
    return PreparedKernel::Of(ForFloat<Kernel>(request.node.inputs[0].dtype),
                              PackReduce(request.node));
  }
  static KernelDef Define(std::string_view name) {
    return {.name = name, .supports = AllFloat, .prepare = Prepare};
  }
};

template <class T>
struct MaxGrad {
  static bool IsMax(double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); }

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ReduceParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    const T* y = Data<const T>(context, i, 1);
    const T* dy = Data<const T>(context, i, 2);
    T* dx = Data<T>(context, i, 3);
    ForEachIndex(p.kept, {0, 0}, [&](const auto& group) {
      const double max = LoadF64(y[group[1]]);
      double count = 0;
      ForEachIndex(p.reduced, {group[0]},
                   [&](const auto& at) { count += IsMax(LoadF64(x[at[0]]), max); });
      const T share = StoreF64<T>(LoadF64(dy[group[1]]) / count);
      ForEachIndex(p.reduced, {group[0]}, [&](const auto& at) {
        const bool is_max = IsMax(LoadF64(x[at[0]]), max);
        dx[at[0]] = is_max ? share : Store<T>(0);
      });
    });
  }
};

PreparedKernel PrepareMaxGrad(const KernelRequest& request) {
  return PreparedKernel::Of(ForFloat<MaxGrad>(request.node.inputs[0].dtype),
                            PackReduce(request.node));
}

}  // namespace

KernelDef reduce_sum() { return Reduce<ReduceSum>::Define("reference.reduce_sum"); }
KernelDef reduce_mean() { return Reduce<ReduceMean>::Define("reference.reduce_mean"); }
KernelDef reduce_max() { return Reduce<Max>::Define("reference.reduce_max"); }
KernelDef reduce_max_grad() {
  return {.name = "reference.reduce_max_grad", .supports = AllFloat, .prepare = PrepareMaxGrad};
}

}  // namespace cgrun::reference
