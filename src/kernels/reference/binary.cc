// add, sub, mul, div: one loop where the shapes are equal, a strided walk where one is broadcast.
#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/strided.h"

namespace cgrun::reference {
namespace {

struct Add {
  template <class C>
  C operator()(C a, C b) const {
    return a + b;
  }
};

struct Sub {
  template <class C>
  C operator()(C a, C b) const {
    return a - b;
  }
};

struct Mul {
  template <class C>
  C operator()(C a, C b) const {
    return a * b;
  }
};

struct Div {
  template <class C>
  C operator()(C a, C b) const {
    return a / b;
  }
};

using Space = StridedSpace<3>;

template <class Formula>
struct Broadcasting {
  template <class T>
  struct Kernel {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const T* a = Data<const T>(context, i, 0);
      const T* b = Data<const T>(context, i, 1);
      T* y = Data<T>(context, i, 2);
      ForEachIndex(*static_cast<const Space*>(i.parameters), {0, 0, 0}, [=](const auto& at) {
        y[at[2]] = Store<T>(Formula()(Load(a[at[0]]), Load(b[at[1]])));
      });
    }
  };

  static PreparedKernel Prepare(const KernelRequest& request) {
    const NodeSignature& node = request.node;
    const Shape& y = node.outputs[0].shape;
    if (node.inputs[0].shape == y && node.inputs[1].shape == y) {
      return Binary<Formula>::Prepare(request);
    }
    return PreparedKernel::Of(
        ForFloat<Kernel>(node.outputs[0].dtype),
        MakeSpace<3>(y.Sizes(), {BroadcastStrides(node.inputs[0].shape, y),
                                 BroadcastStrides(node.inputs[1].shape, y), RowMajorStrides(y)}));
  }
  static KernelDef Define(std::string_view name) {
    return {.name = name, .supports = AllFloat, .prepare = Prepare};
  }
};

}  // namespace

KernelDef add() { return Broadcasting<Add>::Define("reference.add"); }
KernelDef sub() { return Broadcasting<Sub>::Define("reference.sub"); }
KernelDef mul() { return Broadcasting<Mul>::Define("reference.mul"); }
KernelDef div() { return Broadcasting<Div>::Define("reference.div"); }

}  // namespace cgrun::reference
