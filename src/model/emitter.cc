// ToYaml(): a tree as text that people can read.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "src/model/tree.h"

namespace cgrun {
namespace {

constexpr size_t kLineWidth = 100;

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Means the same text with and without quotes, in block and in flow style.
bool IsPlain(const std::string& text) {
  if (text.empty() || text.back() == ' ' || text.starts_with("---") || text.starts_with("...")) {
    return false;
  }
  constexpr std::array<std::string_view, 4> kNulls = {"null", "Null", "NULL", "~"};
  if (std::find(kNulls.begin(), kNulls.end(), text) != kNulls.end()) return false;
  constexpr std::string_view kFirst = "_./+", kInside = " _./+-*()=%^@";
  const bool negative =
      text[0] == '-' && text.size() > 1 && (IsAlphanumeric(text[1]) || text[1] == '.');
  if (!negative && !IsAlphanumeric(text[0]) && kFirst.find(text[0]) == std::string_view::npos) {
    return false;
  }
  for (size_t i = 1; i < text.size(); ++i) {
    const bool colon = text[i] == ':' && i + 1 < text.size() && IsAlphanumeric(text[i + 1]);
    const bool inside = kInside.find(text[i]) != std::string_view::npos;
    if (!colon && !inside && !IsAlphanumeric(text[i])) return false;
  }
  return true;
}

std::string Quoted(const std::string& text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20) {
      out += std::string("\\x") + kHex[byte >> 4] + kHex[byte & 15];
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

std::string Word(const std::string& text, bool quoted) {
  return !quoted && IsPlain(text) ? text : Quoted(text);
}

bool IsLeaf(const TreeNode& node) { return node.IsNull() || node.IsScalar(); }

// Block style has no way to write an empty list or map.
bool IsEmpty(const TreeNode& node) { return node.items.empty() && node.entries.empty(); }

// Returns the node in flow style; nothing if it cannot be written so. Only lists and maps of plain
// values, or lists of these, can.
std::string Flow(const TreeNode& node) {
  if (node.IsNull()) return "null";
  if (node.IsScalar()) return Word(node.scalar, node.quoted);
  std::vector<std::string> parts;
  for (const TreeNode& item : node.items) parts.push_back(Flow(item));
  for (const TreeEntry& entry : node.entries) {
    parts.push_back(Word(entry.key, false) + ": " + Flow(entry.value));
  }
  const std::string inner = fmt::format("{}", fmt::join(parts, ", "));
  return node.IsSequence() ? fmt::format("[{}]", inner) : fmt::format("{{{}}}", inner);
}

// Lists and maps of plain values, or maps of lists of these, on what is left of a line.
bool FitsFlow(const TreeNode& node, size_t indent) {
  const auto is_simple = [](const TreeNode& child) {
    return IsLeaf(child) ||
           (child.IsSequence() && std::all_of(child.items.begin(), child.items.end(), IsLeaf));
  };
  const bool items = std::all_of(node.items.begin(), node.items.end(), IsLeaf);
  const bool entries = std::all_of(node.entries.begin(), node.entries.end(),
                                   [&](const TreeEntry& e) { return is_simple(e.value); });
  if (IsLeaf(node) || IsEmpty(node)) return true;
  return items && entries && indent + Flow(node).size() <= kLineWidth;
}

std::string Block(const TreeNode& node, size_t indent);

// Returns the text behind "key:", on the same line or on lines of its own.
std::string Behind(const TreeNode& value, size_t indent, size_t used) {
  if (FitsFlow(value, used + 1)) return " " + Flow(value) + "\n";
  return "\n" + Block(value, indent + 2);
}

// Returns the node in block style; every line begins with `indent` spaces.
std::string Block(const TreeNode& node, size_t indent) {
  const std::string margin(indent, ' ');
  std::string out;
  for (const TreeNode& item : node.items) {
    if (FitsFlow(item, indent + 2)) {
      out += margin + "- " + Flow(item) + "\n";
    } else {
      std::string inner = Block(item, indent + 2);
      inner.replace(indent, 2, "- ");
      out += inner;
    }
  }
  for (const TreeEntry& entry : node.entries) {
    const std::string key = margin + Word(entry.key, false) + ":";
    out += key + Behind(entry.value, indent, key.size());
  }
  return out;
}

}  // namespace

TreeNode WithUsualQuotes(TreeNode node) {
  if (node.IsScalar()) node.quoted = !IsPlain(node.scalar);
  for (TreeNode& item : node.items) item = WithUsualQuotes(std::move(item));
  for (TreeEntry& entry : node.entries) entry.value = WithUsualQuotes(std::move(entry.value));
  return node;
}

std::string ToYaml(const TreeNode& node) {
  return IsLeaf(node) || IsEmpty(node) ? Flow(node) + "\n" : Block(node, 0);
}

}  // namespace cgrun
