// add, sub, mul, div and bias: one loop where the shapes are equal, a loop a row where an operand
// is broadcast. Along a row, each operand goes on or stays at one number.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/binary.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/map.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Plus {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};

struct Minus {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Sub(a, b);
  }
};

struct Times {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};

struct Over {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Div(a, b);
  }
};

struct Parameters {
  StridedSpace<3> space;  // offsets of a, b and y
  int threads = 1;
};

template <class Formula>
struct Broadcasting {
  // Elements [begin, end) of a row; kA and kB say which operands go on along it.
  template <bool kA, bool kB, class T>
  static HWY_INLINE void Row(const T* a, const T* b, T* y, int64_t begin, int64_t end) {
    const TagOf<T> d;
    using C = hn::TFromD<TagOf<T>>;
    const std::array<T*, 1> to = {y};
    if constexpr (kA && kB) {
      Sweep(d, std::array{a, b}, to, begin, end,
            [](auto tag, const auto& x, auto& out) { out[0] = Formula()(tag, x[0], x[1]); });
    } else if constexpr (kA) {
      const auto fixed = hn::Set(d, static_cast<C>(*b));
      Sweep(d, std::array{a}, to, begin, end,
            [=](auto tag, const auto& x, auto& out) { out[0] = Formula()(tag, x[0], fixed); });
    } else {
      const auto fixed = hn::Set(d, static_cast<C>(*a));
      Sweep(d, std::array{b}, to, begin, end,
            [=](auto tag, const auto& x, auto& out) { out[0] = Formula()(tag, fixed, x[0]); });
    }
  }

  template <bool kA, bool kB, class T>
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const T* a = Data<const T>(context, i, 0);
    const T* b = Data<const T>(context, i, 1);
    T* y = Data<T>(context, i, 2);
    SplitRows(p.space, {0, 0, 0}, p.threads, [=](const auto& at, int64_t begin, int64_t end) {
      Row<kA, kB>(a + at[0], b + at[1], y + at[2], begin, end);
    });
  }

  // The operands' strides along y.
  static PreparedKernel PrepareStrided(const KernelRequest& request, const std::vector<int64_t>& a,
                                       const std::vector<int64_t>& b) {
    const TensorType& y = request.node.outputs[0];
    Parameters p{reference::MakeSpace<3>(y.shape.Sizes(), {a, b, RowMajorStrides(y.shape)}),
                 ThreadsFor(request)};
    const auto& strides = p.space.inner.strides;  // each 0 or 1
    const KernelFunction run = ForFloat(y.dtype, [&]<class T>(T*) -> KernelFunction {
      if (strides[0] == strides[1]) return &Run<true, true, T>;
      return strides[0] == 1 ? &Run<true, false, T> : &Run<false, true, T>;
    });
    return PreparedKernel::Of(run, std::move(p));
  }

  static PreparedKernel Prepare(const KernelRequest& request) {
    const NodeSignature& node = request.node;
    const Shape &a = node.inputs[0].shape, &b = node.inputs[1].shape, &y = node.outputs[0].shape;
    if (a == y && b == y) return Binary<Formula>::Prepare(request);
    return PrepareStrided(request, reference::BroadcastStrides(a, y),
                          reference::BroadcastStrides(b, y));
  }

  static KernelDef Define(std::string_view name) {
    KernelDef def = Binary<Formula>::Define(name);
    def.prepare = Prepare;
    return def;
  }
};

PreparedKernel PrepareBias(const KernelRequest& request) {
  const Shape& x = request.node.inputs[0].shape;
  std::vector<int64_t> channels(static_cast<size_t>(x.rank()), 0);
  channels[1] = x[1].size > 1 ? 1 : 0;
  return Broadcasting<Plus>::PrepareStrided(request, RowMajorStrides(x), channels);
}

KernelDef add() { return Broadcasting<Plus>::Define("cpu.add"); }
KernelDef sub() { return Broadcasting<Minus>::Define("cpu.sub"); }
KernelDef mul() { return Broadcasting<Times>::Define("cpu.mul"); }
KernelDef div() { return Broadcasting<Over>::Define("cpu.div"); }
KernelDef bias() {
  KernelDef def{.name = "cpu.bias", .supports = AllFloat, .prepare = PrepareBias};
  def.flops_per_second = kElementsPerSecond;
  return def;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(add)
CGRUN_CPU_KERNEL(sub)
CGRUN_CPU_KERNEL(mul)
CGRUN_CPU_KERNEL(div)
CGRUN_CPU_KERNEL(bias)

}  // namespace cgrun::cpu
#endif
