// Defines losses that are means over the elements of an f32 prediction and a target, and their
// gradients. A kernel is its formula on vectors. The workspace holds the sums of pieces until they
// are added in order. The pieces depend on the number of elements alone. Each target of Highway
// includes this file once.
#if defined(CGRUN_KERNELS_CPU_MEAN_LOSS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_MEAN_LOSS_H_
#undef CGRUN_KERNELS_CPU_MEAN_LOSS_H_
#else
#define CGRUN_KERNELS_CPU_MEAN_LOSS_H_
#endif

#include <limits>

#include "src/kernels/cpu/map.h"
#include "src/kernels/cpu/rows.h"
#include "src/kernels/cpu/sums.h"
#include "src/kernels/cpu/vector_math.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

// The base of formulas. One has Loss(d, prediction, target), which is computed in f64, or
// Slope(d, prediction, target), in f32, or both.
struct LossFormula {
  static constexpr bool kAnyTarget = false;            // bool and integers, too
  static constexpr bool kTargetIsProbability = false;  // integers but 0 and 1 are none
  double loss_scale = 1;                               // the loss is the mean times this
  double slope_scale = 1;                              // the gradient is the slope times this
};

template <class Formula>
struct MeanLoss {
  struct Parameters {
    int64_t elements = 0;
    Formula formula;
    int threads = 1;
  };

  template <class Target, class D, class V>
  static HWY_INLINE V Checked(D d, V target) {
    if constexpr (!Formula::kTargetIsProbability || !std::is_integral_v<Target>) return target;
    const auto known = hn::Or(hn::Eq(target, hn::Zero(d)), hn::Eq(target, Constant(d, 1)));
    return hn::IfThenElse(known, target, Constant(d, std::numeric_limits<double>::quiet_NaN()));
  }

  template <class Target>
  static HWY_INLINE VF64 LossAt(const Formula& f, const float* prediction, const Target* target) {
    const F64 d;
    return f.Loss(d, LoadLanes(d, prediction), Checked<Target>(d, LoadLanes(d, target)));
  }

  template <class Target>
  static double SumOfPiece(const Formula& f, const float* prediction, const Target* target,
                           int64_t count) {
    constexpr auto kHalf = static_cast<int64_t>(kF64Lanes), kStep = 4 * kHalf;
    const F64 d;
    Sum a, b;
    int64_t e = 0;
    for (; e + kStep <= count; e += kStep) {
      const float* p = prediction + e;
      const Target* t = target + e;
      a.AddWide(LossAt(f, p, t), LossAt(f, p + kHalf, t + kHalf));
      b.AddWide(LossAt(f, p + 2 * kHalf, t + 2 * kHalf), LossAt(f, p + 3 * kHalf, t + 3 * kHalf));
    }
    for (; e < count; e += kHalf) {
      const int64_t n = std::min(kHalf, count - e);
      const VF64 known = Checked<Target>(d, LoadSome(d, target + e, n));
      const VF64 loss = f.Loss(d, LoadSome(d, prediction + e, n), known);
      const auto in = hn::FirstN(d, static_cast<size_t>(n));
      a.low = hn::Add(a.low, hn::IfThenElseZero(in, loss));
    }
    a.Join(b);
    return a.Total();
  }

  template <class Target>
  static void Loss(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const float* prediction = Data<const float>(context, i, 0);
    const Target* target = Data<const Target>(context, i, 1);
    double* sums = Data<double>(context, i, 3);
    Split(p.threads, SumPieces(p.elements), 1, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        const int64_t first = piece * kSumPiece, count = std::min(kSumPiece, p.elements - first);
        sums[piece] = SumOfPiece(p.formula, prediction + first, target + first, count);
      }
    });
    double total = 0;
    for (int64_t piece = 0; piece < SumPieces(p.elements); ++piece) total += sums[piece];
    const double mean = total * p.formula.loss_scale / static_cast<double>(p.elements);
    *Data<float>(context, i, 2) = static_cast<float>(mean);
  }

  template <class Target>
  static void Grad(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const float* prediction = Data<const float>(context, i, 0);
    const Target* target = Data<const Target>(context, i, 1);
    const double dloss =
        p.formula.slope_scale * static_cast<double>(*Data<const float>(context, i, 2));
    const auto factor = static_cast<float>(dloss / static_cast<double>(p.elements));
    float* dx = Data<float>(context, i, 3);
    Split(p.threads, p.elements, kGrain, [&](int64_t begin, int64_t end) {
      const F32 d;
      SweepRow(
          d, dx, begin, end,
          [factor, f = p.formula](auto tag, auto x, auto t) {
            return hn::Mul(f.Slope(tag, x, Checked<Target>(tag, t)), hn::Set(tag, factor));
          },
          Along<F32, float>(d, prediction, 1), Along<F32, Target>(d, target, 1));
    });
  }

  // choose(Target*) for the type of the target; null where there is no kernel for it.
  template <class Choose>
  static KernelFunction ForTarget(DType dtype, const Choose& choose) {
    if (dtype == DType::kF32) return choose(static_cast<float*>(nullptr));
    if constexpr (Formula::kAnyTarget) {
      if (dtype == DType::kBool) return choose(static_cast<bool*>(nullptr));
      if (dtype == DType::kU8) return choose(static_cast<uint8_t*>(nullptr));
      if (dtype == DType::kI32) return choose(static_cast<int32_t*>(nullptr));
      if (dtype == DType::kI64) return choose(static_cast<int64_t*>(nullptr));
    }
    return nullptr;
  }

  static bool Supports(const NodeSignature& node) {
    const DType target = node.inputs[1].dtype;
    return node.inputs[0].dtype == DType::kF32 &&
           (target == DType::kF32 || (Formula::kAnyTarget && !IsFloat(target)));
  }

  static int64_t WorkspaceBytes(const NodeSignature& node, int) {
    return SumPieces(node.inputs[0].shape.Elements()) * static_cast<int64_t>(sizeof(double));
  }

  static PreparedKernel Prepare(const KernelRequest& request, KernelFunction run) {
    CGRUN_CHECK(run != nullptr) << "no kernel for " << Name(request.node.inputs[1].dtype);
    return PreparedKernel::Of(run, Parameters{request.node.inputs[0].shape.Elements(),
                                              Map<Formula, 2>::FormulaOf(request.node),
                                              ThreadsFor(request, Map<Formula, 2>::kWork)});
  }
  static PreparedKernel PrepareLoss(const KernelRequest& request) {
    return Prepare(request, ForTarget(request.node.inputs[1].dtype,
                                      []<class T>(T*) -> KernelFunction { return &Loss<T>; }));
  }
  static PreparedKernel PrepareGrad(const KernelRequest& request) {
    return Prepare(request, ForTarget(request.node.inputs[1].dtype,
                                      []<class T>(T*) -> KernelFunction { return &Grad<T>; }));
  }

  static KernelDef DefineLoss(std::string_view name) {
    return PerElement({.name = name,
                       .supports = Supports,
                       .workspace_bytes = WorkspaceBytes,
                       .prepare = PrepareLoss});
  }
  static KernelDef DefineGrad(std::string_view name) {
    return PerElement({.name = name,
                       .supports = Supports,
                       .prepare = PrepareGrad,
                       .elementwise = true,
                       .counts_elements = true});
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_MEAN_LOSS_H_
