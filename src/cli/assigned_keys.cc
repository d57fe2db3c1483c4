// Keys are compared part by part, so that `networks.g` is not `networks.gen`.
#include "src/cli/assigned_keys.h"

#include <algorithm>
#include <charconv>

namespace cgrun {
namespace {

// "logits: {op: linear}", as an item of `ops`.
bool IsNamed(const TreeNode& item) {
  return item.IsMap() && item.entries.size() == 1 && item.entries[0].value.IsMap();
}

// The key's parts, indices for names.
std::vector<std::string> IndexedParts(std::string_view key, const TreeNode& tree) {
  std::vector<std::string> parts = PartsOfKey(key);
  const TreeNode* node = &tree;
  for (std::string& part : parts) node = StepInto(node, part);
  return parts;
}

}  // namespace

std::vector<std::string> PartsOfKey(std::string_view key) {
  std::vector<std::string> parts(1);
  for (const char c : key) {
    if (c == '.' || c == '[') {
      parts.emplace_back();
    } else if (c != ']') {
      parts.back() += c;
    }
  }
  return parts;
}

const TreeNode* StepInto(const TreeNode* node, std::string& part) {
  if (node == nullptr) return nullptr;
  if (node->IsMap()) {
    const TreeEntry* entry = node->Find(part);
    return entry == nullptr ? nullptr : &entry->value;
  }
  if (!node->IsSequence()) return nullptr;
  size_t index = node->items.size();
  const char* last = part.data() + part.size();
  const auto [end, error] = std::from_chars(part.data(), last, index);
  if (error != std::errc() || end != last) {
    const auto found = std::ranges::find_if(node->items, [&](const TreeNode& item) {
      return IsNamed(item) && item.entries[0].key == part;
    });
    index = static_cast<size_t>(found - node->items.begin());
    if (found != node->items.end()) part = std::to_string(index);
  }
  if (index >= node->items.size()) return nullptr;
  const TreeNode& item = node->items[index];
  return IsNamed(item) ? &item.entries[0].value : &item;
}

bool Sets(const std::vector<std::string>& assignments, std::string_view key, const TreeNode& tree) {
  const std::vector<std::string> parts = IndexedParts(key, tree);
  return std::ranges::any_of(assignments, [&](std::string_view assignment) {
    const auto set = IndexedParts(assignment.substr(0, assignment.find('=')), tree);
    const auto [a, b] = std::ranges::mismatch(parts, set);
    return a == parts.end() || b == set.end();
  });
}

}  // namespace cgrun
