// identity; and parameter, reshape and flatten where they cannot be views: copies bytes of any
// number type.
#include <cstring>

#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct IdentityParameters {
  int64_t bytes;
};

void RunIdentity(const RunContext& context, const Instruction& i) noexcept {
  const std::byte* x = Data<const std::byte>(context, i, 0);
  std::byte* y = Data<std::byte>(context, i, 1);
  const int64_t bytes = static_cast<const IdentityParameters*>(i.parameters)->bytes;
  if (x != y) std::memcpy(y, x, static_cast<size_t>(bytes));
}

PreparedKernel PrepareIdentity(const KernelRequest& request) {
  return PreparedKernel::Of(&RunIdentity, IdentityParameters{ByteSize(request.node.inputs[0])});
}

}  // namespace

KernelDef identity() { return {.name = "reference.identity", .prepare = PrepareIdentity}; }
KernelDef flatten() { return {.name = "reference.flatten", .prepare = PrepareIdentity}; }
KernelDef parameter() { return {.name = "reference.parameter", .prepare = PrepareIdentity}; }
KernelDef reshape() { return {.name = "reference.reshape", .prepare = PrepareIdentity}; }

}  // namespace cgrun::reference
