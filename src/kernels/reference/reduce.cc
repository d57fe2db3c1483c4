// Computes the reductions: one result at a time, its elements in index order, floats in f64.
#include "src/ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/check.h"
#include "src/kernels/formulas.h"
#include "src/kernels/reference/integers.h"
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

// Floats are reduced in f64, integers in their own type.
template <class T>
using Reduced = std::conditional_t<std::is_integral_v<T>, T, double>;

template <class T>
Reduced<T> LoadReduced(T value) {
  if constexpr (std::is_integral_v<T>) return value;
  if constexpr (!std::is_integral_v<T>) return LoadF64(value);
}

// Adding to −0 leaves every number as it is, −0 too.
template <class R>
struct ReduceSum {
  static constexpr R Initial() { return R(-0.0); }
  static R Join(R sum, R x) { return Numeric<formulas::Add, integers::Add>()(sum, x); }
  static R Finish(R sum, double) { return sum; }
};

template <class R>
struct ReduceMean : ReduceSum<R> {
  static R Finish(R sum, double count) { return static_cast<R>(sum / static_cast<R>(count)); }
};

template <class R>
struct Product {
  static constexpr R Initial() { return 1; }
  static R Join(R product, R x) { return Numeric<formulas::Mul, integers::Mul>()(product, x); }
  static R Finish(R product, double) { return product; }
};

template <class R>
bool IsNotANumber(R x) {
  return x != x;
}

template <class R>
struct Max {
  using Limits = std::numeric_limits<R>;
  static constexpr R Initial() {
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
  static R Join(R max, R x) { return x > max || IsNotANumber(x) ? x : max; }
  static R Finish(R max, double) { return max; }
};

template <class R>
struct Min {
  using Limits = std::numeric_limits<R>;
  static constexpr R Initial() { return Limits::has_infinity ? Limits::infinity() : Limits::max(); }
  static R Join(R min, R x) { return x < min || IsNotANumber(x) ? x : min; }
  static R Finish(R min, double) { return min; }
};

template <template <class> class Formula>
struct Reduce {
  template <class T>
  struct Kernel {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      using Join = Formula<Reduced<T>>;
      const auto& p = *static_cast<const ReduceParameters*>(i.parameters);
      const T* x = Data<const T>(context, i, 0);
      T* y = Data<T>(context, i, 1);
      ForEachIndex(p.kept, {0, 0}, [&](const auto& group) {
        Reduced<T> result = Join::Initial();
        ForEachIndex(p.reduced, {group[0]},
                     [&](const auto& at) { result = Join::Join(result, LoadReduced(x[at[0]])); });
        result = Join::Finish(result, p.count);
        if constexpr (std::is_integral_v<T>) y[group[1]] = result;
        if constexpr (!std::is_integral_v<T>) y[group[1]] = StoreF64<T>(result);
      });
    }
  };

  static PreparedKernel Prepare(const KernelRequest& request) {
    return PreparedKernel::Of(ForNumber<Kernel>(request.node.inputs[0].dtype),
                              PackReduce(request.node));
  }
  static KernelDef Define(std::string_view name) {
    return {.name = name, .supports = AllNumbers, .prepare = Prepare};
  }
};

// Holds what a group's elements but one may be multiplied to.
struct OtherElements {
  double product = 1;  // of those that are not 0
  int64_t zeros = 0;

  void Add(double x) {
    if (x == 0) ++zeros;
    if (x != 0) product *= x;
  }
  double Without(double x) const {
    if (x == 0) return zeros == 1 ? product : 0;
    return zeros == 0 ? product / x : 0;
  }
};

template <class T>
struct ProductGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ReduceParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    const T* dy = Data<const T>(context, i, 1);
    T* dx = Data<T>(context, i, 2);
    ForEachIndex(p.kept, {0, 0}, [&](const auto& group) {
      OtherElements others;
      ForEachIndex(p.reduced, {group[0]}, [&](const auto& at) { others.Add(LoadF64(x[at[0]])); });
      const double gradient = LoadF64(dy[group[1]]);
      ForEachIndex(p.reduced, {group[0]}, [&](const auto& at) {
        dx[at[0]] = StoreF64<T>(gradient * others.Without(LoadF64(x[at[0]])));
      });
    });
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

template <template <class> class Grad>
static PreparedKernel PrepareReductionGrad(const KernelRequest& request) {
  return PreparedKernel::Of(ForFloat<Grad>(request.node.inputs[0].dtype), PackReduce(request.node));
}

}  // namespace

KernelDef reduce_sum() { return Reduce<ReduceSum>::Define("reference.reduce_sum"); }
KernelDef reduce_mean() { return Reduce<ReduceMean>::Define("reference.reduce_mean"); }
KernelDef reduce_max() { return Reduce<Max>::Define("reference.reduce_max"); }
KernelDef reduce_max_grad() {
  return {.name = "reference.reduce_max_grad",
          .supports = AllFloat,
          .prepare = PrepareReductionGrad<MaxGrad>};
}
KernelDef reduce_min() { return Reduce<Min>::Define("reference.reduce_min"); }
KernelDef reduce_prod() { return Reduce<Product>::Define("reference.reduce_prod"); }
KernelDef reduce_prod_grad() {
  return {.name = "reference.reduce_prod_grad",
          .supports = AllFloat,
          .prepare = PrepareReductionGrad<ProductGrad>};
}

}  // namespace cgrun::reference
