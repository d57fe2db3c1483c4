// Ids are places in a list.
#include "src/data/categories.h"

#include <utility>

namespace cgrun {

Categories::Categories(std::vector<std::string> names) : names_(std::move(names)) { Settle(); }

bool Categories::Survey(std::string_view text) {
  if (surveys_ && !met_.contains(text)) met_.emplace(text);
  return met_.size() <= kMost;
}

void Categories::Settle() {
  if (surveys_ && !met_.empty()) names_.assign(met_.begin(), met_.end());
  met_.clear();
  surveys_ = false;
  ids_.clear();
  for (const std::string& name : names_) ids_.emplace(name, static_cast<int32_t>(ids_.size()) + 1);
}

int32_t Categories::Find(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? kUnknown : found->second;
}

}  // namespace cgrun
