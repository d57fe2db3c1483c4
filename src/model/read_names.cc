// Decides whether a text is a name.
#include "src/model/read_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "src/model/glued_key.h"
#include "src/model/types.h"
#include "src/model/values.h"

namespace cgrun {
namespace {

bool IsReference(std::string_view text) {
  while (true) {
    size_t length = 0;
    while (length < text.size() && IsIdentifier(text.substr(0, length + 1))) ++length;
    if (length == 0) return false;
    text.remove_prefix(length);
    if (text.starts_with('[')) {
      const size_t end = text.find(']');
      if (end == std::string_view::npos || end == 1) return false;
      const std::string_view index = text.substr(1, end - 1);
      if (index.find_first_not_of("0123456789") != std::string_view::npos) return false;
      text.remove_prefix(end + 1);
    }
    if (text.empty()) return true;
    if (!text.starts_with('.')) return false;
    text.remove_prefix(1);
  }
}

bool IsName(const TreeNode& node) { return IsIdentifier(node.scalar); }
bool IsReference(const TreeNode& node) { return IsReference(node.scalar); }
bool IsInput(const TreeNode& node) {
  return IsReference(node) || (!node.quoted && ParseReal(node.scalar));
}

using NameCheck = bool (*)(const TreeNode& scalar);

// "[logits, label]" of "logits, label" and of "logits label"; "" of what holds other than names.
std::string WithBrackets(std::string text, NameCheck check) {
  std::ranges::replace(text, ',', ' ');
  std::istringstream words(text);
  const std::vector<std::string> names{std::istream_iterator<std::string>(words), {}};
  const auto is_name = [&](const std::string& word) { return check(TreeNode::Scalar(word)); };
  if (names.size() < 2 || !std::ranges::all_of(names, is_name)) return "";
  return fmt::format("[{}]", fmt::join(names, ", "));
}

std::optional<MarkedText> ReadChecked(const TreeNode& node, std::string_view what, NameCheck check,
                                      const Reader& reader, bool in_list = false) {
  const auto text = ReadText(node, what, reader.diagnostics);
  if (!text) return std::nullopt;
  if (check(node)) return MarkedText{*text, node.mark};
  const std::string wanted = check == IsInput ? "a name or a number" : "a name";
  const std::optional<GluedKey> glued = FindGluedKey(*text);
  const std::string list = in_list ? WithBrackets(*text, check) : "";
  reader.diagnostics.Error(
      node.mark, "'" + std::string(what) + "' must be " + wanted + ", not " + Describe(node),
      glued && glued->has_colon ? glued->Help()
      : !list.empty()           ? "write `" + std::string(what) + ": " + list + "`"
                      : "names are letters, digits and '_', and do not begin with a digit");
  return std::nullopt;
}

std::vector<MarkedText> ReadCheckedList(const TreeNode& node, std::string_view what,
                                        NameCheck check, const Reader& reader) {
  std::vector<MarkedText> names;
  const auto add = [&](const TreeNode& item) {
    if (reader.IsDeferred(item)) return;
    if (auto name = ReadChecked(item, what, check, reader, true)) names.push_back(std::move(*name));
  };
  if (!node.IsSequence()) add(node);
  for (const TreeNode& item : node.items) add(item);
  return names;
}

}  // namespace

std::optional<MarkedText> ReadNewName(const TreeEntry& entry, const Reader& reader) {
  if (IsIdentifier(entry.key)) return MarkedText{entry.key, entry.key_mark};
  reader.diagnostics.Error(entry.key_mark, "'" + entry.key + "' is no name",
                           "names are letters, digits and '_', and do not begin with a digit");
  return std::nullopt;
}

std::optional<MarkedText> ReadName(const TreeNode& node, std::string_view what,
                                   const Reader& reader) {
  return ReadChecked(node, what, IsName, reader);
}

std::vector<MarkedText> ReadNames(const TreeNode& node, std::string_view what,
                                  const Reader& reader) {
  std::vector<MarkedText> names = ReadCheckedList(node, what, IsName, reader);
  NameScope scope;
  for (const MarkedText& name : names) scope.Add(name, reader);
  return names;
}

std::optional<MarkedText> ReadReference(const TreeNode& node, std::string_view what,
                                        const Reader& reader) {
  return ReadChecked(node, what, IsReference, reader);
}

std::vector<MarkedText> ReadReferences(const TreeNode& node, std::string_view what,
                                       const Reader& reader) {
  return ReadCheckedList(node, what, IsReference, reader);
}

std::vector<MarkedText> ReadInputs(const TreeNode& node, std::string_view what,
                                   const Reader& reader) {
  return ReadCheckedList(node, what, IsInput, reader);
}

}  // namespace cgrun
