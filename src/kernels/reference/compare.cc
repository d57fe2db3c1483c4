// Computes compare, for every number type but f16.
#include "src/ops/compare.h"

#include <functional>

#include "src/base/check.h"
#include "src/kernels/reference/broadcasting.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

template <class T, class Relation>
struct Compare {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& space = *static_cast<const StridedSpace<3>*>(i.parameters);
    const T* a = Data<const T>(context, i, 0);
    const T* b = Data<const T>(context, i, 1);
    bool* y = Data<bool>(context, i, 2);
    ForEachIndex(space, {},
                 [=](const auto& at) { y[at[2]] = Relation()(Load(a[at[0]]), Load(b[at[1]])); });
  }
};

template <class Relation>
KernelFunction ForType(DType dtype) {
  return ForEach(dtype, []<class T>(T*) -> KernelFunction { return &Compare<T, Relation>::Run; });
}

KernelFunction ForRelation(const std::string& is, DType dtype) {
  if (is == "less") return ForType<std::less<>>(dtype);
  if (is == "less_or_equal") return ForType<std::less_equal<>>(dtype);
  if (is == "equal") return ForType<std::equal_to<>>(dtype);
  if (is == "not_equal") return ForType<std::not_equal_to<>>(dtype);
  if (is == "greater") return ForType<std::greater<>>(dtype);
  CGRUN_CHECK(is == "greater_or_equal") << "no relation " << is;
  return ForType<std::greater_equal<>>(dtype);
}

bool SupportsCompare(const NodeSignature& node) { return !IsStorageType(node.inputs[0].dtype); }

PreparedKernel PrepareCompare(const KernelRequest& request) {
  const std::string& is = request.node.attributes.As<CompareAttributes>().is;
  return PreparedKernel::Of(ForRelation(is, request.node.inputs[0].dtype),
                            BroadcastSpace<2>(request.node));
}

}  // namespace

KernelDef compare() {
  return {.name = "reference.compare", .supports = SupportsCompare, .prepare = PrepareCompare};
}

}  // namespace cgrun::reference
