// Computes broadcast, transpose, slice and its gradient, crop, flip, pad: strided copies.
#include "src/kernels/copies.h"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/strided.cuh"
#include "src/ops/pad.h"
#include "src/ops/reduce.h"

namespace cgrun::cuda {

template <class Bits>
struct CopyBody {
  DeviceSpace<2> space;
  const Bits* x;
  Bits* y;
  __device__ void operator()(int64_t index) const {
    int64_t at[2];
    space.At(index, at);
    y[at[1]] = x[at[0]];
  }
};

template <class Bits>
struct StridedCopy {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& space = *static_cast<const DeviceSpace<2>*>(i.parameters);
    ForEachElement(
        context, space.count,
        CopyBody<Bits>{space, Data<const Bits>(context, i, 0), Data<Bits>(context, i, 1)});
  }
};

template <CopyPlan (*Plan)(const NodeSignature&)>
static PreparedKernel PrepareStridedCopy(const KernelRequest& request) {
  const CopyPlan plan = Plan(request.node);
  return PreparedKernel::Of(ForBytes<StridedCopy>(SizeOf(request.node.inputs[0].dtype)),
                            ToDevice(plan.space, plan.base));
}

template <CopyPlan (*Plan)(const NodeSignature&)>
static bool CopiesFewAxes(const NodeSignature& node) {
  return HasFewAxes(Plan(node).space);
}
template <FillAndCopyPlan (*Plan)(const NodeSignature&)>
static bool FillsFewAxes(const NodeSignature& node) {
  return HasFewAxes(Plan(node).copy.space);
}

struct FillAndCopyParameters {
  DeviceSpace<2> space;
  int64_t elements;  // of y
  uint64_t fill;     // the bits of an element
};

template <class Bits>
struct FillBitsBody {
  Bits* y;
  Bits bits;
  __device__ void operator()(int64_t e) const { y[e] = bits; }
};

template <class Bits>
struct FillAndCopy {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const FillAndCopyParameters*>(i.parameters);
    Bits* y = Data<Bits>(context, i, 1);
    ForEachElement(context, p.elements, FillBitsBody<Bits>{y, static_cast<Bits>(p.fill)});
    ForEachElement(context, p.space.count,
                   CopyBody<Bits>{p.space, Data<const Bits>(context, i, 0), y});
  }
};

template <FillAndCopyPlan (*Plan)(const NodeSignature&)>
static PreparedKernel PrepareFillAndCopy(const KernelRequest& request) {
  const FillAndCopyPlan plan = Plan(request.node);
  return PreparedKernel::Of(
      ForBytes<FillAndCopy>(SizeOf(request.node.inputs[0].dtype)),
      FillAndCopyParameters{ToDevice(plan.copy.space, plan.copy.base), plan.elements, plan.fill});
}

struct AverageParameters {
  DeviceSpace<2> space;
  double repetitions;
};

template <class T>
struct AverageBody {
  DeviceSpace<2> space;
  double repetitions;
  const T* x;
  T* y;
  __device__ void operator()(int64_t index) const {
    int64_t at[2];
    space.At(index, at);
    y[at[1]] = StoreF64<T>(LoadF64(x[at[0]]) / repetitions);
  }
};

template <class T>
struct BroadcastAverage {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const AverageParameters*>(i.parameters);
    ForEachElement(context, p.space.count,
                   AverageBody<T>{p.space, p.repetitions, Data<const T>(context, i, 0),
                                  Data<T>(context, i, 1)});
  }
};

static bool IsAverage(const NodeSignature& node) {
  return node.attributes.As<BroadcastAttributes>().average;
}

static bool SupportsBroadcast(const NodeSignature& node) {
  return (!IsAverage(node) || IsComputed(node.inputs[0].dtype)) &&
         CopiesFewAxes<PlanBroadcast>(node);
}

static PreparedKernel PrepareBroadcast(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  if (!IsAverage(node)) return PrepareStridedCopy<PlanBroadcast>(request);
  const CopyPlan plan = PlanBroadcast(node);
  const int64_t repetitions = node.outputs[0].shape.Elements() / node.inputs[0].shape.Elements();
  return PreparedKernel::Of(
      ForFloat<BroadcastAverage>(node.inputs[0].dtype),
      AverageParameters{ToDevice(plan.space, plan.base), static_cast<double>(repetitions)});
}

static bool SupportsPad(const NodeSignature& node) {
  return node.attributes.As<PadAttributes>().mode == "constant" && FillsFewAxes<PlanPad>(node);
}

KernelDef broadcast() {
  return {.name = "cuda.broadcast", .supports = SupportsBroadcast, .prepare = PrepareBroadcast};
}
KernelDef transpose() {
  return {.name = "cuda.transpose",
          .supports = CopiesFewAxes<PlanTranspose>,
          .prepare = PrepareStridedCopy<PlanTranspose>};
}
KernelDef slice() {
  return {.name = "cuda.slice",
          .supports = CopiesFewAxes<PlanSlice>,
          .prepare = PrepareStridedCopy<PlanSlice>};
}
KernelDef crop() {
  return {.name = "cuda.crop",
          .supports = CopiesFewAxes<PlanCrop>,
          .prepare = PrepareStridedCopy<PlanCrop>};
}
KernelDef flip() {
  return {.name = "cuda.flip",
          .supports = CopiesFewAxes<PlanFlip>,
          .prepare = PrepareStridedCopy<PlanFlip>};
}
KernelDef slice_grad() {
  return {.name = "cuda.slice_grad",
          .supports = FillsFewAxes<PlanSliceGrad>,
          .prepare = PrepareFillAndCopy<PlanSliceGrad>};
}
KernelDef pad() {
  return {.name = "cuda.pad", .supports = SupportsPad, .prepare = PrepareFillAndCopy<PlanPad>};
}

}  // namespace cgrun::cuda
