// Scopes and the look-up of names.
#include "src/frontend/names.h"

#include <algorithm>

namespace cgrun {

std::optional<ValueId> Scope::Find(const std::string& name) const {
  const auto it = values.find(name);
  if (it != values.end()) return it->second;
  return outer == nullptr ? std::nullopt : outer->Find(name);
}

void Scope::CollectNames(std::vector<std::string>& names) const {
  for (const auto& [name, value] : values) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (outer != nullptr) outer->CollectNames(names);
}

void Names::Declare(const PathSpec& path) {
  for (const OpSpec& op : path.ops) {
    for (const MarkedText& name : OutputNames(op)) {
      const Declaration here{path.name.value, name.mark.line};
      declared_.emplace(name.value, here);
      declared_.emplace(path.name.value + "." + name.value, here);
    }
  }
}

void Names::Publish(const Scope& scope, const std::string& path) {
  for (const auto& [name, value] : scope.values) {
    const auto [first, is_new] = first_path_.emplace(name, path);
    if (ambiguous_.contains(name)) continue;
    if (is_new || first->second == path) {
      global_.values[name] = value;
    } else {
      global_.values[name] = ValueId();
      ambiguous_[name] = first->second + "." + name + "' or '" + path + "." + name;
    }
  }
}

namespace {

// Whether `name` says something inside of what could not be built: "stage[1].conv" of 'stage'.
bool IsInsideUnknown(const std::string& name, const Scope& scope) {
  for (size_t i = name.find_first_of(".["); i != std::string::npos;
       i = name.find_first_of(".[", i + 1)) {
    const std::optional<ValueId> outer = scope.Find(name.substr(0, i));
    if (outer && !outer->valid()) return true;
  }
  return false;
}

}  // namespace

std::string Names::HelpWithUnknown(const std::string& name, const Scope& scope) const {
  const auto declared = declared_.find(name);
  if (declared == declared_.end()) {
    std::vector<std::string> names;
    scope.CollectNames(names);
    return SuggestName(name, names);
  }
  const auto& [path, line] = declared->second;
  if (path == current_) {
    return "it is made in line " + std::to_string(line) +
           ", and an operator reads only what is made above it";
  }
  return "it is made in path '" + path +
         "': let that run first (the order of `paths`, or `train.sequence`)";
}

ValueId Names::Lookup(const MarkedText& name, const Scope& scope, Diagnostics& diagnostics) const {
  const std::optional<ValueId> value = scope.Find(name.value);
  const auto ambiguous = ambiguous_.find(name.value);
  if (value && !value->valid() && ambiguous != ambiguous_.end()) {
    diagnostics.Error(name.mark, "two paths have a value '" + name.value + "'",
                      "write '" + ambiguous->second + "'");
  }
  if (value) return *value;
  if (incomplete_ || IsInsideUnknown(name.value, scope)) return ValueId();
  diagnostics.Error(name.mark, "there is no value '" + name.value + "' before this place",
                    HelpWithUnknown(name.value, scope));
  return ValueId();
}

}  // namespace cgrun
