// Computes dropout, of f32 or bf16. The random numbers are those of src/base/random.h, bit for bit.
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

inline constexpr int kVectors = 2;  // of blocks that are drawn at once
inline constexpr size_t kBatch = kVectors * kPhiloxWords * hn::MaxLanes(Words());

// The random bits of `kBatch` elements: blocks first, first + 1, … of the stream (keys, step).
HWY_INLINE void RandomBatch(const PhiloxKeys& keys, uint64_t step, uint64_t first, uint32_t* bits) {
  const Words d;
  const PhiloxBlocks<kVectors> blocks(keys, step, first);
#pragma GCC unroll 4
  for (const auto& [c0, c1, c2, c3] : blocks.words) {
    const Word front = hn::Or(c0, hn::ShiftLeft<32>(c1)), back = hn::Or(c2, hn::ShiftLeft<32>(c3));
    hn::StoreInterleaved2(front, back, d, reinterpret_cast<uint64_t*>(bits));
    bits += kPhiloxWords * hn::Lanes(d);
  }
}

// Chooses among elements [begin, begin + count), at most a batch, given their bits.
template <class T>
HWY_INLINE void Drop(const Parameters& p, const uint32_t* bits, const T* x, T* y, int64_t count) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<int32_t, decltype(d)> di;
  const hn::Rebind<uint32_t, decltype(d)> du;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto below = hn::Set(di, p.least - 1);
  int64_t e = 0;
  for (; e + lanes <= count; e += lanes) {
    const auto chance = hn::BitCast(di, hn::ShiftRight<8>(hn::LoadU(du, bits + e)));
    const auto stays = hn::Gt(chance, below);
    const auto scaled = hn::Mul(LoadLanes(d, x + e), hn::Set(d, p.scale));
    StoreLanes(d, hn::IfThenElseZero(hn::RebindMask(d, stays), scaled), y + e);
  }
  for (; e < count; ++e) {
    const bool stays = static_cast<int32_t>(bits[e] >> 8) >= p.least;
    y[e] = static_cast<T>(stays ? static_cast<float>(x[e]) * p.scale : 0.0F);
  }
}

template <class T>
void Train(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const T* x = Data<const T>(context, i, 0);
  const auto step = static_cast<uint64_t>(*Data<const int64_t>(context, i, 1));
  T* y = Data<T>(context, i, p.output);
  Split(p.threads, p.elements, kGrain, [&, x, y](int64_t begin, int64_t end) {
    HWY_ALIGN uint32_t bits[kBatch];
    const PhiloxKeys keys(p.key);
    const auto batch = kVectors * kPhiloxWords * static_cast<int64_t>(hn::Lanes(Words()));
    for (int64_t e = begin; e < end; e += batch) {
      RandomBatch(keys, step, static_cast<uint64_t>(e / kPhiloxWords), bits);
      Drop(p, bits, x + e, y + e, std::min(batch, end - e));
    }
  });
}

template <class T>
void Evaluate(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const T* x = Data<const T>(context, i, 0);
  T* y = Data<T>(context, i, p.output);
  if (x == y) return;
  Split(p.threads, p.elements, kGrain,
        [=](int64_t begin, int64_t end) { std::copy(x + begin, x + end, y + begin); });
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

bool Supports(const NodeSignature& node) {
  return node.outputs[0].dtype == DType::kF32 || node.outputs[0].dtype == DType::kBF16;
}

template <class T>
KernelFunction FunctionOf(bool training) {
  return training ? &Train<T> : &Evaluate<T>;
}

PreparedKernel Prepare(const KernelRequest& request) {
  const bool training = request.node.attributes.As<DropoutAttributes>().training;
  const bool narrow = request.node.outputs[0].dtype == DType::kBF16;
  return PreparedKernel::Of(narrow ? FunctionOf<BFloat16>(training) : FunctionOf<float>(training),
                            Pack(request));
}

KernelDef dropout() {
  return PerElement({.name = "cpu.dropout", .supports = Supports, .prepare = Prepare});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(dropout)

}  // namespace cgrun::cpu
#endif
