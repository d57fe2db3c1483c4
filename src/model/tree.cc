// Building, searching and comparing marked trees.
#include "src/model/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cgrun {
namespace {

// Quotes a text as YAML does in single quotes: those within are doubled.
std::string InQuotes(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace

const TreeEntry* TreeNode::Find(std::string_view key) const {
  const auto it = std::find_if(entries.begin(), entries.end(),
                               [&](const TreeEntry& entry) { return entry.key == key; });
  return it == entries.end() ? nullptr : &*it;
}

TreeEntry* TreeNode::Find(std::string_view key) {
  return const_cast<TreeEntry*>(std::as_const(*this).Find(key));
}

TreeNode TreeNode::Scalar(std::string text, SourceMark mark, bool quoted) {
  TreeNode node;
  node.kind = Kind::kScalar;
  node.mark = std::move(mark);
  node.scalar = std::move(text);
  node.quoted = quoted;
  return node;
}

TreeNode TreeNode::Sequence(std::vector<TreeNode> items, SourceMark mark) {
  TreeNode node;
  node.kind = Kind::kSequence;
  node.mark = std::move(mark);
  node.items = std::move(items);
  return node;
}

TreeNode TreeNode::Map(std::vector<TreeEntry> entries, SourceMark mark) {
  TreeNode node;
  node.kind = Kind::kMap;
  node.mark = std::move(mark);
  node.entries = std::move(entries);
  return node;
}

bool operator==(const TreeNode& a, const TreeNode& b) {
  return a.kind == b.kind && a.scalar == b.scalar && a.quoted == b.quoted && a.items == b.items &&
         a.entries == b.entries;
}

bool operator==(const TreeEntry& a, const TreeEntry& b) {
  return a.key == b.key && a.value == b.value;
}

std::string FlowText(const TreeNode& node) {
  if (node.IsScalar()) return node.quoted ? InQuotes(node.scalar) : node.scalar;
  if (node.IsNull()) return "";
  std::vector<std::string> parts;
  for (const TreeNode& item : node.items) {
    parts.push_back(item.IsNull() ? "null" : FlowText(item));
  }
  for (const TreeEntry& entry : node.entries) {
    parts.push_back(entry.key + (entry.value.IsNull() ? ":" : ": " + FlowText(entry.value)));
  }
  const std::string inner = fmt::format("{}", fmt::join(parts, ", "));
  return node.IsMap() ? fmt::format("{{{}}}", inner) : fmt::format("[{}]", inner);
}

std::string Describe(const TreeNode& node) {
  constexpr size_t kLongest = 40;
  switch (node.kind) {
    case TreeNode::Kind::kNull:
      return "nothing";
    case TreeNode::Kind::kSequence:
      return "a list";
    case TreeNode::Kind::kMap:
      return "a map";
    case TreeNode::Kind::kScalar:
      break;
  }
  if (node.scalar.size() <= kLongest) return "'" + node.scalar + "'";
  size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(node.scalar[end]) & 0xC0) == 0x80) --end;
  return "'" + node.scalar.substr(0, end) + "…'";
}

void SetMarks(TreeNode& node, const SourceMark& mark) {
  node.mark = mark;
  for (TreeNode& item : node.items) SetMarks(item, mark);
  for (TreeEntry& entry : node.entries) {
    entry.key_mark = mark;
    SetMarks(entry.value, mark);
  }
}

}  // namespace cgrun
