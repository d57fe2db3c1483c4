// Computes compare, where and the gradient of where.
#include <functional>

#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/strided.cuh"
#include "src/ops/compare.h"
#include "src/ops/where.h"

namespace cgrun::cuda {

template <class T, class Relation>
struct CompareBody {
  DeviceSpace<3> space;
  const T *a, *b;
  bool* y;
  __device__ void operator()(int64_t index) const {
    int64_t at[3];
    space.At(index, at);
    y[at[2]] = Relation()(Load(a[at[0]]), Load(b[at[1]]));
  }
};

template <class T, class Relation>
struct Compare {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& space = *static_cast<const DeviceSpace<3>*>(i.parameters);
    ForEachElement(
        context, space.count,
        CompareBody<T, Relation>{space, Data<const T>(context, i, 0), Data<const T>(context, i, 1),
                                 Data<bool>(context, i, 2)});
  }
};

template <class Relation>
static KernelFunction CompareForType(DType dtype) {
  return ForEach(dtype, []<class T>(T*) -> KernelFunction { return &Compare<T, Relation>::Run; });
}

static KernelFunction CompareForRelation(const std::string& is, DType dtype) {
  if (is == "less") return CompareForType<std::less<>>(dtype);
  if (is == "less_or_equal") return CompareForType<std::less_equal<>>(dtype);
  if (is == "equal") return CompareForType<std::equal_to<>>(dtype);
  if (is == "not_equal") return CompareForType<std::not_equal_to<>>(dtype);
  if (is == "greater") return CompareForType<std::greater<>>(dtype);
  CGRUN_CHECK(is == "greater_or_equal") << "no relation " << is;
  return CompareForType<std::greater_equal<>>(dtype);
}

static bool SupportsCompare(const NodeSignature& node) {
  return !IsStorageType(node.inputs[0].dtype) && BroadcastsFewAxes<2>(node);
}

static PreparedKernel PrepareCompare(const KernelRequest& request) {
  const std::string& is = request.node.attributes.As<CompareAttributes>().is;
  return PreparedKernel::Of(CompareForRelation(is, request.node.inputs[0].dtype),
                            ToDevice(BroadcastSpace<2>(request.node)));
}

template <class Bits>
struct WhereBody {
  DeviceSpace<4> space;
  const bool* condition;
  const Bits *a, *b;
  Bits* y;
  __device__ void operator()(int64_t index) const {
    int64_t at[4];
    space.At(index, at);
    y[at[3]] = condition[at[0]] ? a[at[1]] : b[at[2]];
  }
};

template <class Bits>
struct Where {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& space = *static_cast<const DeviceSpace<4>*>(i.parameters);
    ForEachElement(
        context, space.count,
        WhereBody<Bits>{space, Data<const bool>(context, i, 0), Data<const Bits>(context, i, 1),
                        Data<const Bits>(context, i, 2), Data<Bits>(context, i, 3)});
  }
};

static PreparedKernel PrepareWhere(const KernelRequest& request) {
  return PreparedKernel::Of(ForBytes<Where>(SizeOf(request.node.outputs[0].dtype)),
                            ToDevice(BroadcastSpace<3>(request.node)));
}

struct WhereGradParameters {
  DeviceSpace<3> space;
  bool taken_if;
};

// Zero bits are the number 0.
template <class Bits>
struct WhereGradBody {
  DeviceSpace<3> space;
  bool taken_if;
  const bool* condition;
  const Bits* dy;
  Bits* dx;
  __device__ void operator()(int64_t index) const {
    int64_t at[3];
    space.At(index, at);
    dx[at[2]] = condition[at[0]] == taken_if ? dy[at[1]] : Bits(0);
  }
};

template <class Bits>
struct WhereGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const WhereGradParameters*>(i.parameters);
    ForEachElement(context, p.space.count,
                   WhereGradBody<Bits>{p.space, p.taken_if, Data<const bool>(context, i, 0),
                                       Data<const Bits>(context, i, 1), Data<Bits>(context, i, 2)});
  }
};

static PreparedKernel PrepareWhereGrad(const KernelRequest& request) {
  const bool taken_if = request.node.attributes.As<WhereGradAttributes>().taken_if;
  return PreparedKernel::Of(
      ForBytes<WhereGrad>(SizeOf(request.node.outputs[0].dtype)),
      WhereGradParameters{ToDevice(BroadcastSpace<2>(request.node)), taken_if});
}

KernelDef compare() {
  return {.name = "cuda.compare", .supports = SupportsCompare, .prepare = PrepareCompare};
}
KernelDef where() {
  return {.name = "cuda.where", .supports = BroadcastsFewAxes<3>, .prepare = PrepareWhere};
}
KernelDef where_grad() {
  return {.name = "cuda.where_grad", .supports = BroadcastsFewAxes<2>, .prepare = PrepareWhereGrad};
}

}  // namespace cgrun::cuda
