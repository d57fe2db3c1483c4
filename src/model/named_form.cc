// The keys of such forms are a list here.
#include "src/model/named_form.h"

#include <algorithm>
#include <string_view>

namespace cgrun {
namespace {

constexpr std::string_view kKindKeys[] = {"op",        "type",      "kind",     "layer",
                                          "layertype", "classname", "operator", "operation"};
constexpr std::string_view kNameKeys[] = {"name", "class", "method", "policy"};

bool IsOneOf(std::span<const std::string_view> keys, const TreeEntry& entry) {
  return entry.value.IsScalar() && std::ranges::find(keys, PlainName(entry.key)) != keys.end();
}

}  // namespace

std::optional<NamedForm> FindNamedForm(const TreeNode& map, bool may_be_name) {
  const auto find = [&](std::span<const std::string_view> keys) {
    return std::ranges::find_if(map.entries,
                                [&](const TreeEntry& entry) { return IsOneOf(keys, entry); });
  };
  auto found = find(kKindKeys);
  if (found == map.entries.end() && may_be_name) found = find(kNameKeys);
  if (found == map.entries.end()) return std::nullopt;
  NamedForm form{*found, map};
  form.rest.entries.erase(form.rest.entries.begin() + (found - map.entries.begin()));
  return form;
}

TreeNode WithOurKeys(TreeNode map, std::span<const std::string> known,
                     std::span<const Synonym> table) {
  for (TreeEntry& entry : map.entries) {
    const std::string ours = OurName(entry.key, known, table);
    if (!ours.empty()) entry.key = ours;
  }
  return map;
}

std::string WithKindAsKey(const std::string& kind, const TreeNode& arguments) {
  return arguments.entries.empty() ? kind : "{" + kind + ": " + FlowText(arguments) + "}";
}

}  // namespace cgrun
