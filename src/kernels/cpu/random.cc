// Computes random_normal and random_uniform of f32 from the Philox blocks of the reference kernels.
// They are computed in f64, as there. Logarithm and cosine are Highway's.
#include "src/ops/random.h"

#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/random.cc"
#include <hwy/foreach_target.h>
//
#include <numbers>

#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/lanes.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/philox.h"
#include "src/kernels/cpu/vector_math.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Parameters {
  int64_t elements = 0;
  uint64_t key = 0;
  double offset = 0;
  double scale = 1;
  int threads = 1;
};

using Doubles = hn::ScalableTag<double>;
using Double = hn::Vec<Doubles>;

// Returns words of 32 bits as numbers. The words are the last bits of the numbers from 2^52 on.
HWY_INLINE Double NumbersOf(Word words) {
  const Doubles d;
  const Double base = hn::Set(d, 0x1.0p52);
  return hn::Sub(hn::BitCast(d, hn::Or(words, hn::BitCast(Words(), base))), base);
}

// Makes two numbers of a block, each by the Box-Muller transform of two words.
struct Normal {
  static constexpr int64_t kNumbers = 2;

  static HWY_INLINE Double Draw(const Word* words, int64_t number) {
    const Doubles d;
    const Double one = hn::Set(d, 1);
    const Double u =
        hn::Mul(hn::Add(NumbersOf(words[2 * number]), one), hn::Set(d, 0x1.0p-32));  // (0, 1]
    const Double angle =
        hn::Mul(NumbersOf(words[2 * number + 1]), hn::Set(d, 0x1.0p-31 * std::numbers::pi));
    const Double radius = hn::Sqrt(hn::Mul(hn::Set(d, -2), hn::Log(d, u)));
    return hn::Mul(radius, hn::Cos(d, angle));
  }
};

// [0, 1), of 24 bits.
struct Uniform {
  static constexpr int64_t kNumbers = 4;

  static HWY_INLINE Double Draw(const Word* words, int64_t number) {
    return hn::Mul(NumbersOf(hn::ShiftRight<8>(words[number])), hn::Set(Doubles(), 0x1.0p-24));
  }
};

template <class Distribution>
void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const auto step = static_cast<uint64_t>(*Data<const int64_t>(context, i, 0));
  float* y = Data<float>(context, i, 1);
  Split(p.threads, p.elements, kGrain, [&, y](int64_t begin, int64_t end) {
    constexpr int64_t kNumbers = Distribution::kNumbers;
    const Doubles d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const PhiloxKeys keys(p.key);
    HWY_ALIGN double drawn[hn::MaxLanes(d)];
    for (int64_t e = begin; e < end; e += kNumbers * lanes) {
      const PhiloxBlocks<1> blocks(keys, step, static_cast<uint64_t>(e / kNumbers));
      for (int64_t number = 0; number < kNumbers; ++number) {
        const Double scaled =
            hn::Mul(hn::Set(d, p.scale), Distribution::Draw(blocks.words[0], number));
        hn::Store(hn::Add(hn::Set(d, p.offset), scaled), d, drawn);
        for (int64_t lane = 0, to = e + number; lane < lanes && to < end; ++lane, to += kNumbers) {
          y[to] = static_cast<float>(drawn[lane]);
        }
      }
    }
  });
}

PreparedKernel PrepareNormal(const KernelRequest& request) {
  const auto& a = request.node.attributes.As<RandomNormalAttributes>();
  return PreparedKernel::Of(
      &Run<Normal>,
      Parameters{request.node.outputs[0].shape.Elements(), static_cast<uint64_t>(a.key), a.mean,
                 a.deviation, ThreadsFor(request, Work::kComputes)});
}

PreparedKernel PrepareUniform(const KernelRequest& request) {
  const auto& a = request.node.attributes.As<RandomUniformAttributes>();
  return PreparedKernel::Of(
      &Run<Uniform>,
      Parameters{request.node.outputs[0].shape.Elements(), static_cast<uint64_t>(a.key), a.low,
                 a.high - a.low, ThreadsFor(request, Work::kComputes)});
}

bool Supports(const NodeSignature& node) { return node.outputs[0].dtype == DType::kF32; }

KernelDef random_normal() {
  return PerElement({.name = "cpu.random_normal", .supports = Supports, .prepare = PrepareNormal});
}
KernelDef random_uniform() {
  return PerElement(
      {.name = "cpu.random_uniform", .supports = Supports, .prepare = PrepareUniform});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(random_normal)
CGRUN_CPU_KERNEL(random_uniform)

}  // namespace cgrun::cpu
#endif
