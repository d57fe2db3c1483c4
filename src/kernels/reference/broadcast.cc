// broadcast: a strided walk with stride 0 on the repeated axes.
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/kernels/reference/strided.h"
#include "src/ops/reduce.h"

namespace cgrun::reference {
namespace {

struct Parameters {
  StridedSpace<2> space;
  double repetitions = 1;
};

template <class T>
struct Repeat {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    T* y = Data<T>(context, i, 1);
    ForEachIndex(p.space, {0, 0}, [=](const auto& at) { y[at[1]] = x[at[0]]; });
  }
};

template <class T>
struct Average {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    T* y = Data<T>(context, i, 1);
    ForEachIndex(p.space, {0, 0}, [=, &p](const auto& at) {
      const double share = static_cast<double>(Load(x[at[0]])) / p.repetitions;
      y[at[1]] = Store<T>(static_cast<Compute<T>>(share));
    });
  }
};

bool Supports(const NodeSignature& node) {
  const DType dtype = node.inputs[0].dtype;
  return node.attributes.As<BroadcastAttributes>().average ? IsReferenceFloat(dtype)
                                                           : dtype != DType::kF16;
}

PreparedKernel Prepare(const KernelRequest& request) {
  const Shape& x = request.node.inputs[0].shape;
  const Shape& y = request.node.outputs[0].shape;
  Parameters p{MakeSpace<2>(y.Sizes(), {BroadcastStrides(x, y), RowMajorStrides(y)}),
               static_cast<double>(y.Elements() / x.Elements())};
  const DType dtype = request.node.inputs[0].dtype;
  const bool average = request.node.attributes.As<BroadcastAttributes>().average;
  const KernelFunction run =
      average ? ForFloat<Average>(dtype)
              : ForEach(dtype, []<class T>(T*) -> KernelFunction { return &Repeat<T>::Run; });
  return PreparedKernel::Of(run, std::move(p));
}

}  // namespace

KernelDef broadcast() {
  return {.name = "reference.broadcast", .supports = Supports, .prepare = Prepare};
}

}  // namespace cgrun::reference
