// RememberingTarget: options by all that they depend on.
#include "src/select/remembering_target.h"

#include <functional>
#include <string>

namespace cgrun {

size_t HashOfAsked::Of(const NodeSignature& node, const RunSetting& setting) {
  size_t hash = static_cast<size_t>(node.op);
  const auto add = [&](const auto& item) {
    constexpr size_t kMultiplier = 0x9e3779b97f4a7c15;  // 2⁶⁴ over the golden ratio
    hash = (hash ^ std::hash<std::decay_t<decltype(item)>>()(item)) * kMultiplier;
  };
  for (const auto* types : {&node.inputs, &node.outputs}) {
    for (const TensorType& type : *types) {
      add(static_cast<int>(type.dtype));
      for (const Dim& dim : type.shape.dims()) add(dim.size);
    }
  }
  add(node.attributes.Hash());  // slices of one tensor differ in these alone
  for (const FusedOperator& part : node.body) add(static_cast<int>(part.op));
  for (const Layout& layout : setting.layouts) add(layout.blocks.size());
  add(setting.threads);
  add(setting.learns);
  add(setting.workspace_budget);
  add(setting.tf32);
  add(setting.thread_team);
  return hash;
}

bool EqualAsked::Equal(const NodeSignature& a, const NodeSignature& b) {
  return a.op == b.op && a.inputs == b.inputs && a.outputs == b.outputs &&
         a.attributes == b.attributes && a.body == b.body;
}

bool EqualAsked::Equal(const RunSetting& a, const RunSetting& b) {
  return a.threads == b.threads && a.layouts == b.layouts && a.learns == b.learns &&
         a.workspace_budget == b.workspace_budget && a.tf32 == b.tf32 &&
         a.thread_team == b.thread_team;
}

std::vector<KernelOption> RememberingTarget::Options(const NodeSignature& node,
                                                     const RunSetting& setting) const {
  using Question = AskedFor<const NodeSignature&, const RunSetting&>;
  const auto known = options_.find(Question{node, setting});
  if (known != options_.end()) return known->second;
  return options_
      .emplace(AskedFor<NodeSignature, RunSetting>{node, setting}, target_.Options(node, setting))
      .first->second;
}

}  // namespace cgrun
