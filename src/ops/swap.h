// Declares the operators that swap a tensor to a file and back, and the kernels for them.
#ifndef CGRUN_OPS_SWAP_H_
#define CGRUN_OPS_SWAP_H_

#include <array>
#include <optional>

#include "src/ir/op_def.h"
#include "src/ops/target.h"

namespace cgrun {

// In the order in which they run.
inline constexpr std::array kTransfers = {OpId::swap_out, OpId::swap_out_wait, OpId::swap_in,
                                          OpId::swap_in_wait};

// Returns the kernel of a transfer's operator that takes a tensor of `type` as it lies in `layout`,
// and leaves it so. If the target has none, returns nothing.
std::optional<KernelOption> OptionOfTransfer(const Target& target, OpId op, const TensorType& type,
                                             const Layout& layout, int threads);

// Returns whether the target can swap such a tensor.
bool CanSwap(const Target& target, const TensorType& type, const Layout& layout, int threads);

}  // namespace cgrun

#endif  // CGRUN_OPS_SWAP_H_
