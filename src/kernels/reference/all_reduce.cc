// Runs all_reduce through the run's communicator.
#include <cstring>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

struct AllReduceParameters {
  int64_t elements;
  int64_t bytes;
  DType dtype;
};

void RunAllReduce(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const AllReduceParameters*>(i.parameters);
  const std::byte* x = Data<const std::byte>(context, i, 0);
  std::byte* y = Data<std::byte>(context, i, 1);
  if (x != y) std::memcpy(y, x, static_cast<size_t>(p.bytes));
  context.communicator->AllReduce(y, p.elements, p.dtype);
}

PreparedKernel PrepareAllReduce(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  return PreparedKernel::Of(&RunAllReduce,
                            AllReduceParameters{type.shape.Elements(), ByteSize(type), type.dtype});
}

}  // namespace

KernelDef all_reduce() {
  return {.name = "reference.all_reduce", .supports = AllFloat, .prepare = PrepareAllReduce};
}

}  // namespace cgrun::reference
