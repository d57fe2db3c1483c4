// Holds the code that all tables share when a map is read by its table.
#include "src/model/schema.h"

#include <algorithm>
#include <map>

#include "src/base/synonyms.h"
#include "src/model/expression.h"
#include "src/model/key_synonyms.h"
#include "src/model/values.h"

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

namespace {

constexpr std::string_view kOfOptimizers[] = {"lr", "momentum", "nesterov", "weight_decay",
                                              "schedule"};
constexpr std::string_view kOfPaths[] = {"loss", "metrics", "ops"};

constexpr std::string_view kTrain = "train";

std::vector<std::string> Names(std::span<const std::string_view> names) {
  return {names.begin(), names.end()};
}

}  // namespace

std::string HelpWithHome(std::string_view key) {
  const std::string name(key);
  if (std::ranges::find(kOfOptimizers, key) != std::end(kOfOptimizers)) {
    return "write `train: {optimizer: {op: sgd, " + name + ": …}}`";
  }
  if (std::ranges::find(kOfPaths, key) != std::end(kOfPaths)) {
    return "write `paths: {NAME: {" + name + ": …}}`";
  }
  const std::vector<KeyDoc> top = FormatReference().front().keys;
  if (std::ranges::find(top, key, &KeyDoc::name) != top.end()) {
    return "write `" + name + ": …` at the left margin: it is a key of the file itself";
  }
  std::string home = HomeOfKey(key);
  if (home.empty()) return "";
  std::string closing;
  for (size_t dot = home.find('.'); dot != std::string::npos; dot = home.find('.')) {
    home.replace(dot, 1, ": {");
    closing += '}';
  }
  return "write `" + home + ": …" + closing + "`";
}

namespace {

// The name of an optimizer that others write "Adam", "optim.SGD" or "RMSprop()".
std::string OptimizerCalled(std::string_view name) {
  name = name.substr(0, name.find('('));
  return PlainName(name.substr(name.rfind('.') + 1));  // npos + 1 is 0
}

// If a key of optimizers stands beside `optimizer: adam`, says how to write the key within that.
// Returns "" for other keys.
std::string HelpWithOptimizer(const TreeEntry& entry, const TreeNode* map) {
  const std::string ours = OurName(entry.key, Names(kOfOptimizers), KeySynonyms());
  const TreeEntry* optimizer = map == nullptr || ours.empty() ? nullptr : map->Find("optimizer");
  if (optimizer == nullptr) return "";
  const TreeNode& value = optimizer->value;
  const TreeEntry* op = value.IsMap() ? value.Find("op") : nullptr;
  const std::string given_name = value.IsScalar() ? value.scalar
                                 : op != nullptr  ? op->value.scalar
                                                  : "";
  const std::string name = OptimizerCalled(given_name);
  if (name.empty()) return "";
  const std::string given = entry.value.IsScalar() ? entry.value.scalar : "…";
  if (ours == "momentum" && PlainName(name).starts_with("adam")) {
    return "write `optimizer: {op: " + name + ", beta1: " + given + "}`: its momentum is `beta1`";
  }
  return "write `optimizer: {op: " + name + ", " + ours + ": " + given + "}`";
}

// Suggests what to write instead of a key that is none of `names`.
std::string HelpWithKey(const std::string& key, std::span<const std::string> names) {
  if (std::string help = HelpWithMeantKey(key, names); !help.empty()) return help;
  std::string home = HelpWithHome(key);
  if (home.empty()) home = HomeOfSynonym(key, HelpWithHome);
  return home.empty() ? SuggestName(key, names) : home;
}

}  // namespace

std::string HomeOfKey(std::string_view key) {
  if (std::ranges::find(kOfOptimizers, key) != std::end(kOfOptimizers)) {
    return "train.optimizer." + std::string(key);
  }
  std::string home;
  for (const MapDoc& doc : FormatReference()) {
    const bool one_map = doc.place.find_first_of("*[") == std::string_view::npos;
    if (!one_map || std::ranges::find(doc.keys, key, &KeyDoc::name) == doc.keys.end()) continue;
    if (doc.place.empty()) return "";
    if (home.empty() || doc.place == kTrain) home = std::string(doc.place) + "." + std::string(key);
  }
  return home;
}

std::string PlaceText(const SourceMark& mark) {
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

std::string HelpWithNumberType(const std::string& key, const std::string& type) {
  const std::string help = "write `" + key + ": " + type + "`";
  if (key != "type" || !type.starts_with('f')) return help;
  return help + "; of images in files `type: uint8`, which `normalize` makes " + type;
}

void ReportUnknownKey(const TreeEntry& entry, std::string_view what, std::span<const KeyDoc> keys,
                      const Reader& reader, const TreeNode* map, const TreeEntry* empty) {
  std::vector<std::string> names;
  for (const KeyDoc& key : keys) names.emplace_back(key.name);
  const std::string place = what.empty() ? "" : " in '" + std::string(what) + "'";
  std::string help = HelpWithOptimizer(entry, map);
  if (help.empty()) help = HelpWithKey(entry.key, names);
  const std::string type = entry.value.IsScalar() ? OurNumberType(entry.value.scalar) : "";
  const std::string ours = type.empty() ? "" : OurName(entry.key, names, KeySynonyms());
  if (!ours.empty()) help = HelpWithNumberType(ours, type);
  if (empty != nullptr) {
    help = "if it belongs to '" + empty->key + "', which is empty, indent it deeper than that";
  }
  reader.diagnostics.Error(entry.key_mark, "unknown key '" + entry.key + "'" + place, help);
}

bool IsMeant(const TreeNode& map, std::string_view name, std::span<const KeyDoc> keys) {
  const std::string wanted(name);
  return std::ranges::any_of(map.entries, [&](const TreeEntry& other) {
    const bool known = std::ranges::find(keys, other.key, &KeyDoc::name) != keys.end();
    return !known && !MeantKey(other.key, {&wanted, 1}).empty();
  });
}

void CheckKeys(const TreeNode& map, std::string_view what, const SourceMark& place,
               std::span<const KeyDoc> keys, const Reader& reader) {
  const std::string owner = what.empty() ? "the file" : "'" + std::string(what) + "'";
  for (const KeyDoc& key : keys) {
    const TreeEntry* entry = map.Find(key.name);
    const bool missing = entry == nullptr || entry->value.IsNull();
    if (!missing || key.fallback != kRequired) continue;
    const std::string name(key.name);
    if (IsMeant(map, name, keys)) continue;
    reader.diagnostics.Error(
        entry ? entry->key_mark : place, owner + " needs '" + name + "'",
        what.empty() ? "begin with the line `" + name + ": " + std::string(key.type.text) + "`"
                     : name + ": " + std::string(key.type.text) + "; " + std::string(key.doc));
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
        "remove one; '" + first->second->key + "' is in " + PlaceText(first->second->key_mark));
  }
}

}  // namespace cgrun
