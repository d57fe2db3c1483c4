// Computes where and its gradient: elements are moved as they are.
#include "src/ops/where.h"

#include "src/kernels/reference/broadcasting.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

template <class Bits>
struct Where {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& space = *static_cast<const StridedSpace<4>*>(i.parameters);
    const bool* condition = Data<const bool>(context, i, 0);
    const Bits* a = Data<const Bits>(context, i, 1);
    const Bits* b = Data<const Bits>(context, i, 2);
    Bits* y = Data<Bits>(context, i, 3);
    ForEachIndex(space, {},
                 [=](const auto& at) { y[at[3]] = condition[at[0]] ? a[at[1]] : b[at[2]]; });
  }
};

struct WhereGradParameters {
  StridedSpace<3> space;
  bool taken_if;
};

// Zero bits are the number 0.
template <class Bits>
struct WhereGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const WhereGradParameters*>(i.parameters);
    const bool* condition = Data<const bool>(context, i, 0);
    const Bits* dy = Data<const Bits>(context, i, 1);
    Bits* dx = Data<Bits>(context, i, 2);
    ForEachIndex(p.space, {}, [=, taken_if = p.taken_if](const auto& at) {
      dx[at[2]] = condition[at[0]] == taken_if ? dy[at[1]] : Bits(0);
    });
  }
};

PreparedKernel PrepareWhere(const KernelRequest& request) {
  return PreparedKernel::Of(ForBytes<Where>(SizeOf(request.node.outputs[0].dtype)),
                            BroadcastSpace<3>(request.node));
}

PreparedKernel PrepareWhereGrad(const KernelRequest& request) {
  const bool taken_if = request.node.attributes.As<WhereGradAttributes>().taken_if;
  return PreparedKernel::Of(ForBytes<WhereGrad>(SizeOf(request.node.outputs[0].dtype)),
                            WhereGradParameters{BroadcastSpace<2>(request.node), taken_if});
}

}  // namespace

KernelDef where() { return {.name = "reference.where", .prepare = PrepareWhere}; }
KernelDef where_grad() { return {.name = "reference.where_grad", .prepare = PrepareWhereGrad}; }

}  // namespace cgrun::reference
