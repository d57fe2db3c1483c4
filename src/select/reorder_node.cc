#include "src/select/reorder_node.h"

#include <fmt/format.h>

#include <ranges>

#include "src/ops/reorder.h"

namespace cgrun {
namespace {

constexpr double kImpossibleSeconds = 1e9;

}  // namespace

NodeSignature ReorderSignature(const TensorType& type, const Layout& from, const Layout& to) {
  return {OpId::reorder,
          Attributes::Of(ReorderAttributes{from.ToString(), to.ToString()}),
          {type},
          {type},
          {}};
}

double ReorderSeconds(const NodeSignature& reorder, const Target& target, int threads) {
  const std::vector<KernelOption> options = target.Options(reorder, {threads});
  return options.empty() ? kImpossibleSeconds : options[0].seconds;
}

KernelChoice ChoiceOf(const KernelOption& option, int threads) {
  return {
      option.kernel,      threads,        option.workspace_bytes, option.in_place,
      option.sub_buffers, option.seconds, option.is_measured,     option.same_bits_single_threaded,
      option.widens};
}

void ReportNoKernel(const Node& node, const NodeSignature& signature, const Target& target,
                    Diagnostics& diagnostics) {
  const auto types = signature.inputs | std::views::transform(&TensorType::ToString);
  diagnostics.Error(node.mark,
                    fmt::format("{}: device '{}' has no kernel for '{}' on {}", node.name,
                                target.name(), NameOf(node.op), fmt::join(types, ", ")),
                    "choose another device or another number type");
}

}  // namespace cgrun
