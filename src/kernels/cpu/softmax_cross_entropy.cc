// Computes softmax_cross_entropy and its gradient of f32. If the classes are the last axis that is
// longer than 1, it takes a row of logits at a time. Otherwise it takes as many labels side by side
// as a vector has lanes. The workspace holds the labels' losses until they are added in order.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/softmax_cross_entropy.cc"
#include <hwy/foreach_target.h>
//
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/labels.h"
#include "src/kernels/cpu/over_groups.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/softmax_row.h"
#include "src/ops/loss.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kLanes = static_cast<int64_t>(kF32Lanes);

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Parameters {
  AxisGroups groups;  // of classes
  double smoothing = 0;
  LabelReader label = nullptr;
  RealList weights;  // of classes; empty: 1 each
  IntList ignored;   // labels
  double mean_weight = 1;
  int threads = 1;

  int64_t classes() const { return groups.size; }
  bool Knows(int64_t label) const { return label >= 0 && label < groups.size; }
  bool Ignores(int64_t label) const { return std::ranges::find(ignored, label) != ignored.end(); }
  double Weight(int64_t c) const { return weights.empty() ? 1 : weights[static_cast<size_t>(c)]; }
  // The part of a target that every class has.
  double Everywhere() const { return smoothing / static_cast<double>(groups.size); }
  // Σ w·t of a label that is known.
  double TargetSum(int64_t label) const {
    if (weights.empty()) return 1;
    return smoothing * mean_weight + (1 - smoothing) * Weight(label);
  }
};

// Σ w·(x − max), w being the class weights. A weight of 0 takes part in no product.
double WeightedDifferences(const RealList& weights, const float* x, float max) {
  double sum = 0;
  for (size_t c = 0; c < weights.size(); ++c) {
    if (weights[c] == 0) continue;
    sum += weights[c] * (static_cast<double>(x[c]) - static_cast<double>(max));
  }
  return sum;
}

// Σ (x − max).
double Differences(const float* x, int64_t count, float max) {
  const F32 d;
  const VF32 largest = hn::Set(d, max);
  Sum sum;
  int64_t e = 0;
  for (; e + kLanes <= count; e += kLanes) sum.Add(hn::Sub(hn::LoadU(d, x + e), largest));
  if (e < count) sum.Add(hn::Sub(LoadFirstOr(d, x + e, count - e, largest), largest));
  return sum.Total();
}

// −Σ w·t·ln p, from the label's x − max, Σ e^(x − max), and Σ w·(x − max) where there is smoothing;
// 0 for an ignored label. A factor of 0 takes part in no product: 0·∞ would be NaN.
double LossOf(const Parameters& p, int64_t label, double distance, double sum, double differences) {
  if (p.Ignores(label)) return 0;
  if (!p.Knows(label)) return kNaN;
  const double log_sum = std::log(sum), of_label = (1 - p.smoothing) * p.Weight(label);
  double loss = 0;
  if (of_label > 0) loss += of_label * (log_sum - distance);
  if (p.smoothing * p.mean_weight > 0) {
    loss +=
        p.smoothing * (p.mean_weight * log_sum - differences / static_cast<double>(p.classes()));
  }
  return loss;
}

// Turns logits into probabilities; returns the loss. x may be the probabilities' place.
double LossOfRow(const Parameters& p, const float* x, int64_t label, float* probabilities) {
  const int64_t classes = p.classes();
  const float max = LargestOf(x, classes);
  const double distance =
      p.Knows(label) ? static_cast<double>(x[label]) - static_cast<double>(max) : kNaN;
  double differences = 0;
  if (p.smoothing > 0) {
    differences =
        p.weights.empty() ? Differences(x, classes, max) : WeightedDifferences(p.weights, x, max);
  }
  const double sum = StoreExponentials(x, classes, max, probabilities);
  MultiplyRow(probabilities, classes, static_cast<float>(1 / sum));
  return LossOf(p, label, distance, sum, differences);
}

// Logits, labels and their losses side by side: lane l belongs to label `group` + l.
class LossOfColumns {
 public:
  LossOfColumns(const Parameters& p, const std::byte* labels, double* losses)
      : p_(p), labels_(labels), losses_(losses) {}

