// Computes accuracy of f32: it counts the classes that come before each label. If there is a label
// for each place, a vector counts as many labels side by side as it has lanes.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/accuracy.cc"
#include <hwy/foreach_target.h>
//
#include <algorithm>
#include <cmath>

#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/labels.h"
#include "src/kernels/cpu/over_groups.h"
#include "src/ops/loss.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Parameters {
  AxisGroups groups;  // of classes
  int64_t top_k = 1;
  LabelReader label = nullptr;
  IntList ignored;             // labels
  bool counts_labels = false;  // those that are not ignored, beside the right ones

  bool Ignores(int64_t label) const { return std::ranges::find(ignored, label) != ignored.end(); }
  bool Knows(int64_t label) const { return label >= 0 && label < groups.size; }
};

struct Counts {
  int64_t correct = 0;
  int64_t counted = 0;
};

// Counts the `logits` that come before `own`. If equal ones come before it, these are all that are
// not below `own`. If not, these are all that are above it or NaN.
template <bool kEqualsBefore>
int64_t CountBefore(const float* logits, int64_t count, float own) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto bound = hn::Set(d, own);
  int64_t before = 0, c = 0;
  for (; c + lanes <= count; c += lanes) {
    const auto x = hn::LoadU(d, logits + c);
    const auto after = kEqualsBefore ? hn::Lt(x, bound) : hn::Le(x, bound);
    before += lanes - static_cast<int64_t>(hn::CountTrue(d, after));
  }
  for (; c < count; ++c) before += kEqualsBefore ? !(logits[c] < own) : !(logits[c] <= own);
  return before;
}

bool IsRight(const float* logits, int64_t label, const Parameters& p) {
  if (!p.Knows(label) || std::isnan(logits[label])) return false;
  const float own = logits[label];
  return CountBefore<true>(logits, label, own) +
             CountBefore<false>(logits + label + 1, p.groups.size - label - 1, own) <
         p.top_k;
}

void CountRows(const Parameters& p, const float* logits, const std::byte* labels, Counts& counts) {
  for (int64_t n = 0; n < p.groups.count; ++n) {
    const int64_t label = p.label(labels, n);
    if (p.Ignores(label)) continue;
    ++counts.counted;
    counts.correct += IsRight(logits + n * p.groups.size, label, p);
  }
}

// Counts, lane by lane, how many classes come before the label's own. `own` holds the labels'
// logits, and `places` their classes.
template <class LoadColumn>
HWY_INLINE VF32 CountColumnsBefore(int64_t classes, LoadColumn load, VF32 own, VF32 places) {
  const F32 d;
  const VF32 one = hn::Set(d, 1);
  VF32 before = hn::Zero(d);
  for (int64_t c = 0; c < classes; ++c) {
    const VF32 x = load(0, c), place = hn::Set(d, static_cast<float>(c));
    const auto after = hn::Or(hn::Lt(x, own), hn::And(hn::Eq(x, own), hn::Gt(place, places)));
    before = hn::Add(before, hn::IfThenZeroElse(hn::Or(after, hn::Eq(place, places)), one));
  }
  return before;
}

// Counts `lanes` labels side by side, from number `group` on. Their logits begin at x.
template <class LoadColumn>
HWY_INLINE void CountColumns(const Parameters& p, const float* x, const std::byte* labels,
                             int64_t group, int64_t lanes, LoadColumn load, Counts& counts) {
  HWY_ALIGN float own[kF32Lanes] = {}, places[kF32Lanes] = {}, before[kF32Lanes];
  for (int64_t lane = 0; lane < lanes; ++lane) {
    const int64_t label = p.label(labels, group + lane);
    if (!p.Ignores(label)) ++counts.counted;
    const bool counts_here = p.Knows(label) && !p.Ignores(label);
    own[lane] = counts_here ? x[label * p.groups.stride + lane] : std::nanf("");
    places[lane] = counts_here ? static_cast<float>(label) : 0;
  }
  const F32 d;
  hn::Store(CountColumnsBefore(p.groups.size, load, hn::Load(d, own), hn::Load(d, places)), d,
            before);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    counts.correct += !std::isnan(own[lane]) && before[lane] < static_cast<float>(p.top_k);
  }
}

// Too little work for threads: each logit is read once and compared.
void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* logits = Data<const float>(context, i, 0);
  const auto* labels = Data<const std::byte>(context, i, 1);
  Counts counts;
  if (p.groups.stride == 1) {
    CountRows(p, logits, labels, counts);
  } else {
    ForColumns(p.groups, 1, [&](int64_t group, int64_t first, int64_t lanes) {
      WithColumns(p.groups.stride, &logits, nullptr, first, lanes, [&](auto load, auto /*store*/) {
        CountColumns(p, logits + first, labels, group, lanes, load, counts);
      });
    });
  }
  int64_t* sums = Data<int64_t>(context, i, 2);
  sums[0] = counts.correct;
  if (p.counts_labels) sums[1] = counts.counted;
}

// The columns number classes in f32.
bool Supports(const NodeSignature& node) {
  return node.inputs[0].dtype == DType::kF32 && node.inputs[0].shape[1].size <= 1 << 24;
}

PreparedKernel Prepare(const KernelRequest& request) {
  const auto& [top_k, ignored] = request.node.attributes.As<AccuracyAttributes>();
  return PreparedKernel::Of(&Run, Parameters{GroupsAlong(request.node.inputs[0].shape, 1), top_k,
                                             LabelReaderOf(request.node.inputs[1].dtype), ignored,
                                             request.node.outputs[0].shape.rank() > 0});
}

KernelDef accuracy() { return {.name = "cpu.accuracy", .supports = Supports, .prepare = Prepare}; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(accuracy)

}  // namespace cgrun::cpu
#endif
