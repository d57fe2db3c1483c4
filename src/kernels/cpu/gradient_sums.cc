// Computes accumulate and norm_scale, which work on gradients between batches and before a step, in
// f64. The workspace of norm_scale holds the sums of pieces until they are added in order. The
// pieces depend on the shapes alone.
#include "src/kernels/cpu/targets.h"
#include "src/ops/norm_scale.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/gradient_sums.cc"
#include <hwy/foreach_target.h>
//
#include <cmath>
#include <vector>

#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/optimizer_rule.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct AccumulateParameters {
  int64_t elements = 0;
  int threads = 1;
};

template <class T>
void Accumulate(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const AccumulateParameters*>(i.parameters);
  const std::array from = {Data<const T>(context, i, 1), Data<const T>(context, i, 0)};
  const std::array alone = {from[0]};
  const std::array to = {Data<T>(context, i, 3)};
  const double* factors = Data<const double>(context, i, 2);
  const double weight = factors[1];
  if (factors[0] == 0) {
    Split(p.threads, p.elements, kGrain, [=](int64_t begin, int64_t end) {
      Sweep(F64(), alone, to, begin, end,
            [weight](F64 d, const auto& x, auto& y) { y[0] = Times(d, weight, x[0]); });
    });
    return;
  }
  Split(p.threads, p.elements, kGrain, [=](int64_t begin, int64_t end) {
    Sweep(F64(), from, to, begin, end, [weight](F64 d, const auto& x, auto& y) {
      y[0] = hn::Add(x[1], Times(d, weight, x[0]));
    });
  });
}

PreparedKernel PrepareAccumulate(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  return PreparedKernel::Of(type.dtype == DType::kF32 ? &Accumulate<float> : &Accumulate<double>,
                            AccumulateParameters{type.shape.Elements(), ThreadsFor(request)});
}

struct ScaleParameters {
  struct Piece {
    int input;
    int64_t first;
    int64_t count;
  };
  std::vector<Piece> pieces;
  int inputs = 0;
  double norm = 1;
  int threads = 1;
};

double SumOfSquares(const float* x, int64_t count) {
  constexpr auto kLanes = static_cast<int64_t>(kF32Lanes);
  const F32 d;
  Sum a, b;
  const auto add = [](Sum& sum, VF32 v) HWY_ATTR { sum.AddSquare(LowerF64(v), UpperF64(v)); };
  int64_t e = 0;
  for (; e + 2 * kLanes <= count; e += 2 * kLanes) {
    add(a, hn::LoadU(d, x + e));
    add(b, hn::LoadU(d, x + e + kLanes));
  }
  for (; e < count; e += kLanes) add(a, LoadSome(d, x + e, std::min(kLanes, count - e)));
  a.Join(b);
  return a.Total();
}

void NormScale(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const ScaleParameters*>(i.parameters);
  const auto pieces = static_cast<int64_t>(p.pieces.size());
  double* sums = Data<double>(context, i, p.inputs + 1);
  Split(p.threads, pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s) {
      const auto& piece = p.pieces[static_cast<size_t>(s)];
      sums[s] = SumOfSquares(Data<const float>(context, i, piece.input) + piece.first, piece.count);
    }
  });
  double squares = 0;
  for (int64_t s = 0; s < pieces; ++s) squares += sums[s];
  const double scale = p.norm / (std::sqrt(squares) + 1e-6);
  *Data<float>(context, i, p.inputs) = static_cast<float>(scale > 1 ? 1 : scale);
}

PreparedKernel PrepareNormScale(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  ScaleParameters p;
  p.inputs = static_cast<int>(node.inputs.size());
  p.norm = node.attributes.As<NormScaleAttributes>().norm;
  p.threads = ThreadsFor(request);
  for (int input = 0; input < p.inputs; ++input) {
    const int64_t elements = node.inputs[static_cast<size_t>(input)].shape.Elements();
    for (int64_t first = 0; first < elements; first += kSumPiece) {
      p.pieces.push_back({input, first, std::min(kSumPiece, elements - first)});
    }
  }
  return PreparedKernel::Of(&NormScale, std::move(p));
}

int64_t NormScaleWorkspaceBytes(const NodeSignature& node, int) {
  int64_t pieces = 0;
  for (const TensorType& type : node.inputs) pieces += SumPieces(type.shape.Elements());
  return pieces * static_cast<int64_t>(sizeof(double));
}

KernelDef accumulate() {
  return PerElement({.name = "cpu.accumulate",
                     .supports = SupportsUpdate,
                     .prepare = PrepareAccumulate,
                     .elementwise = true,
                     .reads_others = true});
}

KernelDef norm_scale() {
  return PerElement({.name = "cpu.norm_scale",
                     .supports = AllF32,
                     .workspace_bytes = NormScaleWorkspaceBytes,
                     .prepare = PrepareNormScale});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(accumulate)
CGRUN_CPU_KERNEL(norm_scale)

}  // namespace cgrun::cpu
#endif
