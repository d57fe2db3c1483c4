// Optimizers that take the gradient of a linear layer's weight as its product makes it, part of a
// row after another, so that it never lies in memory as a whole. Included once for each target.
#if defined(CGRUN_KERNELS_CPU_UPDATE_BY_PRODUCT_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_UPDATE_BY_PRODUCT_H_
#undef CGRUN_KERNELS_CPU_UPDATE_BY_PRODUCT_H_
#else
#define CGRUN_KERNELS_CPU_UPDATE_BY_PRODUCT_H_
#endif

#include <hwy/cache_control.h>

#include "src/ir/op_def.h"
#include "src/kernels/cpu/optimizer_rule.h"
#include "src/kernels/cpu/weight_product.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

// Rule: as of Optimizer. Inputs of the node are those of the product, then those of the optimizer
// without the gradient.
template <class Rule>
struct UpdateByProduct {
  static constexpr size_t kStates = Rule::kStates;
  static constexpr int kFirstState = 4;
  static constexpr int kStepInput = kFirstState + static_cast<int>(kStates);
  static constexpr int kOutput = kStepInput + (Rule::kCounts ? 1 : 0);
  static constexpr int kWorkspace = kOutput + 1 + static_cast<int>(kStates);

  struct Parameters {
    WeightProduct product;
    double learning_rate_scale = 1;
    Rule rule;
  };

  // The rule at a step, on all of the parameter and its states; x[1] stands for the gradient.
  template <class Step>
  struct Consumer {
    std::array<const float*, kStates + 2> x;
    std::array<float*, kStates + 1> y;
    int64_t columns;
    Step step;

    void Expect(int64_t row, int64_t column, int64_t count) const {
      constexpr int64_t kLine = 16;
      for (int64_t e = 0; e < count; e += kLine) {
        for (const float* pointer : y) hwy::Prefetch(pointer + row * columns + column + e);
      }
    }
    void Take(int64_t row, int64_t column, int64_t count, const float* gradient) const {
      auto from = x;
      auto into = y;
      for (const float*& pointer : from) pointer += row * columns + column;
      for (float*& pointer : into) pointer += row * columns + column;
      from[1] = gradient;
      Update(from, into, 0, count, step);
    }

    // Returns the same as functions. This object must outlive their calls.
    ProductConsumer consumer() const {
      return {.user = this,
              .expect =
                  [](const void* user, int64_t row, int64_t column, int64_t count) {
                    static_cast<const Consumer*>(user)->Expect(row, column, count);
                  },
              .take =
                  [](const void* user, int64_t row, int64_t column, int64_t count,
                     const float* gradient) {
                    static_cast<const Consumer*>(user)->Take(row, column, count, gradient);
                  }};
    }
  };

  static WeightProduct SizesOf(const NodeSignature& node, int threads) {
    return WeightProduct::Of(SignaturesInBody(node)[0], node, threads);
  }

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const float* parameter = Data<const float>(context, i, 2);
    std::array<const float*, kStates + 2> from = {parameter, parameter};
    std::array<float*, kStates + 1> to = {Data<float>(context, i, kOutput)};
    for (size_t s = 0; s < kStates; ++s) {
      from[2 + s] = Data<const float>(context, i, kFirstState + static_cast<int>(s));
      to[1 + s] = Data<float>(context, i, kOutput + 1 + static_cast<int>(s));
    }
    const double rate = *Data<const double>(context, i, 3) * p.learning_rate_scale;
    int64_t steps = 0;
    if constexpr (Rule::kCounts) steps = *Data<const int64_t>(context, i, kStepInput);
    const Consumer<decltype(p.rule.At(rate, steps))> consumer{from, to, p.product.columns,
                                                              p.rule.At(rate, steps)};
    RunWeightProduct(p.product, Data<const float>(context, i, 0), Data<const float>(context, i, 1),
                     Data<float>(context, i, kWorkspace), consumer.consumer());
  }

  static PreparedKernel Prepare(const KernelRequest& request) {
    const auto& a = request.node.body[1].attributes.As<typename Rule::Attributes>();
    return PreparedKernel::Of(
        &Run, Parameters{SizesOf(request.node, request.threads), a.learning_rate_scale, Rule(a)});
  }

  static int64_t WorkspaceBytes(const NodeSignature& node, int threads) {
    return SizesOf(node, threads).workspace() * static_cast<int64_t>(sizeof(float));
  }

  template <OpId kOptimizer>
  static KernelDef Define(std::string_view name) {
    return {
        .name = name,
        .supports = [](const NodeSignature& node) { return IsUpdateByProduct(node, kOptimizer); },
        .workspace_bytes = WorkspaceBytes,
        .prepare = Prepare,
        .flops_per_second = kWeightProductFlopsPerSecond};
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_UPDATE_BY_PRODUCT_H_
