// dropout and its gradient, f32. The random numbers are those of src/base/random.h, bit for bit.
#include "src/ops/dropout.h"

#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/dropout.cc"
#include <hwy/foreach_target.h>
//
#include <cmath>

#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/lanes.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/philox.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Parameters {
  int64_t elements = 0;
  uint64_t key = 0;
  int32_t least = 0;  // an element stays if its 24 random bits are this at least
  float scale = 1;    // of what stays
  int output = 0;     // operand of y
  int threads = 1;
};

inline constexpr size_t kBatch = kPhiloxWords * hn::MaxLanes(Words());

// The random bits of `kBatch` elements: blocks first, first + 1, … of the stream (key, step).
HWY_INLINE void RandomBatch(uint64_t key, uint64_t step, uint64_t first, uint32_t* bits) {
  const Words d;
  const PhiloxBlocks blocks(key, step, first);
  const Word front = hn::Or(blocks.words[0], hn::ShiftLeft<32>(blocks.words[1]));
  const Word back = hn::Or(blocks.words[2], hn::ShiftLeft<32>(blocks.words[3]));
  hn::StoreInterleaved2(front, back, d, reinterpret_cast<uint64_t*>(bits));
}

// Chooses among elements [begin, begin + count), at most a batch, given their bits.
HWY_INLINE void Drop(const Parameters& p, const uint32_t* bits, const float* x, float* y,
                     uint8_t* mask, int64_t count) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<int32_t, decltype(d)> di;
  const hn::Rebind<uint32_t, decltype(d)> du;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto below = hn::Set(di, p.least - 1);
  int64_t e = 0;
  for (; e + lanes <= count; e += lanes) {
    const auto chance = hn::BitCast(di, hn::ShiftRight<8>(hn::LoadU(du, bits + e)));
    const auto stays = hn::Gt(chance, below);
    const auto scaled = hn::Mul(hn::LoadU(d, x + e), hn::Set(d, p.scale));
    hn::StoreU(hn::IfThenElseZero(hn::RebindMask(d, stays), scaled), d, y + e);
    hn::StoreU(hn::DemoteTo(d8, hn::IfThenElseZero(stays, hn::Set(di, 1))), d8, mask + e);
  }
  for (; e < count; ++e) {
    const bool stays = static_cast<int32_t>(bits[e] >> 8) >= p.least;
    y[e] = stays ? x[e] * p.scale : 0;
    mask[e] = stays;
  }
}

void Train(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* x = Data<const float>(context, i, 0);
  const auto step = static_cast<uint64_t>(*Data<const int64_t>(context, i, 1));
  float* y = Data<float>(context, i, 2);
  uint8_t* mask = Data<uint8_t>(context, i, 3);
  Split(p.threads, p.elements, kGrain, [&, x, y, mask](int64_t begin, int64_t end) {
    HWY_ALIGN uint32_t bits[kBatch];
    const auto batch = kPhiloxWords * static_cast<int64_t>(hn::Lanes(Words()));
    for (int64_t e = begin; e < end; e += batch) {
      RandomBatch(p.key, step, static_cast<uint64_t>(e / kPhiloxWords), bits);
      Drop(p, bits, x + e, y + e, mask + e, std::min(batch, end - e));
    }
  });
}

void Evaluate(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* x = Data<const float>(context, i, 0);
  float* y = Data<float>(context, i, p.output);
  if (x == y) return;
  Split(p.threads, p.elements, kGrain,
        [=](int64_t begin, int64_t end) { std::copy(x + begin, x + end, y + begin); });
}

void Grad(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const uint8_t* mask = Data<const uint8_t>(context, i, 0);
  const float* dy = Data<const float>(context, i, 1);
  float* dx = Data<float>(context, i, 2);
  Split(p.threads, p.elements, kGrain, [&, mask, dy, dx](int64_t begin, int64_t end) {
    const hn::ScalableTag<float> d;
    const hn::Rebind<int32_t, decltype(d)> di;
    const hn::Rebind<uint8_t, decltype(d)> d8;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t e = begin;
    for (; e + lanes <= end; e += lanes) {
      const auto kept = hn::Gt(hn::PromoteTo(di, hn::LoadU(d8, mask + e)), hn::Zero(di));
      const auto scaled = hn::Mul(hn::LoadU(d, dy + e), hn::Set(d, p.scale));
      hn::StoreU(hn::IfThenElseZero(hn::RebindMask(d, kept), scaled), d, dx + e);
    }
    for (; e < end; ++e) dx[e] = mask[e] != 0 ? dy[e] * p.scale : 0;
  });
}

Parameters Pack(const KernelRequest& request) {
  const auto& attributes = request.node.attributes.As<DropoutAttributes>();
  Parameters p;
  p.elements = request.node.outputs[0].shape.Elements();
  p.key = static_cast<uint64_t>(attributes.key);
  p.least = static_cast<int32_t>(std::ceil(attributes.rate * 0x1.0p24));
  p.scale = static_cast<float>(1 / (1 - attributes.rate));
  p.output = static_cast<int>(request.node.inputs.size());
  p.threads = ThreadsFor(request, Work::kComputes);
  return p;
}

bool Supports(const NodeSignature& node) { return node.outputs[0].dtype == DType::kF32; }

PreparedKernel Prepare(const KernelRequest& request) {
  const bool training = request.node.attributes.As<DropoutAttributes>().training;
  return PreparedKernel::Of(training ? &Train : &Evaluate, Pack(request));
}

PreparedKernel PrepareGrad(const KernelRequest& request) {
  return PreparedKernel::Of(&Grad, Pack(request));
}

KernelDef Define(std::string_view name, PreparedKernel (*prepare)(const KernelRequest&)) {
  return PerElement({.name = name, .supports = Supports, .prepare = prepare});
}

KernelDef dropout() { return Define("cpu.dropout", Prepare); }
KernelDef dropout_grad() { return Define("cpu.dropout_grad", PrepareGrad); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(dropout)
CGRUN_CPU_KERNEL(dropout_grad)

}  // namespace cgrun::cpu
#endif