  template <class LoadColumn, class StoreColumn>
  HWY_INLINE void Run(const float* x, int64_t group, int64_t lanes, LoadColumn load,
                      StoreColumn store) const {
    const VF32 max = LargestOfColumns(p_.classes(), load);
    const Sum exponentials = SumOfColumnExponentials(p_.classes(), load, max);
    HWY_ALIGN float maxima[kF32Lanes];
    HWY_ALIGN double sums[kF32Lanes], differences[kF32Lanes] = {};
    hn::StoreU(max, F32(), maxima);
    exponentials.Lanes(sums);
    if (p_.smoothing > 0) AddDifferences(load, max, differences);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t label = p_.label(labels_, group + lane);
      const double distance = p_.Knows(label)
                                  ? static_cast<double>(x[label * p_.groups.stride + lane]) -
                                        static_cast<double>(maxima[lane])
                                  : kNaN;
      losses_[group + lane] = LossOf(p_, label, distance, sums[lane], differences[lane]);
    }
    const VF64 one = hn::Set(F64(), 1);
    const VF32 factor =
        RoundedToF32(hn::Div(one, exponentials.low), hn::Div(one, exponentials.high));
    for (int64_t c = 0; c < p_.classes(); ++c) {
      store(c, hn::Mul(ExponentialOfNegative(F32(), hn::Sub(load(0, c), max)), factor));
    }
  }

 private:
  // Adds Σ w·(x − max) of each lane to `differences`.
  template <class LoadColumn>
  HWY_INLINE void AddDifferences(LoadColumn load, VF32 max, double* differences) const {
    Sum sum;
    for (int64_t c = 0; c < p_.classes(); ++c) {
      const double weight = p_.Weight(c);
      if (weight == 0) continue;
      const VF32 difference = hn::Sub(load(0, c), max);
      const VF64 by = hn::Set(F64(), weight);
      sum.AddWide(hn::Mul(LowerF64(difference), by), hn::Mul(UpperF64(difference), by));
    }
    sum.Lanes(differences);
  }

  const Parameters& p_;
  const std::byte* labels_;
  double* losses_;
};

void Loss(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* x = Data<const float>(context, i, 0);
  const auto* labels = Data<const std::byte>(context, i, 1);
  float* probabilities = Data<float>(context, i, 3);
  double* losses = Data<double>(context, i, 4);
  if (p.groups.stride == 1) {
    Split(p.threads, p.groups.count, 1, [&, x, probabilities, losses](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t at = row * p.classes();
        losses[row] = LossOfRow(p, x + at, p.label(labels, row), probabilities + at);
      }
    });
  } else {
    const LossOfColumns loss(p, labels, losses);
    ForColumns(p.groups, p.threads, [&](int64_t group, int64_t first, int64_t lanes) {
      WithColumns(p.groups.stride, &x, probabilities, first, lanes,
                  [&](auto load, auto store) { loss.Run(x + first, group, lanes, load, store); });
    });
  }
  double total = 0;
  for (int64_t g = 0; g < p.groups.count; ++g) total += losses[g];
  *Data<float>(context, i, 2) = static_cast<float>(total / static_cast<double>(p.groups.count));
}

// Holds the numbers that all gradients of a group share: dx = (p·whole − w·t)·dloss.
struct Slope {
  float whole = 1;   // Σ w·t
  float factor = 0;  // dloss; NaN for a label of no class
  bool counts = false;

  Slope(const Parameters& p, int64_t label, double dloss)
      : factor(static_cast<float>(p.Knows(label) ? dloss : kNaN)), counts(!p.Ignores(label)) {
    if (p.Knows(label)) whole = static_cast<float>(p.TargetSum(label));
  }
};

// Returns dx of the label's own class.
float GradOfLabel(const Parameters& p, float probability, int64_t label, double dloss) {
  const double weight = p.Weight(label);
  const double target = p.Everywhere() * weight + (1 - p.smoothing) * weight;
  return static_cast<float>((static_cast<double>(probability) * p.TargetSum(label) - target) *
                            dloss);
}

// dx of the classes that are not the label's, all with one weight, is (p·whole −
// everywhere)·factor.
HWY_INLINE void StoreSlopes(const float* probabilities, int64_t count, const Slope& slope,
                            float everywhere, float* dx) {
  const F32 d;
  const VF32 whole = hn::Set(d, slope.whole), factor = hn::Set(d, slope.factor);
  const VF32 shift = hn::Set(d, everywhere);
  const auto of = [&](VF32 p) { return hn::Mul(hn::MulSub(p, whole, shift), factor); };
  int64_t e = 0;
  for (; e + kLanes <= count; e += kLanes) {
    hn::StoreU(of(hn::LoadU(d, probabilities + e)), d, dx + e);
  }
  if (e < count) StoreFirst(d, of(LoadFirst(d, probabilities + e, count - e)), dx + e, count - e);
}

