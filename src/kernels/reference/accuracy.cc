// Computes accuracy and top_k_accuracy: it counts the classes that come before each label.
#include <algorithm>
#include <utility>

#include "src/kernels/loss_formulas.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/ops/loss.h"
#include "src/ops/metric.h"

namespace cgrun::reference {
namespace {

struct AccuracyParameters {
  int64_t samples = 0;
  int64_t classes = 0;
  int64_t places = 1;  // labels of a sample; a class's logits of all of them stand in a row
  int64_t top_k = 1;
  bool counts_labels = false;
  IntList ignored;  // labels
};

template <class T, class Label>
struct Accuracy {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const AccuracyParameters*>(i.parameters);
    const T* logits = Data<const T>(context, i, 0);
    const Label* labels = Data<const Label>(context, i, 1);
    int64_t correct = 0, counted = 0;
    for (int64_t l = 0; l < p.samples * p.places; ++l) {
      const auto label = static_cast<int64_t>(labels[l]);
      if (std::ranges::find(p.ignored, label) != p.ignored.end()) continue;
      ++counted;
      const T* of_place = logits + l / p.places * p.classes * p.places + l % p.places;
      correct += formulas::IsAmongFirst(of_place, p.places, p.classes, label, p.top_k);
    }
    int64_t* sums = Data<int64_t>(context, i, 2);
    sums[0] = correct;
    if (p.counts_labels) sums[1] = counted;
  }
};

PreparedKernel PrepareAccuracyFor(const KernelRequest& request, int64_t top_k,
                                  IntList ignored = {}) {
  const Shape& logits = request.node.inputs[0].shape;
  const int64_t labels = request.node.inputs[1].shape.Elements();
  return PreparedKernel::Of(
      ForLogitsAndLabels<Accuracy>(request.node),
      AccuracyParameters{logits[0].size, logits[1].size, labels / logits[0].size, top_k,
                         request.node.outputs[0].shape.rank() > 0, std::move(ignored)});
}

PreparedKernel PrepareAccuracy(const KernelRequest& request) {
  const auto& [top_k, ignored] = request.node.attributes.As<AccuracyAttributes>();
  return PrepareAccuracyFor(request, top_k, ignored);
}

PreparedKernel PrepareTopK(const KernelRequest& request) {
  return PrepareAccuracyFor(request, request.node.attributes.As<TopKAccuracyAttributes>().k);
}

}  // namespace

KernelDef accuracy() {
  return {.name = "reference.accuracy", .supports = FirstInputIsFloat, .prepare = PrepareAccuracy};
}

KernelDef top_k_accuracy() {
  return {
      .name = "reference.top_k_accuracy", .supports = FirstInputIsFloat, .prepare = PrepareTopK};
}

}  // namespace cgrun::reference
