// A target that is asked the same again and again: a selection tries a graph several times.
#ifndef CGRUN_SELECT_REMEMBERING_TARGET_H_
#define CGRUN_SELECT_REMEMBERING_TARGET_H_

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/ops/target.h"

namespace cgrun {

// Holds the node and the setting on which the options depend. Both are references during a lookup.
template <class Node, class Setting>
struct AskedFor {
  Node node;
  Setting setting;
};

struct HashOfAsked {
  using is_transparent = void;
  template <class Node, class Setting>
  size_t operator()(const AskedFor<Node, Setting>& asked) const {
    return Of(asked.node, asked.setting);
  }

 private:
  // Not of the attributes: few nodes differ in them alone.
  static size_t Of(const NodeSignature& node, const RunSetting& setting);
};

struct EqualAsked {
  using is_transparent = void;
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return Equal(a.node, b.node) && Equal(a.setting, b.setting);
  }

 private:
  static bool Equal(const NodeSignature& a, const NodeSignature& b);
  static bool Equal(const RunSetting& a, const RunSetting& b);
};

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
  mutable std::unordered_map<AskedFor<NodeSignature, RunSetting>, std::vector<KernelOption>,
                             HashOfAsked, EqualAsked>
      options_;
};

}  // namespace cgrun

#endif  // CGRUN_SELECT_REMEMBERING_TARGET_H_
