// Runs optimizers as one sweep over memory. A kernel is the rule of one element, in the order of
// the reference kernels, for the same bits. Each target of Highway includes this file once.
#if defined(CGRUN_KERNELS_CPU_OPTIMIZER_RULE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_OPTIMIZER_RULE_H_
#undef CGRUN_KERNELS_CPU_OPTIMIZER_RULE_H_
#else
#define CGRUN_KERNELS_CPU_OPTIMIZER_RULE_H_
#endif

#include "src/kernels/cpu/map.h"
#include "src/kernels/cpu/sums.h"
#include "src/kernels/cpu/vector_math.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

template <class D, class V>
HWY_INLINE V Times(D d, double a, V b) {
  return hn::Mul(Constant(d, a), b);
}

// The gradient with what regularisation adds to it: gradient + l2·w + l1·sign(w).
struct Regularization {
  double l1 = 0;
  double l2 = 0;

  template <class D, class V>
  HWY_INLINE V Add(D d, V gradient, V w) const {
    return hn::Add(hn::Add(gradient, Times(d, l2, w)), Times(d, l1, SignOf(d, w)));
  }
  bool adds() const { return l1 != 0 || l2 != 0; }
};

// Adds nothing. It serves rules of so few operations that adding would take most of the time.
struct NoRegularization {
  explicit NoRegularization(const Regularization&) {}
  template <class D, class V>
  HWY_INLINE V Add(D, V gradient, V) const {
    return gradient;
  }
};

template <class Attributes>
Regularization RegularizationOf(const Attributes& a) {
  return {a.l1, a.weight_decay + a.l2};
}

inline bool SupportsUpdate(const NodeSignature& node) {
  const DType dtype = node.inputs[0].dtype;
  return dtype == DType::kF32 || dtype == DType::kF64;
}

// A step on elements [begin, end). A function of its own, so that each rule is compiled once for
// both of its uses.
template <class T, size_t kFrom, size_t kTo, class Step>
HWY_NOINLINE void Update(std::array<const T*, kFrom> from, std::array<T*, kTo> to, int64_t begin,
                         int64_t end, Step step) {
  Sweep(TagOf<T>(), from, to, begin, end, step);
}

// A Rule is made of Rule::Attributes. It has kStates states. kCounts says whether the steps so far
// come after them. At(rate, steps) is the rule at a step. Called as f(d, x, y) with x = parameter,
// gradient, states, it makes y = parameter, states.
template <class Rule>
struct Optimizer {
  static constexpr size_t kStates = Rule::kStates;
  static constexpr int kStepInput = 3 + static_cast<int>(kStates);
  static constexpr int kOutput = kStepInput + (Rule::kCounts ? 1 : 0);

  struct Parameters {
    int64_t elements = 0;
    double learning_rate_scale = 1;
    Rule rule;
    int threads = 1;
  };

  template <class T>
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    std::array<const T*, kStates + 2> from = {Data<const T>(context, i, 0),
                                              Data<const T>(context, i, 1)};
    std::array<T*, kStates + 1> to = {Data<T>(context, i, kOutput)};
    for (size_t s = 0; s < kStates; ++s) {
      from[2 + s] = Data<const T>(context, i, 3 + static_cast<int>(s));
      to[1 + s] = Data<T>(context, i, kOutput + 1 + static_cast<int>(s));
    }
    const double rate = *Data<const double>(context, i, 2) * p.learning_rate_scale;
    int64_t steps = 0;
    if constexpr (Rule::kCounts) steps = *Data<const int64_t>(context, i, kStepInput);
    const auto step = p.rule.At(rate, steps);
    Split(p.threads, p.elements, kGrain,
          [=](int64_t begin, int64_t end) { Update(from, to, begin, end, step); });
  }

  static PreparedKernel Prepare(const KernelRequest& request) {
    const TensorType& type = request.node.inputs[0];
    const auto& a = request.node.attributes.As<typename Rule::Attributes>();
    return PreparedKernel::Of(type.dtype == DType::kF32 ? &Run<float> : &Run<double>,
                              Parameters{type.shape.Elements(), a.learning_rate_scale, Rule(a),
                                         ThreadsFor(request, Work::kComputes)});
  }

  static KernelDef Define(std::string_view name) {
    return PerElement(
        {.name = name, .supports = SupportsUpdate, .prepare = Prepare, .elementwise = true});
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_OPTIMIZER_RULE_H_
