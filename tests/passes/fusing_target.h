// A device that does not exist: it has a kernel for every node and for every fused node, at a
// price.
#ifndef CGRUN_TESTS_PASSES_FUSING_TARGET_H_
#define CGRUN_TESTS_PASSES_FUSING_TARGET_H_

#include <optional>
#include <string>
#include <vector>

#include "src/ops/target.h"

namespace cgrun {

class FusingTarget : public Target {
 public:
  double fused_seconds = 1;
  int64_t fused_workspace = 0;

  std::string_view name() const override { return "fusing"; }
  std::string fingerprint() const override { return "fusing 1"; }
  std::optional<std::vector<HostTensor>> Evaluate(const NodeSignature&,
                                                  std::span<const HostTensor>) const override {
    return std::nullopt;
  }
  std::vector<KernelOption> Options(const NodeSignature& node, const RunSetting&) const override {
    KernelOption option;
    option.input_layouts.resize(node.inputs.size());
    option.output_layouts.resize(node.outputs.size());
    option.kernel = "fusing." + std::string(NameOf(node.op));
    option.seconds = node.op == OpId::fused ? fused_seconds : 1;
    option.workspace_bytes = node.op == OpId::fused ? fused_workspace : 0;
    return {option};
  }
};

}  // namespace cgrun

#endif  // CGRUN_TESTS_PASSES_FUSING_TARGET_H_
