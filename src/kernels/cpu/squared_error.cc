// squared_error and its gradient, f32. The workspace holds the sums of pieces, which depend on the
// number of elements alone, until they are added in order.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/squared_error.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/map.h"
#include "src/kernels/cpu/sums.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kPiece = 16 << 10;  // elements

struct Parameters {
  int64_t elements = 0;
  int threads = 1;
};

int64_t PiecesOf(int64_t elements) { return (elements + kPiece - 1) / kPiece; }

double SumOfPiece(const float* prediction, const float* target, int64_t count) {
  constexpr auto kLanes = static_cast<int64_t>(kF32Lanes);
  const F32 d;
  Sum a, b;
  const auto add = [](Sum& sum, VF32 p, VF32 t) HWY_ATTR {
    sum.AddSquare(hn::Sub(LowerF64(p), LowerF64(t)), hn::Sub(UpperF64(p), UpperF64(t)));
  };
  int64_t e = 0;
  for (; e + 2 * kLanes <= count; e += 2 * kLanes) {
    add(a, hn::LoadU(d, prediction + e), hn::LoadU(d, target + e));
    add(b, hn::LoadU(d, prediction + e + kLanes), hn::LoadU(d, target + e + kLanes));
  }
  for (; e < count; e += kLanes) {
    const int64_t lanes = std::min(kLanes, count - e);
    add(a, LoadSome(d, prediction + e, lanes), LoadSome(d, target + e, lanes));
  }
  a.Join(b);
  return a.Total();
}

void Loss(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* prediction = Data<const float>(context, i, 0);
  const float* target = Data<const float>(context, i, 1);
  double* sums = Data<double>(context, i, 3);
  Split(p.threads, PiecesOf(p.elements), 1, [&, sums](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t first = piece * kPiece, count = std::min(kPiece, p.elements - first);
      sums[piece] = SumOfPiece(prediction + first, target + first, count);
    }
  });
  double total = 0;
  for (int64_t piece = 0; piece < PiecesOf(p.elements); ++piece) total += sums[piece];
  *Data<float>(context, i, 2) = static_cast<float>(total / static_cast<double>(p.elements));
}

void Grad(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const std::array from = {Data<const float>(context, i, 0), Data<const float>(context, i, 1)};
  const std::array to = {Data<float>(context, i, 3)};
  const double dloss = static_cast<double>(*Data<const float>(context, i, 2));
  const auto factor = static_cast<float>(2 * dloss / static_cast<double>(p.elements));
  Split(p.threads, p.elements, kGrain, [=](int64_t begin, int64_t end) {
    Sweep(F32(), from, to, begin, end, [factor](auto d, const auto& x, auto& dx) {
      dx[0] = hn::Mul(hn::Sub(x[0], x[1]), hn::Set(d, factor));
    });
  });
}

bool Supports(const NodeSignature& node) { return node.inputs[0].dtype == DType::kF32; }

int64_t WorkspaceBytes(const NodeSignature& node, int) {
  return PiecesOf(node.inputs[0].shape.Elements()) * static_cast<int64_t>(sizeof(double));
}

template <void (*kRun)(const RunContext&, const Instruction&) noexcept>
PreparedKernel Prepare(const KernelRequest& request) {
  return PreparedKernel::Of(
      kRun, Parameters{request.node.inputs[0].shape.Elements(), ThreadsFor(request)});
}

KernelDef squared_error() {
  KernelDef def{.name = "cpu.squared_error",
                .supports = Supports,
                .workspace_bytes = WorkspaceBytes,
                .prepare = Prepare<&Loss>};
  def.flops_per_second = kElementsPerSecond;
  return def;
}

KernelDef squared_error_grad() {
  KernelDef def{.name = "cpu.squared_error_grad", .supports = Supports, .prepare = Prepare<&Grad>};
  def.elementwise = true;
  def.flops_per_second = kElementsPerSecond;
  return def;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(squared_error)
CGRUN_CPU_KERNEL(squared_error_grad)

}  // namespace cgrun::cpu
#endif
