// Matches the names of tensors with patterns.
#include "src/import/trainable.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/frontend/near_names.h"
#include "src/import/network.h"
#include "src/model/name_pattern.h"

namespace cgrun {
namespace {

using NamePatterns = std::vector<MarkedText>;
// Lists the floating-point tensors of each operator, in their order.
using OwnedNames = std::map<std::string, std::vector<std::string>>;

OwnedNames TensorsOf(const ImportedModel& imported) {
  OwnedNames tensors;
  const size_t prefix = std::string_view(kImportedPath).size() + 1;
  for (const Weight& weight : imported.weights) {
    if (!IsFloat(weight.type.dtype)) continue;
    const std::string name = weight.name.substr(prefix);
    const size_t dot = name.rfind('.');
    tensors[name.substr(0, dot)].push_back(name.substr(dot + 1));
  }
  return tensors;
}

bool Matches(const MarkedText& pattern, const std::string& op, const std::string& tensor) {
  return MatchStars(pattern.value, op) || MatchStars(pattern.value, op + "." + tensor);
}

bool MatchesAny(const NamePatterns& patterns, const std::string& op, const std::string& tensor) {
  return std::ranges::any_of(
      patterns, [&](const MarkedText& pattern) { return Matches(pattern, op, tensor); });
}

void CheckPatterns(const NamePatterns& patterns, const OwnedNames& tensors, const std::string& file,
                   Diagnostics& diagnostics) {
  for (const MarkedText& pattern : patterns) {
    std::vector<std::string> known;
    bool found = pattern.value == "*";
    for (const auto& [op, names] : tensors) {
      known.push_back(op);
      for (const std::string& name : names) found = found || Matches(pattern, op, name);
    }
    if (found) continue;
    const std::string nearest = NearestName(pattern.value, known);
    if (known.size() > kMostListed) known.resize(kMostListed);
    diagnostics.Error(pattern.mark,
                      "'" + pattern.value + "' is the name of no parameter of '" + file + "'",
                      !nearest.empty() ? "did you mean '" + nearest + "'?"
                      : !known.empty() ? "some are in " + ListOfNames(known)
                                       : "it has none");
  }
}

// Running statistics change only where a pattern says so: a batch norm then normalises by the
// batch.
bool Trains(const NamePatterns& patterns, const std::string& op, const std::string& tensor) {
  constexpr std::string_view kStatistic = "running_";
  const bool is_statistic = tensor.starts_with(kStatistic);
  return std::ranges::any_of(patterns, [&](const MarkedText& pattern) {
    const bool means_it = !is_statistic || pattern.value.find(kStatistic) != std::string::npos;
    return means_it && Matches(pattern, op, tensor);
  });
}

TreeNode Boolean(bool value) { return TreeNode::Scalar(value ? "true" : "false"); }

// Returns the value of `frozen`: nothing, `true`, or a map of the tensors that are.
TreeNode FrozenValue(const std::vector<std::string>& tensors, const std::vector<bool>& is_frozen) {
  const auto count = std::ranges::count(is_frozen, true);
  if (count == 0) return {};
  if (count == std::ssize(is_frozen)) return Boolean(true);
  std::vector<TreeEntry> entries;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (is_frozen[i]) entries.push_back({tensors[i], {}, Boolean(true)});
  }
  return TreeNode::Map(std::move(entries));
}

// Makes a map of an operator that has no keys.
TreeNode& MapOf(TreeEntry& item) {
  if (item.value.IsScalar()) item.value = TreeNode::Map({{"op", {}, item.value}});
  return item.value;
}

}  // namespace

void FreezeOperators(TreeNode& ops, const OnnxSource& source, const ImportedModel& imported,
                     Diagnostics& diagnostics) {
  const OwnedNames tensors = TensorsOf(imported);
  CheckPatterns(source.frozen, tensors, source.file.value, diagnostics);
  CheckPatterns(source.train, tensors, source.file.value, diagnostics);
  for (TreeNode& node : ops.items) {
    TreeEntry& item = node.entries[0];
    const auto owned = tensors.find(item.key);
    if (owned == tensors.end()) continue;
    const bool learns = item.value.Find("frozen") == nullptr || imported.learned.contains(item.key);
    std::vector<bool> is_frozen;
    for (const std::string& tensor : owned->second) {
      const bool freezes = !learns || MatchesAny(source.frozen, item.key, tensor);
      is_frozen.push_back(freezes && !Trains(source.train, item.key, tensor));
    }
    std::vector<TreeEntry>& keys = MapOf(item).entries;
    std::erase_if(keys, [](const TreeEntry& key) { return key.key == "frozen"; });
    TreeNode frozen = FrozenValue(owned->second, is_frozen);
    if (!frozen.IsNull()) keys.push_back({"frozen", {}, std::move(frozen)});
  }
}

}  // namespace cgrun
