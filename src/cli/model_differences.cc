// Compares two trees key by key.
#include "src/cli/model_differences.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "src/base/word_list.h"
#include "src/cli/assigned_keys.h"
#include "src/cli/console.h"
#include "src/cli/run_split.h"
#include "src/frontend/operator_defaults.h"
#include "src/model/model_file.h"

namespace cgrun {
namespace {

constexpr size_t kMostOfValue = 40;  // bytes of a value that a message shows

// "20", "[1, 4, 4]", "{norm: 1}"; in a few words, "9 items", of a long list. Null: "none".
std::string ValueText(const TreeNode* node) {
  if (node == nullptr || node->IsNull()) return kNoValue;
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

// Collects the keys in which two trees differ. A key that is absent or has no value is null.
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

// These keys of a model file do not say what the network computes. The keys of a path and of a loss
// below change only how it is trained and measured.
constexpr std::string_view kBeside[] = {"cgrun", "model",  "data",    "train", "weights",
                                        "keep",  "device", "inexact", "zones"};
constexpr std::string_view kBesidePath[] = {"metrics", "mode",   "optimizer",
                                            "out",     "trains", "clip_weights"};
constexpr std::string_view kBesideLoss[] = {"weight", "label_smoothing"};
// Keys by which operators are trained, and attributes that matter in training alone.
constexpr std::string_view kOfTraining[] = {"init", "frozen", "regularize", "lr"};
constexpr std::pair<std::string_view, std::string_view> kAttributesOfTraining[] = {
    {"dropout", "rate"},
    {"batch_norm", "momentum"},
    {"random_flip", "probability"},
    {"random_erasing", "probability"}};

// Returns whether what the network of `model` computes depends on it.
bool IsOfNetwork(const std::string& key, const TreeNode& model, WeightsUse use) {
  std::vector<std::string> parts = PartsOfKey(key);
  const auto is_of = [](const auto& keys, const std::string& part) {
    return std::ranges::count(keys, part) > 0;
  };
  if (is_of(kBeside, parts[0])) return false;
  if (parts[0] == "paths" && parts.size() > 2) {
    if (is_of(kBesidePath, parts[2])) return false;
    const bool of_loss = parts[2] == "loss";
    if (of_loss && (use == WeightsUse::kPredict || is_of(kBesideLoss, parts.back()))) return false;
  }
  const TreeNode* node = &model;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool is_name = i > 0 && parts[i - 1] == "ops";  // an operator may be called `init`
    if (i > 1 && !is_name && is_of(kOfTraining, parts[i])) return false;
    const TreeEntry* op = node != nullptr && node->IsMap() ? node->Find("op") : nullptr;
    const auto is_attribute = [&](const auto& one) {
      return op != nullptr && op->value.scalar == one.first && parts[i] == one.second;
    };
    if (std::ranges::any_of(kAttributesOfTraining, is_attribute)) return false;
    node = StepInto(node, parts[i]);
  }
  return true;
}

// If a network's operators stand in the file, they are compared, and not the ONNX file that they
// came from.
TreeNode WithoutOnnxFiles(TreeNode tree) {
  TreeEntry* networks = tree.Find("networks");
  if (networks == nullptr) return tree;
  for (TreeEntry& network : networks->value.entries) {
    if (network.value.Find("onnx") == nullptr || network.value.Find("ops") == nullptr) continue;
    std::erase_if(network.value.entries, [](const TreeEntry& key) {
      constexpr std::string_view kOfFile[] = {"onnx", "outputs", "dims", "constants"};
      return std::ranges::count(kOfFile, key.key) > 0;
    });
  }
  return tree;
}

}  // namespace

std::vector<Difference> DifferencesOf(const ModelSpec& before, const ModelSpec& now) {
  // A run's own model file has quotes where the one that it was started from has none.
  const auto tree = [](const ModelSpec& model) {
    return WithUsualQuotes(WithoutOnnxFiles(WithOperatorDefaults(ResolvedTree(model))));
  };
  const TreeNode then = tree(before), after = tree(now);
  std::vector<Difference> differences;
  CollectDifferences(&then, &after, "", differences);
  return differences;
}

void WarnOfOtherNetwork(const ModelFlags& flags, const ModelSpec& model, const std::string& weights,
                        WeightsUse use) {
  constexpr size_t kMostShown = 3;
  const std::optional<ModelSpec> run = ModelOfRun(std::filesystem::path(weights).parent_path());
  if (!run) return;
  std::vector<Difference> differences = DifferencesOf(*run, model);
  const std::vector<std::string> set = AssignmentsOf(flags);
  const TreeNode tree = ResolvedTree(model);
  std::erase_if(differences, [&](const Difference& one) {
    return !IsOfNetwork(one.key, tree, use) || Sets(set, one.key, tree);
  });
  if (differences.empty()) return;
  std::vector<std::string> texts;
  for (const Difference& one : differences) {
    texts.push_back(one.key + " (" + one.before + " → " + one.now + ")");
  }
  PrintWarning("the model file differs from the one that these weights were trained with: " +
               ListFirst(texts, kMostShown));
}

}  // namespace cgrun
