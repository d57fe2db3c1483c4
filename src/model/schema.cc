// What reading by tables has in common for all tables.
#include "src/model/schema.h"

#include <algorithm>
#include <map>

#include "src/model/expression.h"
#include "src/model/key_synonyms.h"

namespace cgrun {

std::vector<std::string> Choices(const ValueType& type) {
  std::vector<std::string> choices;
  std::string_view rest = type.text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(", "), rest.size());
    choices.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return choices;
}

std::string HomeOfKey(std::string_view key) {
  constexpr std::string_view kOfOptimizers[] = {"lr", "momentum", "weight_decay", "schedule"};
  if (std::ranges::find(kOfOptimizers, key) != std::end(kOfOptimizers)) {
    return "train.optimizer." + std::string(key);
  }
  for (const MapDoc& doc : FormatReference()) {
    const bool one_map = doc.place.find_first_of("*[") == std::string_view::npos;
    if (!one_map || std::ranges::find(doc.keys, key, &KeyDoc::name) == doc.keys.end()) continue;
    return doc.place.empty() ? "" : std::string(doc.place) + "." + std::string(key);
  }
  return "";
}

std::string Place(const SourceMark& mark) {
  if (mark.line > 0) return "line " + std::to_string(mark.line);
  return mark.file ? mark.file->name : "a default";
}

bool Reader::IsDeferred(const TreeNode& node) const { return in_template && HasPlaceholder(node); }

bool Reader::CheckMap(const TreeNode& node, std::string_view what) const {
  if (node.IsMap()) return true;
  diagnostics.Error(node.mark, "'" + std::string(what) + "' must be a map, not " + Describe(node),
                    "maps are written `{key: value}`, or one key a line, indented");
  return false;
}

bool Reader::CheckSequence(const TreeNode& node, std::string_view what) const {
  if (node.IsSequence()) return true;
  diagnostics.Error(node.mark, "'" + std::string(what) + "' must be a list, not " + Describe(node),
                    "lists are written `[a, b]`, or one item a line behind '- '");
  return false;
}

void ReportUnknownKey(const TreeEntry& entry, std::string_view what, std::span<const KeyDoc> keys,
                      const Reader& reader) {
  std::vector<std::string> names;
  for (const KeyDoc& key : keys) names.emplace_back(key.name);
  const std::string place = what.empty() ? "" : " in '" + std::string(what) + "'";
  std::string help = SuggestKey(entry.key, names);
  const std::string home = HomeOfKey(entry.key);
  if (help.starts_with("known:") && !home.empty()) {
    help = "it is a key of '" + home.substr(0, home.rfind('.')) + "'; " + help;
  }
  reader.diagnostics.Error(entry.key_mark, "unknown key '" + entry.key + "'" + place, help);
}

void CheckKeys(const TreeNode& map, std::string_view what, const SourceMark& place,
               std::span<const KeyDoc> keys, const Reader& reader) {
  const std::string owner = what.empty() ? "the file" : "'" + std::string(what) + "'";
  for (const KeyDoc& key : keys) {
    const TreeEntry* entry = map.Find(key.name);
    const bool missing = entry == nullptr || entry->value.IsNull();
    if (!missing || key.fallback != kRequired) continue;
    const std::string name(key.name);
    reader.diagnostics.Error(
        entry ? entry->key_mark : place, owner + " needs '" + name + "'",
        name + ": " + std::string(key.type.text) + "; " + std::string(key.doc));
  }
  std::map<std::string_view, const TreeEntry*> groups;
  for (const TreeEntry& entry : map.entries) {
    const auto key = std::find_if(keys.begin(), keys.end(),
                                  [&](const KeyDoc& doc) { return doc.name == entry.key; });
    if (key == keys.end() || key->group.empty() || entry.value.IsNull()) continue;
    const auto [first, is_first] = groups.emplace(key->group, &entry);
    if (is_first) continue;
    reader.diagnostics.Error(
        entry.key_mark, "'" + entry.key + "' and '" + first->second->key + "' exclude each other",
        "remove one; '" + first->second->key + "' is in " + Place(first->second->key_mark));
  }
}

}  // namespace cgrun
