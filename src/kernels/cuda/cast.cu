// Computes cast between any two number types. Pairs of types in which kernels compute have code of
// their own. For others, each type that is read has one kernel, which looks up the other type.
#include "src/kernels/cuda/elementwise.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/wide_cast.h"

namespace cgrun::cuda {

template <class From, class To>
struct CastBody {
  const From* x;
  To* y;
  __device__ void operator()(int64_t e) const { y[e] = Convert<To>(x[e]); }
};

template <class From, class To>
struct Cast {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const int64_t elements = static_cast<const ElementwiseParameters*>(i.parameters)->elements;
    ForEachElement(context, elements,
                   CastBody<From, To>{Data<const From>(context, i, 0), Data<To>(context, i, 1)});
  }
};

struct StoredCastParameters {
  int64_t elements = 0;
  DType to = DType::kF32;
};

template <class From>
struct StoredCastBody {
  const From* x;
  void* y;
  DType to;

  template <class To>
  __device__ void Store(int64_t e) const {
    static_cast<To*>(y)[e] = kernels::Narrow<To>(kernels::Widen(x[e]));
  }
  __device__ void operator()(int64_t e) const {
    switch (to) {
      case DType::kF64:
        return Store<double>(e);
      case DType::kF32:
        return Store<float>(e);
      case DType::kBF16:
        return Store<__nv_bfloat16>(e);
      case DType::kF16:
        return Store<Float16>(e);
      case DType::kI64:
        return Store<int64_t>(e);
      case DType::kI32:
        return Store<int32_t>(e);
      case DType::kI16:
        return Store<int16_t>(e);
      case DType::kI8:
        return Store<int8_t>(e);
      case DType::kU64:
        return Store<uint64_t>(e);
      case DType::kU32:
        return Store<uint32_t>(e);
      case DType::kU16:
        return Store<uint16_t>(e);
      case DType::kU8:
        return Store<uint8_t>(e);
      case DType::kBool:
        return Store<bool>(e);
    }
  }
};

template <class From>
struct StoredCast {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const StoredCastParameters*>(i.parameters);
    ForEachElement(
        context, p.elements,
        StoredCastBody<From>{Data<const From>(context, i, 0), Data<void>(context, i, 1), p.to});
  }
};

static PreparedKernel PrepareStoredCast(const TensorType& x, DType to) {
  const KernelFunction run = ForAnyType<__nv_bfloat16>(
      x.dtype, []<class From>(From*) -> KernelFunction { return &StoredCast<From>::Run; });
  return PreparedKernel::Of(run, StoredCastParameters{x.shape.Elements(), to});
}

static PreparedKernel PrepareCast(const KernelRequest& request) {
  const TensorType& x = request.node.inputs[0];
  const DType to = request.node.outputs[0].dtype;
  if (IsStorageType(x.dtype) || IsStorageType(to)) return PrepareStoredCast(x, to);
  const KernelFunction run = ForEach(x.dtype, [&]<class From>(From*) {
    return ForEach(to, []<class To>(To*) -> KernelFunction { return &Cast<From, To>::Run; });
  });
  return PreparedKernel::Of(run, ElementwiseParameters{x.shape.Elements()});
}

KernelDef cast() { return {.name = "cuda.cast", .prepare = PrepareCast}; }

}  // namespace cgrun::cuda
