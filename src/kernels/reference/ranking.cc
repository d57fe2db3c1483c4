// Computes ranking and its gradient, in f64.
#include <cmath>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/losses.h"
#include "src/ops/loss.h"

namespace cgrun::reference {
namespace {

struct RankingParameters {
  int64_t elements = 0;
  double margin = 0;
  bool has_target = false;
};

// 1 or −1; a NaN stays one.
double Side(double target) {
  if (std::isnan(target)) return target;
  return target > 0 ? 1 : -1;
}

// Returns what `a` lacks at element `e`. The number is above 0 if `a` is not larger by the margin.
template <class T>
double Missing(const RankingParameters& p, const T* a, const T* b, double side, int64_t e) {
  return p.margin - side * (LoadF64(a[e]) - LoadF64(b[e]));
}

template <class Target>
double SideOf(const RankingParameters& p, const Target* target, int64_t e) {
  return p.has_target ? Side(LoadF64(target[e])) : 1;
}

template <class T, class Target>
struct RankingLoss {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const RankingParameters*>(i.parameters);
    const T* a = Data<const T>(context, i, 0);
    const T* b = Data<const T>(context, i, 1);
    const Target* target = p.has_target ? Data<const Target>(context, i, 2) : nullptr;
    double sum = 0;
    for (int64_t e = 0; e < p.elements; ++e) {
      const double missing = Missing(p, a, b, SideOf(p, target, e), e);
      sum += missing <= 0 ? 0 : missing;
    }
    *Data<LossOf<T>>(context, i, p.has_target ? 3 : 2) =
        static_cast<LossOf<T>>(sum / static_cast<double>(p.elements));
  }
};

template <class T, class Target>
struct RankingGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const RankingParameters*>(i.parameters);
    const T* a = Data<const T>(context, i, 0);
    const T* b = Data<const T>(context, i, 1);
    const double factor = static_cast<double>(*Data<const LossOf<T>>(context, i, 2)) /
                          static_cast<double>(p.elements);
    const Target* target = p.has_target ? Data<const Target>(context, i, 3) : nullptr;
    T* da = Data<T>(context, i, p.has_target ? 4 : 3);
    for (int64_t e = 0; e < p.elements; ++e) {
      const double side = SideOf(p, target, e), missing = Missing(p, a, b, side, e);
      const double slope = std::isnan(missing) ? missing : missing > 0 ? -side : 0;
      da[e] = StoreF64<T>(slope * factor);
    }
  }
};

// Without a target `Kernel` is that of targets of the scores' type.
template <template <class, class> class Kernel>
static PreparedKernel PrepareRanking(const KernelRequest& request, size_t target) {
  const NodeSignature& node = request.node;
  const bool has_target = node.inputs.size() > target;
  NodeSignature pair;
  pair.inputs = {node.inputs[0], node.inputs[has_target ? target : 0]};
  return PreparedKernel::Of(
      ForPredictionAndTarget<Kernel>(pair),
      RankingParameters{node.inputs[0].shape.Elements(),
                        node.attributes.As<RankingAttributes>().margin, has_target});
}

PreparedKernel PrepareLoss(const KernelRequest& request) {
  return PrepareRanking<RankingLoss>(request, 2);
}
PreparedKernel PrepareRankingGrad(const KernelRequest& request) {
  return PrepareRanking<RankingGrad>(request, 3);
}

}  // namespace

KernelDef ranking() {
  return {.name = "reference.ranking", .supports = FirstInputIsFloat, .prepare = PrepareLoss};
}
KernelDef ranking_grad() {
  return {.name = "reference.ranking_grad",
          .supports = FirstInputIsFloat,
          .prepare = PrepareRankingGrad};
}

}  // namespace cgrun::reference
