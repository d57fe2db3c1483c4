// Two trees, key by key.
#include "src/cli/model_differences.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

#include "src/cli/console.h"
#include "src/cli/run_split.h"
#include "src/frontend/operator_defaults.h"
#include "src/model/model_file.h"

namespace cgrun {
namespace {

constexpr size_t kMostOfValue = 40;  // bytes of a value that a message shows

// "20", "[1, 4, 4]", "{norm: 1}"; in a few words, "9 items", of a long list. Null: "none".
std::string ValueText(const TreeNode* node) {
  if (node == nullptr || node->IsNull()) return "none";
  std::string text = FlowText(*node);
  if (text.size() <= kMostOfValue) return text;
  if (node->IsSequence()) return CountText(std::ssize(node->items), "item");
  if (node->IsMap()) return CountText(std::ssize(node->entries), "key");
  size_t end = kMostOfValue;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // within a character of UTF-8
  return text.substr(0, end) + "…";
}

// "logits: {op: linear}", as an item of `ops`.
bool IsNamed(const TreeNode& item) {
  return item.entries.size() == 1 && item.entries[0].value.IsMap();
}

// Lists of maps whose differences lie in their items.
bool AreLikeLists(const TreeNode& a, const TreeNode& b) {
  return a.IsSequence() && b.IsSequence() && a.items.size() == b.items.size() &&
         std::ranges::any_of(a.items, &TreeNode::IsMap);
}

// In what two trees differ. Null is what is not there, or has no value.
void CollectDifferences(const TreeNode* a, const TreeNode* b, const std::string& place,
                        std::vector<Difference>& differences) {
  if (a != nullptr && a->IsNull()) a = nullptr;
  if (b != nullptr && b->IsNull()) b = nullptr;
  if (a == b || (a != nullptr && b != nullptr && *a == *b)) return;
  if (a != nullptr && b != nullptr && AreLikeLists(*a, *b)) {
    for (size_t i = 0; i < a->items.size(); ++i) {
      const bool named = IsNamed(a->items[i]) && IsNamed(b->items[i]);
      CollectDifferences(&a->items[i], &b->items[i],
                         named ? place : place + "[" + std::to_string(i) + "]", differences);
    }
    return;
  }
  if (a == nullptr || b == nullptr || !a->IsMap() || !b->IsMap()) {
    return differences.push_back({place, ValueText(a), ValueText(b)});
  }
  std::set<std::string> keys;
  for (const TreeEntry& entry : a->entries) keys.insert(entry.key);
  for (const TreeEntry& entry : b->entries) keys.insert(entry.key);
  for (const std::string& key : keys) {
    const TreeEntry *left = a->Find(key), *right = b->Find(key);
    CollectDifferences(left == nullptr ? nullptr : &left->value,
                       right == nullptr ? nullptr : &right->value,
                       place.empty() ? key : place + "." + key, differences);
  }
}

// The keys of a model file that do not say what the network computes, and those of a path.
constexpr std::string_view kBeside[] = {"cgrun", "model",  "data",    "train", "weights",
                                        "keep",  "device", "inexact", "zones"};
constexpr std::string_view kBesidePath[] = {"metrics", "mode", "optimizer", "out"};

// "paths.classify.ops[2].init" as "paths", "classify", "ops[2]", "init".
std::vector<std::string_view> PartsOf(std::string_view key) {
  std::vector<std::string_view> parts;
  while (!key.empty()) {
    const std::string_view part = key.substr(0, key.find('.'));
    parts.push_back(part);
    key.remove_prefix(std::min(part.size() + 1, key.size()));
  }
  return parts;
}

bool IsOfNetwork(const std::string& key) {
  const std::vector<std::string_view> parts = PartsOf(key);
  if (std::ranges::count(kBeside, parts[0]) > 0) return false;
  const bool of_path = parts[0] == "paths" && parts.size() > 2;
  if (of_path && std::ranges::count(kBesidePath, parts[2]) > 0) return false;
  for (size_t i = 2; i < parts.size(); ++i) {  // but an operator that is called so
    if (parts[i] == "init" && parts[i - 1] != "ops") return false;
  }
  return true;
}

bool IsSet(const std::vector<std::string>& assignments, const std::string& key) {
  return std::ranges::any_of(assignments, [&](const std::string& assignment) {
    const std::string set = assignment.substr(0, assignment.find('='));
    return key.starts_with(set) || set.starts_with(key);
  });
}

}  // namespace

std::vector<Difference> DifferencesOf(const ModelSpec& before, const ModelSpec& now) {
  const TreeNode then = WithOperatorDefaults(ResolvedTree(before)),
                 after = WithOperatorDefaults(ResolvedTree(now));
  std::vector<Difference> differences;
  CollectDifferences(&then, &after, "", differences);
  return differences;
}

void WarnOfOtherNetwork(const ModelFlags& flags, const ModelSpec& model,
                        const std::string& weights) {
  constexpr size_t kMostShown = 3;
  const std::optional<ModelSpec> run = ModelOfRun(std::filesystem::path(weights).parent_path());
  if (!run) return;
  std::vector<Difference> differences = DifferencesOf(*run, model);
  const std::vector<std::string> set = AssignmentsOf(flags);
  std::erase_if(differences, [&](const Difference& one) {
    return !IsOfNetwork(one.key) || IsSet(set, one.key);
  });
  if (differences.empty()) return;
  std::string text;
  for (size_t i = 0; i < std::min(kMostShown, differences.size()); ++i) {
    const Difference& one = differences[i];
    text += (i > 0 ? ", " : "") + one.key + " (" + one.before + " → " + one.now + ")";
  }
  if (differences.size() > kMostShown) {
    text += " and " + std::to_string(differences.size() - kMostShown) + " more";
  }
  PrintWarning("the model file differs from the one that these weights were trained with: " + text);
}

}  // namespace cgrun
