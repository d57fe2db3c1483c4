// Runs the kernels of a fused body one after another. Intermediate results lie in the workspace.
#include <algorithm>
#include <array>

#include "src/base/check.h"
#include "src/ir/op_def.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/library.h"

namespace cgrun::reference {
namespace {

constexpr size_t kMaxOperands = 12;

struct Inner {
  PreparedKernel kernel;
  // Operands of the body operator: k ≥ 0 is operand k of the fused node; −1 − j is slot j of the
  // workspace.
  std::array<int, kMaxOperands> sources{};
  int operand_count = 0;
};

struct FusedParameters {
  std::vector<Inner> body;
  int64_t slot_bytes = 0;
  int workspace_operand = 0;
};

void RunFused(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const FusedParameters*>(i.parameters);
  for (const Inner& inner : p.body) {
    std::array<Operand, kMaxOperands> operands;
    for (int k = 0; k < inner.operand_count; ++k) {
      const int source = inner.sources[static_cast<size_t>(k)];
      Operand& operand = operands[static_cast<size_t>(k)];
      operand = i.operands[source >= 0 ? source : p.workspace_operand];
      if (source < 0) operand.offset += (-1 - source) * p.slot_bytes;
    }
    const Instruction instruction{inner.kernel.run, operands.data(), inner.kernel.parameters.get(),
                                  inner.operand_count, i.node};
    inner.kernel.run(context, instruction);
  }
}

// Returns the bytes of the largest intermediate result, in whole lines.
int64_t SlotBytes(const NodeSignature& node) {
  const std::vector<NodeSignature> body = SignaturesInBody(node);
  int64_t most = 0;
  for (size_t j = 0; j + 1 < body.size(); ++j) most = std::max(most, ByteSize(body[j].outputs[0]));
  return (most + 63) / 64 * 64;
}

// Every intermediate has a slot of its own; the last results are the node's outputs.
int64_t FusedWorkspaceBytes(const NodeSignature& node, int) {
  return SlotBytes(node) * (static_cast<int64_t>(node.body.size()) - 1);
}

// Every operator of the body has a kernel that needs no workspace of its own.
bool SupportsFused(const NodeSignature& node) {
  for (const NodeSignature& signature : SignaturesInBody(node)) {
    if (signature.inputs.size() + signature.outputs.size() > kMaxOperands) return false;
    const std::vector<KernelOption> options = Library().Options(signature, {});
    if (options.empty() || options[0].workspace_bytes > 0) return false;
  }
  return true;
}

PreparedKernel PrepareFused(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  FusedParameters p{
      {}, SlotBytes(node), static_cast<int>(node.inputs.size() + node.outputs.size())};
  const std::vector<NodeSignature> body = SignaturesInBody(node);
  for (size_t j = 0; j < body.size(); ++j) {
    const NodeSignature& signature = body[j];
    const std::vector<KernelOption> options = Library().Options(signature, {});
    CGRUN_CHECK(!options.empty()) << "no kernel in the body of a fused node";
    KernelRequest inner_request{signature, {}, 1};
    inner_request.operands.resize(signature.inputs.size() + signature.outputs.size());
    Inner inner{Library().Prepare(options[0].kernel, inner_request), {}, 0};
    for (int operand : node.body[j].operands) {
      inner.sources[static_cast<size_t>(inner.operand_count++)] = operand;
    }
    const bool last = j + 1 == body.size();
    for (size_t o = 0; o < signature.outputs.size(); ++o) {
      inner.sources[static_cast<size_t>(inner.operand_count++)] =
          last ? static_cast<int>(node.inputs.size() + o) : -1 - static_cast<int>(j);
    }
    p.body.push_back(std::move(inner));
  }
  return PreparedKernel::Of(&RunFused, std::move(p));
}

}  // namespace

KernelDef fused() {
  return {.name = "reference.fused",
          .supports = SupportsFused,
          .workspace_bytes = FusedWorkspaceBytes,
          .prepare = PrepareFused};
}

}  // namespace cgrun::reference
