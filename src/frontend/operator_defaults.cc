// Walks the tree: a map with `op:` is an operator, and so is a metric, which may do without it.
#include "src/frontend/operator_defaults.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "src/ir/op_def.h"

namespace cgrun {
namespace {

// A value as a file writes it; nothing where it stands for 'not given', which a file cannot write.
std::optional<TreeNode> NodeOf(const AttributeField& field, const AttributeValue& value) {
  const auto list = [](const auto& numbers) {
    std::vector<TreeNode> items;
    for (const auto number : numbers) {
      items.push_back(TreeNode::Scalar(ToString(AttributeValue(number))));
    }
    return TreeNode::Sequence(std::move(items));
  };
  if (!FaultOf(field, value).empty()) return std::nullopt;
  if (const auto* numbers = std::get_if<IntList>(&value)) {
    if (numbers->empty()) return std::nullopt;
    return list(*numbers);
  }
  if (const auto* numbers = std::get_if<RealList>(&value)) {
    if (numbers->empty()) return std::nullopt;
    return list(*numbers);
  }
  if (std::holds_alternative<Shape>(value) || std::holds_alternative<DType>(value)) {
    return std::nullopt;  // required where they matter
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (text->empty()) return std::nullopt;
    return TreeNode::Scalar(*text);
  }
  return TreeNode::Scalar(ToString(value));
}

void FillOperator(TreeNode& map, const std::string& name) {
  const std::optional<OpId> id = FindOp(name);
  if (!id) return;
  const AttributeSchema& schema = *GetOpDef(*id).schema;
  for (const AttributeField& field : schema.fields()) {
    if (field.required || field.internal || map.Find(field.name) != nullptr) continue;
    auto value = NodeOf(field, field.get(schema.defaults()));
    if (value) map.entries.push_back({field.name, {}, std::move(*value)});
  }
}

void FillTree(TreeNode& node) {
  for (TreeNode& item : node.items) FillTree(item);
  if (!node.IsMap()) return;
  for (TreeEntry& entry : node.entries) {
    FillTree(entry.value);
    if (entry.key != "metrics") continue;
    for (TreeEntry& metric : entry.value.entries) {
      if (metric.value.IsMap() && !metric.value.Find("op")) FillOperator(metric.value, metric.key);
    }
  }
  const TreeEntry* op = node.Find("op");
  if (op != nullptr && op->value.IsScalar()) FillOperator(node, std::string(op->value.scalar));
}

}  // namespace

TreeNode WithOperatorDefaults(TreeNode tree) {
  FillTree(tree);
  return tree;
}

}  // namespace cgrun
