// Defines elementwise kernels on tensors of one shape and number type. A kernel is its formula on
// vectors. Each element is read before it is written, so that all of them can run in place. Each
// target of Highway includes this file once.
#if defined(CGRUN_KERNELS_CPU_MAP_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_MAP_H_
#undef CGRUN_KERNELS_CPU_MAP_H_
#else
#define CGRUN_KERNELS_CPU_MAP_H_
#endif

#include <array>
#include <utility>

#include "src/kernels/cpu/lanes.h"
#include "src/kernels/cpu/number.h"
#include "src/kernels/cpu/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

// f(d, x, y) makes the vectors y[0 … kTo) from x[0 … kFrom), for elements [begin, end). Everything
// is passed by value: behind a reference it would be read again after each store.
template <class D, size_t kFrom, size_t kTo, class T, class F>
HWY_INLINE void Sweep(D d, std::array<const T*, kFrom> from, std::array<T*, kTo> to, int64_t begin,
                      int64_t end, F f) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> x[kFrom], y[kTo];
  int64_t e = begin;
  for (; e + lanes <= end; e += lanes) {
#pragma GCC unroll 8
    for (size_t k = 0; k < kFrom; ++k) x[k] = LoadLanes(d, from[k] + e);
    f(d, x, y);
#pragma GCC unroll 8
    for (size_t k = 0; k < kTo; ++k) StoreLanes(d, y[k], to[k] + e);
  }
  if (e == end) return;
#pragma GCC unroll 8
  for (size_t k = 0; k < kFrom; ++k) x[k] = LoadFirst(d, from[k] + e, end - e);
  f(d, x, y);
#pragma GCC unroll 8
  for (size_t k = 0; k < kTo; ++k) StoreFirst(d, y[k], to[k] + e, end - e);
}

// A formula that takes many instructions has this as a base.
struct Elaborate {};

// A Formula is called as formula(d, x, …) with kInputs vectors. If the node has attributes, the
// formula is made from it. It has a kKeepsZero that is true if it makes 0 (not −0) of zeros, and a
// kNoF64 if it is less exact than f64.
template <class Formula, size_t kInputs>
struct Map {
  struct Parameters {
    int64_t elements = 0;
    int threads = 1;
    Formula formula;
  };

  static constexpr Work kWork =
      std::is_base_of_v<Elaborate, Formula> ? Work::kComputes : Work::kMoves;

  static constexpr bool kNarrow = requires { Formula::kNoF64; };
  static constexpr auto kSupports = kNarrow ? &AllF32OrBF16 : &AllFloat;
  static constexpr bool kKeepsZero = requires { requires Formula::kKeepsZero; };

  static Formula FormulaOf(const NodeSignature& node) {
    if constexpr (std::is_constructible_v<Formula, const NodeSignature&>) return Formula(node);
    if constexpr (!std::is_constructible_v<Formula, const NodeSignature&>) return Formula();
  }

  template <class D, class V, size_t... kInput>
  static HWY_INLINE V Apply(const Formula& formula, D d, const V* x,
                            std::index_sequence<kInput...>) {
    return formula(d, x[kInput]...);
  }

  template <class T>
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    std::array<const T*, kInputs> x;
#pragma GCC unroll 8
    for (size_t k = 0; k < kInputs; ++k) x[k] = Data<const T>(context, i, static_cast<int>(k));
    const std::array<T*, 1> y = {Data<T>(context, i, static_cast<int>(kInputs))};
    Split(p.threads, p.elements, kGrain, [&](int64_t begin, int64_t end) {
      Sweep(TagOf<T>(), x, y, begin, end, [formula = p.formula](auto d, const auto& in, auto& out) {
        out[0] = Apply(formula, d, in, std::make_index_sequence<kInputs>());
      });
    });
  }

  static PreparedKernel Prepare(const KernelRequest& request) {
    const NodeSignature& node = request.node;
    const auto run_of = []<class T>(T*) -> KernelFunction {
      if constexpr (!kNarrow || !std::is_same_v<T, double>) return &Run<T>;
      return nullptr;
    };
    return PreparedKernel::Of(
        ForFloat(node.outputs[0].dtype, run_of),
        Parameters{node.outputs[0].shape.Elements(), ThreadsFor(request, kWork), FormulaOf(node)});
  }

  static KernelDef Define(std::string_view name) {
    return PerElement({.name = name,
                       .supports = kSupports,
                       .prepare = Prepare,
                       .elementwise = true,
                       .keeps_zero = kKeepsZero});
  }
};

template <class Formula>
using Unary = Map<Formula, 1>;
template <class Formula>
using Binary = Map<Formula, 2>;

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_MAP_H_
