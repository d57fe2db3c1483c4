// Computes logical_not, logical_and, logical_or and logical_xor.
#include "src/kernels/reference/broadcasting.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct And {
  bool operator()(bool a, bool b) const { return a && b; }
};

struct Or {
  bool operator()(bool a, bool b) const { return a || b; }
};

struct Xor {
  bool operator()(bool a, bool b) const { return a != b; }
};

void RunNot(const RunContext& context, const Instruction& i) noexcept {
  const int64_t elements = static_cast<const ElementwiseParameters*>(i.parameters)->elements;
  const bool* x = Data<const bool>(context, i, 0);
  bool* y = Data<bool>(context, i, 1);
  for (int64_t e = 0; e < elements; ++e) y[e] = !x[e];
}

template <class Formula>
void RunLogic(const RunContext& context, const Instruction& i) noexcept {
  const auto& space = *static_cast<const StridedSpace<3>*>(i.parameters);
  const bool* a = Data<const bool>(context, i, 0);
  const bool* b = Data<const bool>(context, i, 1);
  bool* y = Data<bool>(context, i, 2);
  ForEachIndex(space, {}, [=](const auto& at) { y[at[2]] = Formula()(a[at[0]], b[at[1]]); });
}

PreparedKernel PrepareNot(const KernelRequest& request) {
  return PreparedKernel::Of(&RunNot,
                            ElementwiseParameters{request.node.outputs[0].shape.Elements()});
}

template <class Formula>
PreparedKernel PrepareLogic(const KernelRequest& request) {
  return PreparedKernel::Of(&RunLogic<Formula>, BroadcastSpace<2>(request.node));
}

}  // namespace

KernelDef logical_not() {
  return {.name = "reference.logical_not", .prepare = PrepareNot, .elementwise = true};
}
KernelDef logical_and() { return {.name = "reference.logical_and", .prepare = PrepareLogic<And>}; }
KernelDef logical_or() { return {.name = "reference.logical_or", .prepare = PrepareLogic<Or>}; }
KernelDef logical_xor() { return {.name = "reference.logical_xor", .prepare = PrepareLogic<Xor>}; }

}  // namespace cgrun::reference
