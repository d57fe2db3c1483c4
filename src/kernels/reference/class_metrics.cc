// Counts classes for per_class_accuracy, precision, recall, f1 and confusion_matrix.
#include <algorithm>
#include <cmath>

#include "src/kernels/axis_groups.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/losses.h"
#include "src/kernels/reference/number.h"
#include "src/ops/metric.h"

namespace cgrun::reference {
namespace {

// Returns the class of the largest logit of a group, the first of equal ones. If one is NaN,
// returns −1.
template <class T>
int64_t FoundClass(const T* logits, const AxisGroups& groups) {
  int64_t best = 0;
  for (int64_t c = 0; c < groups.size; ++c) {
    const double logit = LoadF64(logits[c * groups.stride]);
    if (std::isnan(logit)) return -1;
    if (logit > LoadF64(logits[best * groups.stride])) best = c;
  }
  return best;
}

// Calls the function for each pair (found class, label) of a batch. Either is −1 if there is none.
// The parameters are the logits as groups of classes, one for each label in the labels' order.
template <class T, class Label, class F>
void ForEachSample(const RunContext& context, const Instruction& i, F f) {
  const auto& groups = *static_cast<const AxisGroups*>(i.parameters);
  const T* logits = Data<const T>(context, i, 0);
  const Label* labels = Data<const Label>(context, i, 1);
  for (int64_t g = 0; g < groups.count; ++g) {
    const auto label = static_cast<int64_t>(labels[g]);
    f(FoundClass(logits + groups.First(g), groups), label < groups.size ? label : -1);
  }
}

// counts[kRightRow], counts[kFoundRow] and counts[kActualRow] have `classes` numbers each.
void Count(int64_t* counts, int64_t classes, int64_t found, int64_t label) {
  if (found >= 0) ++counts[kFoundRow * classes + found];
  if (label >= 0) ++counts[kActualRow * classes + label];
  if (label >= 0 && found == label) ++counts[kRightRow * classes + label];
}

template <class T, class Label>
struct Classes {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const int64_t classes = static_cast<const AxisGroups*>(i.parameters)->size;
    int64_t* counts = Data<int64_t>(context, i, 2);
    std::fill_n(counts, kClassRows * classes, 0);
    ForEachSample<T, Label>(context, i, [=](int64_t found, int64_t label) {
      if (label >= 0) Count(counts, classes, found, label);
    });
  }
};

template <class T, class Label>
struct Confusion {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const int64_t classes = static_cast<const AxisGroups*>(i.parameters)->size;
    int64_t* count = Data<int64_t>(context, i, 2);
    std::fill_n(count, classes * classes, 0);
    ForEachSample<T, Label>(context, i, [=](int64_t found, int64_t label) {
      if (found >= 0 && label >= 0) ++count[label * classes + found];
    });
  }
};

struct ScoreParameters {
  int64_t samples = 0;
  double threshold = 0;
};

// Counts one class, the positive one.
template <class T, class Target>
struct Scores {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ScoreParameters*>(i.parameters);
    const T* scores = Data<const T>(context, i, 0);
    const Target* targets = Data<const Target>(context, i, 1);
    int64_t* counts = Data<int64_t>(context, i, 2);
    std::fill_n(counts, kClassRows, 0);
    for (int64_t n = 0; n < p.samples; ++n) {
      const bool found = LoadF64(scores[n]) > p.threshold, positive = LoadF64(targets[n]) > 0;
      Count(counts, 1, found ? 0 : -1, positive ? 0 : -1);
    }
  }
};

template <template <class, class> class Kernel>
static PreparedKernel PrepareClasses(const KernelRequest& request) {
  return PreparedKernel::Of(ForLogitsAndLabels<Kernel>(request.node),
                            GroupsAlong(request.node.inputs[0].shape, 1));
}

PreparedKernel PrepareAny(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  if (!IsScore(node.inputs[0].shape)) return PrepareClasses<Classes>(request);
  return PreparedKernel::Of(ForPredictionAndTarget<Scores>(node),
                            ScoreParameters{node.inputs[0].shape[0].size,
                                            node.attributes.As<ClassMetricAttributes>().threshold});
}

}  // namespace

KernelDef per_class_accuracy() {
  return {.name = "reference.per_class_accuracy",
          .supports = FirstInputIsFloat,
          .prepare = PrepareClasses<Classes>};
}
KernelDef confusion_matrix() {
  return {.name = "reference.confusion_matrix",
          .supports = FirstInputIsFloat,
          .prepare = PrepareClasses<Confusion>};
}
KernelDef precision() {
  return {.name = "reference.precision", .supports = FirstInputIsFloat, .prepare = PrepareAny};
}
KernelDef recall() {
  return {.name = "reference.recall", .supports = FirstInputIsFloat, .prepare = PrepareAny};
}
KernelDef f1() {
  return {.name = "reference.f1", .supports = FirstInputIsFloat, .prepare = PrepareAny};
}

}  // namespace cgrun::reference
