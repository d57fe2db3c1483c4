// accuracy, f32: counts the classes that come before each label.
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
#include "src/kernels/cpu/lanes.h"
#include "src/ops/loss.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Parameters {
  int64_t samples = 0;
  int64_t classes = 0;
  int64_t top_k = 1;
  LabelReader label = nullptr;
  IntList ignored;  // labels; where there are some, the labels that count are counted
};

// How many of `logits` are not below `own`, or, where equals come after it, are above it or NaN.
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
  if (label < 0 || label >= p.classes || std::isnan(logits[label])) return false;
  const float own = logits[label];
  return CountBefore<true>(logits, label, own) +
             CountBefore<false>(logits + label + 1, p.classes - label - 1, own) <
         p.top_k;
}

// Too little work for threads: each logit is read once and compared.
void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* logits = Data<const float>(context, i, 0);
  const auto* labels = Data<const std::byte>(context, i, 1);
  int64_t correct = 0, counted = 0;
  for (int64_t n = 0; n < p.samples; ++n) {
    const int64_t label = p.label(labels, n);
    if (std::ranges::find(p.ignored, label) != p.ignored.end()) continue;
    ++counted;
    correct += IsRight(logits + n * p.classes, label, p);
  }
  int64_t* sums = Data<int64_t>(context, i, 2);
  sums[0] = correct;
  if (!p.ignored.empty()) sums[1] = counted;
}

// One label a sample.
bool Supports(const NodeSignature& node) {
  return node.inputs[0].dtype == DType::kF32 && node.inputs[0].shape.rank() == 2;
}

PreparedKernel Prepare(const KernelRequest& request) {
  const Shape& logits = request.node.inputs[0].shape;
  const auto& [top_k, ignored] = request.node.attributes.As<AccuracyAttributes>();
  return PreparedKernel::Of(&Run, Parameters{logits[0].size, logits[1].size, top_k,
                                             LabelReaderOf(request.node.inputs[1].dtype), ignored});
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
