// accuracy and top_k_accuracy: counts the classes that come before each label.
#include <cmath>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/labels.h"
#include "src/ops/loss.h"
#include "src/ops/metric.h"

namespace cgrun::reference {
namespace {

struct Parameters {
  int64_t samples = 0;
  int64_t classes = 0;
  int64_t top_k = 1;
};

template <class T>
bool IsRight(const T* logits, int64_t label, const Parameters& p) {
  if (label < 0 || label >= p.classes) return false;
  const double own = LoadF64(logits[label]);
  if (std::isnan(own)) return false;
  int64_t before = 0;
  for (int64_t c = 0; c < p.classes; ++c) {
    const double other = LoadF64(logits[c]);
    before += other > own || std::isnan(other) || (other == own && c < label);
  }
  return before < p.top_k;
}

template <class T, class Label>
struct Accuracy {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const T* logits = Data<const T>(context, i, 0);
    const Label* labels = Data<const Label>(context, i, 1);
    int64_t correct = 0;
    for (int64_t n = 0; n < p.samples; ++n) {
      correct += IsRight(logits + n * p.classes, static_cast<int64_t>(labels[n]), p);
    }
    *Data<int64_t>(context, i, 2) = correct;
  }
};

PreparedKernel PrepareFor(const KernelRequest& request, int64_t top_k) {
  const Shape& logits = request.node.inputs[0].shape;
  return PreparedKernel::Of(ForLogitsAndLabels<Accuracy>(request.node),
                            Parameters{logits[0].size, logits[1].size, top_k});
}

PreparedKernel Prepare(const KernelRequest& request) {
  return PrepareFor(request, request.node.attributes.As<AccuracyAttributes>().top_k);
}

PreparedKernel PrepareTopK(const KernelRequest& request) {
  return PrepareFor(request, request.node.attributes.As<TopKAccuracyAttributes>().k);
}

}  // namespace

KernelDef accuracy() {
  return {.name = "reference.accuracy", .supports = FirstInputIsFloat, .prepare = Prepare};
}

KernelDef top_k_accuracy() {
  return {
      .name = "reference.top_k_accuracy", .supports = FirstInputIsFloat, .prepare = PrepareTopK};
}

}  // namespace cgrun::reference
