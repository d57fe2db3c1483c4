// RememberingTarget: options by a text of all that they depend on.
#include "src/select/remembering_target.h"

#include "src/select/tuned_target.h"

namespace cgrun {

std::vector<KernelOption> RememberingTarget::Options(const NodeSignature& node,
                                                     const RunSetting& setting) const {
  KernelOption any;
  any.input_layouts = setting.layouts;
  const std::string key = TuningRecord::KeyOf(node, any, setting.threads) +
                          (setting.learns ? " learns " : " ") + std::to_string(setting.room);
  const auto known = options_.find(key);
  if (known != options_.end()) return known->second;
  return options_.emplace(key, target_.Options(node, setting)).first->second;
}

}  // namespace cgrun
