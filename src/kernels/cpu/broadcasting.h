// Defines elementwise kernels whose operands are broadcast. A kernel is its formula on vectors, as
// in map.h. If the shapes are equal, there is one loop. If an operand is broadcast, there is a loop
// for each row. Each target of Highway includes this file once.
#if defined(CGRUN_KERNELS_CPU_BROADCASTING_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_BROADCASTING_H_
#undef CGRUN_KERNELS_CPU_BROADCASTING_H_
#else
#define CGRUN_KERNELS_CPU_BROADCASTING_H_
#endif

#include "src/kernels/cpu/map.h"
#include "src/kernels/cpu/rows.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

// A Formula has what Map takes from it, and two constants: kOfCondition, whether its first operand
// is bool, and kToBool, whether its result is. In vectors, bool is 1 or 0.
template <class Formula, size_t kInputs = 2>
struct Broadcasting {
  static constexpr bool kOfCondition = requires { Formula::kOfCondition; };
  static constexpr bool kToBool = requires { Formula::kToBool; };
  using Same = Map<Formula, kInputs>;
  using Strides = std::array<std::vector<int64_t>, kInputs>;

  template <class T, size_t k>
  using Input = std::conditional_t<kOfCondition && k == 0, bool, T>;
  template <class T>
  using Output = std::conditional_t<kToBool, bool, T>;

  struct Parameters {
    StridedSpace<kInputs + 1> space;  // offsets of the operands, then of y
    int threads = 1;
    Formula formula;
  };

  template <class T, size_t... k>
  static void Walk(const RunContext& context, const Instruction& i,
                   std::index_sequence<k...>) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const void* const x[] = {Data<const void>(context, i, static_cast<int>(k))...};
    auto* y = Data<Output<T>>(context, i, static_cast<int>(kInputs));
    SplitRows(p.space, {}, p.threads, [&](const auto& at, int64_t begin, int64_t end) {
      const TagOf<T> d;
      SweepRow(d, y + at[kInputs], begin, end, p.formula,
               Along<TagOf<T>, Input<T, k>>(d, static_cast<const Input<T, k>*>(x[k]) + at[k],
                                            p.space.inner.strides[k])...);
    });
  }

  template <class T>
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    Walk<T>(context, i, std::make_index_sequence<kInputs>());
  }

  // `strides` holds those of the operands along y.
  static PreparedKernel PrepareStrided(const KernelRequest& request, const Strides& strides) {
    const NodeSignature& node = request.node;
    std::array<std::vector<int64_t>, kInputs + 1> all;
    std::copy(strides.begin(), strides.end(), all.begin());
    all[kInputs] = RowMajorStrides(node.outputs[0].shape);
    const auto run_of = []<class T>(T*) -> KernelFunction {
      if constexpr (!Same::kNarrow || !std::is_same_v<T, double>) return &Run<T>;
      return nullptr;
    };
    return PreparedKernel::Of(ForFloat(node.inputs[kInputs - 1].dtype, run_of),
                              Parameters{MakeSpace<kInputs + 1>(node.outputs[0].shape.Sizes(), all),
                                         ThreadsFor(request, Same::kWork), Same::FormulaOf(node)});
  }

  static PreparedKernel Prepare(const KernelRequest& request) {
    const NodeSignature& node = request.node;
    const Shape& y = node.outputs[0].shape;
    if constexpr (!kOfCondition && !kToBool) {
      const auto same = [&](const TensorType& type) { return type.shape == y; };
      if (std::all_of(node.inputs.begin(), node.inputs.end(), same)) return Same::Prepare(request);
    }
    Strides strides;
    for (size_t k = 0; k < kInputs; ++k) {
      strides[k] = BroadcastStrides(node.inputs[k].shape, y);
    }
    return PrepareStrided(request, strides);
  }

  // Says whether a formula with bool operands supports the node. Its other operands must share one
  // floating-point type.
  static bool SupportsMixed(const NodeSignature& node) {
    NodeSignature floats;
    floats.inputs = {node.inputs.begin() + (kOfCondition ? 1 : 0), node.inputs.end()};
    if (!kToBool) floats.outputs = node.outputs;
    return AllFloat(floats);
  }

  static KernelDef Define(std::string_view name) {
    return PerElement({.name = name,
                       .supports = kOfCondition || kToBool ? SupportsMixed : Same::kSupports,
                       .prepare = Prepare,
                       .elementwise = true,
                       .keeps_zero = Same::kKeepsZero});
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_BROADCASTING_H_
