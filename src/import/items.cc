// Makes trees of keys.
#include "src/import/items.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace cgrun {
namespace {

// The format wants a point in front of an exponent.
std::string WithPoint(std::string text) {
  const size_t exponent = text.find('e');
  if (exponent != text.npos && text.find('.') == text.npos) text.insert(exponent, ".0");
  return text;
}

}  // namespace

TreeEntry KeyOf(std::string key, bool value) {
  return {std::move(key), {}, TreeNode::Scalar(value ? "true" : "false")};
}

TreeEntry KeyOf(std::string key, int64_t value) {
  return {std::move(key), {}, TreeNode::Scalar(std::to_string(value))};
}

TreeEntry KeyOf(std::string key, std::string value) {
  return {std::move(key), {}, TreeNode::Scalar(std::move(value))};
}

TreeEntry KeyOfSides(std::string key, const std::vector<int64_t>& values) {
  const bool equal = std::ranges::adjacent_find(values, std::not_equal_to()) == values.end();
  if (equal && !values.empty()) return KeyOf(std::move(key), values[0]);
  return KeyOfList(std::move(key), values);
}

TreeEntry KeyOfList(std::string key, const std::vector<int64_t>& values) {
  std::vector<TreeNode> items;
  for (const int64_t value : values) items.push_back(TreeNode::Scalar(std::to_string(value)));
  return {std::move(key), {}, TreeNode::Sequence(std::move(items))};
}

std::string NumberText(float value) { return WithPoint(fmt::format("{}", value)); }

std::string NumberText(double value) {
  const auto narrow = static_cast<float>(value);
  if (static_cast<double>(narrow) == value) return NumberText(narrow);
  return WithPoint(fmt::format("{}", value));
}

}  // namespace cgrun
