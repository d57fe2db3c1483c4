// A target that is asked the same again and again: a selection tries a graph several times.
#ifndef CGRUN_SELECT_REMEMBERING_TARGET_H_
#define CGRUN_SELECT_REMEMBERING_TARGET_H_

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/ops/target.h"

namespace cgrun {

// Asks `target`, which outlives it, for the options of each node and setting once. For one thread.
class RememberingTarget final : public Target {
 public:
  explicit RememberingTarget(const Target& target) : target_(target) {}

  std::string_view name() const override { return target_.name(); }
  std::vector<KernelOption> Options(const NodeSignature& node,
                                    const RunSetting& setting) const override;
  std::optional<std::vector<HostTensor>> Evaluate(
      const NodeSignature& node, std::span<const HostTensor> inputs) const override {
    return target_.Evaluate(node, inputs);
  }
  std::string fingerprint() const override { return target_.fingerprint(); }

 private:
  const Target& target_;
  mutable std::unordered_map<std::string, std::vector<KernelOption>> options_;
};

}  // namespace cgrun

#endif  // CGRUN_SELECT_REMEMBERING_TARGET_H_
