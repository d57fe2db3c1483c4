// Computes slice, crop, flip, pad, broadcast and gradients like them: strided copies, a row at a
// time, and fills.
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/strided_copy.h"
#include "src/ops/pad.h"
#include "src/ops/reduce.h"

namespace cgrun::cpu {
namespace {

struct FillAndCopyParameters {
  FillAndCopyPlan plan;
  int threads = 1;
};

template <class Bits>
struct FillAndCopy {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const FillAndCopyParameters*>(i.parameters);
    const Bits* x = Data<const Bits>(context, i, 0);
    Bits* y = Data<Bits>(context, i, 1);
    const Bits fill = static_cast<Bits>(p.plan.fill);
    Split(p.threads, p.plan.elements, kGrain,
          [=](int64_t begin, int64_t end) { std::fill(y + begin, y + end, fill); });
    const auto& [space, base] = p.plan.copy;
    SplitRows(space, base, p.threads, [&](const auto& at, int64_t begin, int64_t end) {
      CopyRow(p.plan.copy.space, x + at[0], y + at[1], begin, end);
    });
  }
};

template <CopyPlan (*kPlan)(const NodeSignature&)>
PreparedKernel Copy(const KernelRequest& request) {
  return PrepareCopy(request, kPlan(request.node));
}

template <FillAndCopyPlan (*kPlan)(const NodeSignature&)>
PreparedKernel FillThenCopy(const KernelRequest& request) {
  return PreparedKernel::Of(reference::ForBytes<FillAndCopy>(SizeOf(request.node.inputs[0].dtype)),
                            FillAndCopyParameters{kPlan(request.node), ThreadsFor(request)});
}

struct AverageParameters {
  StridedSpace<2> space;
  float repetitions = 1;
  int threads = 1;
};

// Elements [begin, end) of a row, whose x goes on or stays at one number. T is float or BFloat16.
template <class T>
void AverageRow(const AverageParameters& p, const T* x, T* y, int64_t begin, int64_t end) {
  const auto average = [repetitions = p.repetitions](T sum) {
    return static_cast<T>(static_cast<float>(sum) / repetitions);
  };
  if (p.space.inner.strides[0] == 0) {
    std::fill(y + begin, y + end, average(*x));
  } else {
    for (int64_t e = begin; e < end; ++e) y[e] = average(x[e]);
  }
}

template <class T>
void Average(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const AverageParameters*>(i.parameters);
  const T* x = Data<const T>(context, i, 0);
  T* y = Data<T>(context, i, 1);
  SplitRows(p.space, {0, 0}, p.threads, [&](const auto& at, int64_t begin, int64_t end) {
    AverageRow(p, x + at[0], y + at[1], begin, end);
  });
}

bool IsAverage(const NodeSignature& node) {
  return node.attributes.As<BroadcastAttributes>().average;
}

bool SupportsBroadcast(const NodeSignature& node) {
  const DType dtype = node.inputs[0].dtype;
  return !IsAverage(node) || dtype == DType::kF32 || dtype == DType::kBF16;
}

PreparedKernel PrepareBroadcast(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  CopyPlan plan = PlanBroadcast(node);
  if (!IsAverage(node)) return PrepareCopy(request, std::move(plan));
  const int64_t repetitions = node.outputs[0].shape.Elements() / node.inputs[0].shape.Elements();
  const bool narrow = node.inputs[0].dtype == DType::kBF16;
  return PreparedKernel::Of(
      narrow ? &Average<BFloat16> : &Average<float>,
      AverageParameters{std::move(plan.space), static_cast<float>(repetitions),
                        ThreadsFor(request)});
}

bool SupportsPad(const NodeSignature& node) {
  return node.attributes.As<PadAttributes>().mode == "constant";
}

}  // namespace

std::vector<KernelDef> broadcast() {
  return {{.name = "cpu.broadcast", .supports = SupportsBroadcast, .prepare = PrepareBroadcast}};
}
std::vector<KernelDef> crop() { return {{.name = "cpu.crop", .prepare = Copy<&PlanCrop>}}; }
std::vector<KernelDef> flip() { return {{.name = "cpu.flip", .prepare = Copy<&PlanFlip>}}; }
std::vector<KernelDef> pad() {
  return {{.name = "cpu.pad", .supports = SupportsPad, .prepare = FillThenCopy<&PlanPad>}};
}
std::vector<KernelDef> slice() { return {{.name = "cpu.slice", .prepare = Copy<&PlanSlice>}}; }
std::vector<KernelDef> slice_grad() {
  return {{.name = "cpu.slice_grad", .prepare = FillThenCopy<&PlanSliceGrad>}};
}

}  // namespace cgrun::cpu
