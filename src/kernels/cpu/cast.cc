// Computes the casts that images, mixed precision, f16 and quantised models need. Other pairs are
// left to the reference kernel.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/cast.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/lanes.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/wide_cast.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Parameters {
  int64_t elements = 0;
  int threads = 1;
};

template <class From, class To>
void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const From* x = Data<const From>(context, i, 0);
  To* y = Data<To>(context, i, 1);
  Split(p.threads, p.elements, kGrain, [=](int64_t begin, int64_t end) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t e = begin;
    for (; e + lanes <= end; e += lanes) StoreLanes(d, LoadLanes(d, x + e), y + e);
    for (; e < end; ++e) y[e] = static_cast<To>(static_cast<float>(x[e]));
  });
}

// Converts number by number, without branches, so that the compiler makes vectors of it. f32 holds
// what is read of f16, and int32 what is read of bytes.
template <class From, class To>
void RunPlain(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const From* x = Data<const From>(context, i, 0);
  To* y = Data<To>(context, i, 1);
  Split(p.threads, p.elements, kGrain, [=](int64_t begin, int64_t end) {
#pragma omp simd
    for (int64_t e = begin; e < end; ++e) y[e] = static_cast<To>(x[e]);
  });
}

// Converts f32 to integers, which saturate.
template <class To>
void RunToInteger(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* x = Data<const float>(context, i, 0);
  To* y = Data<To>(context, i, 1);
  Split(p.threads, p.elements, kGrain, [=](int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; ++e) y[e] = kernels::ToInteger<To>(x[e]);
  });
}

KernelFunction ChoosePlain(DType from, DType to) {
  if (from == DType::kF16 && to == DType::kF32) return &RunPlain<Float16, float>;
  if (from == DType::kF32 && to == DType::kF16) return &RunPlain<float, Float16>;
  if (from == DType::kI8 && to == DType::kF32) return &RunPlain<int8_t, float>;
  if (from == DType::kI8 && to == DType::kI32) return &RunPlain<int8_t, int32_t>;
  if (from == DType::kU8 && to == DType::kI32) return &RunPlain<uint8_t, int32_t>;
  if (from == DType::kF32 && to == DType::kI8) return &RunToInteger<int8_t>;
  return from == DType::kF32 && to == DType::kU8 ? &RunToInteger<uint8_t> : nullptr;
}

KernelFunction Choose(const NodeSignature& node) {
  const DType from = node.inputs[0].dtype, to = node.outputs[0].dtype;
  if (from == DType::kF32 && to == DType::kBF16) return &Run<float, BFloat16>;
  if (const KernelFunction plain = ChoosePlain(from, to)) return plain;
  if (to != DType::kF32) return nullptr;
  if (from == DType::kBF16) return &Run<BFloat16, float>;
  if (from == DType::kI32) return &Run<int32_t, float>;
  return from == DType::kU8 || from == DType::kBool ? &Run<uint8_t, float> : nullptr;
}

bool Supports(const NodeSignature& node) { return Choose(node) != nullptr; }

PreparedKernel Prepare(const KernelRequest& request) {
  return PreparedKernel::Of(
      Choose(request.node),
      Parameters{request.node.outputs[0].shape.Elements(), ThreadsFor(request)});
}

KernelDef cast() {
  return PerElement(
      {.name = "cpu.cast", .supports = Supports, .prepare = Prepare, .elementwise = true});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(cast)

}  // namespace cgrun::cpu
#endif
