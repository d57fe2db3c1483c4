// Computes compare, where and its gradient, of floating-point numbers.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/choice.cc"
#include <hwy/foreach_target.h>
//
#include <string>

#include "src/kernels/cpu/broadcasting.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/vector_math.h"
#include "src/ops/compare.h"
#include "src/ops/where.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

// Holds the result of the relation, as 1 or 0, for each way in which two numbers can lie.
struct Relation {
  static constexpr bool kToBool = true;

  explicit Relation(const NodeSignature& node) {
    const std::string& is = node.attributes.As<CompareAttributes>().is;
    less = is == "less" || is == "less_or_equal" || is == "not_equal";
    equal = is == "equal" || is == "less_or_equal" || is == "greater_or_equal";
    greater = is == "greater" || is == "greater_or_equal" || is == "not_equal";
    unordered = is == "not_equal";
  }

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    const V otherwise = hn::IfThenElse(hn::Gt(a, b), Constant(d, greater), Constant(d, unordered));
    const V not_less = hn::IfThenElse(hn::Eq(a, b), Constant(d, equal), otherwise);
    return hn::IfThenElse(hn::Lt(a, b), Constant(d, less), not_less);
  }

  double less, equal, greater, unordered;
};

struct Where {
  static constexpr bool kOfCondition = true, kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V condition, V a, V b) const {
    return hn::IfThenElse(hn::Gt(condition, hn::Zero(d)), a, b);
  }
};

struct WhereGrad {
  static constexpr bool kOfCondition = true, kKeepsZero = true;

  explicit WhereGrad(const NodeSignature& node)
      : taken_if(node.attributes.As<WhereGradAttributes>().taken_if) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V condition, V dy) const {
    return hn::IfThenElseZero(hn::Eq(condition, Constant(d, taken_if)), dy);
  }

  double taken_if;
};

KernelDef compare() { return Broadcasting<Relation>::Define("cpu.compare"); }
KernelDef where() { return Broadcasting<Where, 3>::Define("cpu.where"); }
KernelDef where_grad() { return Broadcasting<WhereGrad>::Define("cpu.where_grad"); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(compare)
CGRUN_CPU_KERNEL(where)
CGRUN_CPU_KERNEL(where_grad)

}  // namespace cgrun::cpu
#endif
