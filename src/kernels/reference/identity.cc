// identity, and reshape and flatten where they cannot be views: copies bytes of any number type.
#include <cstring>

#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct Parameters {
  int64_t bytes;
};

void Run(const RunContext& context, const Instruction& i) noexcept {
  const std::byte* x = Data<const std::byte>(context, i, 0);
  std::byte* y = Data<std::byte>(context, i, 1);
  const int64_t bytes = static_cast<const Parameters*>(i.parameters)->bytes;
  if (x != y) std::memcpy(y, x, static_cast<size_t>(bytes));
}

PreparedKernel Prepare(const KernelRequest& request) {
  return PreparedKernel::Of(&Run, Parameters{ByteSize(request.node.inputs[0])});
}

}  // namespace

KernelDef identity() { return {.name = "reference.identity", .prepare = Prepare}; }
KernelDef flatten() { return {.name = "reference.flatten", .prepare = Prepare}; }
KernelDef reshape() { return {.name = "reference.reshape", .prepare = Prepare}; }

}  // namespace cgrun::reference