void GradOfRow(const Parameters& p, const float* probabilities, int64_t label, double dloss,
               float* dx) {
  const Slope slope(p, label, dloss);
  if (!slope.counts) {
    std::fill_n(dx, p.classes(), 0.0F);
    return;
  }
  const float own =
      p.Knows(label) ? GradOfLabel(p, probabilities[label], label, dloss) : slope.factor;
  if (p.weights.empty()) {
    StoreSlopes(probabilities, p.classes(), slope, static_cast<float>(p.Everywhere()), dx);
  } else {
    for (int64_t c = 0; c < p.classes(); ++c) {
      const auto target = static_cast<float>(p.Weight(c) * p.Everywhere());
      dx[c] = (probabilities[c] * slope.whole - target) * slope.factor;
    }
  }
  if (p.Knows(label)) dx[label] = own;
}

// Computes the gradient as GradOfRow does, lane by lane, for `lanes` groups side by side. The first
// group has number `group` and begins at probabilities[0] and dx[0].
template <class LoadColumn, class StoreColumn>
HWY_INLINE void GradOfColumns(const Parameters& p, const std::byte* labels, double dloss,
                              const float* probabilities, float* dx, int64_t group, int64_t lanes,
                              LoadColumn load, StoreColumn store) {
  HWY_ALIGN float wholes[kF32Lanes] = {}, factors[kF32Lanes] = {}, counts[kF32Lanes] = {};
  float own[kF32Lanes];
  int64_t places[kF32Lanes];  // of the label's own class; -1: none
  for (int64_t lane = 0; lane < lanes; ++lane) {
    const int64_t label = p.label(labels, group + lane);
    const Slope slope(p, label, dloss);
    wholes[lane] = slope.whole;
    factors[lane] = slope.factor;
    counts[lane] = slope.counts ? 1 : 0;
    places[lane] = slope.counts && p.Knows(label) ? label * p.groups.stride + lane : -1;
    if (places[lane] >= 0) own[lane] = GradOfLabel(p, probabilities[places[lane]], label, dloss);
  }
  const F32 d;
  const VF32 whole = hn::Load(d, wholes), factor = hn::Load(d, factors);
  const auto counted = hn::Ne(hn::Load(d, counts), hn::Zero(d));
  for (int64_t c = 0; c < p.classes(); ++c) {
    const VF32 target = hn::Set(d, static_cast<float>(p.Weight(c) * p.Everywhere()));
    const VF32 slope = hn::Mul(hn::MulSub(load(0, c), whole, target), factor);
    store(c, hn::IfThenElseZero(counted, slope));
  }
  for (int64_t lane = 0; lane < lanes; ++lane) {
    if (places[lane] >= 0) dx[places[lane]] = own[lane];
  }
}

void Grad(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* probabilities = Data<const float>(context, i, 0);
  const auto* labels = Data<const std::byte>(context, i, 1);
  const double dloss =
      static_cast<double>(*Data<const float>(context, i, 2)) / static_cast<double>(p.groups.count);
  float* dx = Data<float>(context, i, 3);
  if (p.groups.stride == 1) {
    Split(p.threads, p.groups.count, 1, [&, probabilities, dx](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t at = row * p.classes();
        GradOfRow(p, probabilities + at, p.label(labels, row), dloss, dx + at);
      }
    });
  } else {
    ForColumns(p.groups, p.threads, [&](int64_t group, int64_t first, int64_t lanes) {
      WithColumns(p.groups.stride, &probabilities, dx, first, lanes, [&](auto load, auto store) {
        GradOfColumns(p, labels, dloss, probabilities + first, dx + first, group, lanes, load,
                      store);
      });
    });
  }
}

bool Supports(const NodeSignature& node) { return node.inputs[0].dtype == DType::kF32; }

int64_t WorkspaceBytes(const NodeSignature& node, int) {
  return GroupsAlong(node.inputs[0].shape, 1).count * static_cast<int64_t>(sizeof(double));
}

template <void (*kRun)(const RunContext&, const Instruction&) noexcept>
PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<SoftmaxCrossEntropyAttributes>();
  const RealList& weights = attributes.class_weights;
  Parameters p{GroupsAlong(node.inputs[0].shape, 1), attributes.label_smoothing,
               LabelReaderOf(node.inputs[1].dtype), weights, attributes.ignore_label};
  p.threads = ThreadsFor(request, Work::kComputes);
  if (!weights.empty()) {
    p.mean_weight =
        std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(p.classes());
  }
  return PreparedKernel::Of(kRun, std::move(p));
}

KernelDef softmax_cross_entropy() {
  return PerElement({.name = "cpu.softmax_cross_entropy",
                     .supports = Supports,
                     .workspace_bytes = WorkspaceBytes,
                     .prepare = Prepare<&Loss>});
}

KernelDef softmax_cross_entropy_grad() {
  return PerElement(
      {.name = "cpu.softmax_cross_entropy_grad", .supports = Supports, .prepare = Prepare<&Grad>});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(softmax_cross_entropy)
CGRUN_CPU_KERNEL(softmax_cross_entropy_grad)

}  // namespace cgrun::cpu
#endif
