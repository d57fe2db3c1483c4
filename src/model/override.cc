// ApplyOverride() applies `--set key=value` to a tree.
#include <algorithm>
#include <charconv>
#include <utility>

#include "src/base/printable.h"
#include "src/model/assignment.h"
#include "src/model/schema.h"
#include "src/model/source_text.h"
#include "src/model/tree.h"

namespace cgrun {
namespace {

constexpr std::string_view kSet = "--set ";

bool IsOverride(const SourceMark& mark) {
  return mark.file != nullptr && mark.line == 0 && mark.file->name.starts_with("--");
}

// "a.b[2].c" → a, b, 2, c
std::vector<std::string> Components(std::string_view path) {
  std::vector<std::string> components(1);
  for (const char c : path) {
    if (c == '.' || c == '[') {
      components.emplace_back();
    } else if (c != ']') {
      components.back() += c;
    }
  }
  return components;
}

// Does `place`, as of a table ("paths.*"), name the map that these keys lead to?
bool Matches(std::string_view place, const std::vector<std::string>& keys) {
  const std::vector<std::string> pattern =
      place.empty() ? std::vector<std::string>() : Components(place);
  return std::equal(pattern.begin(), pattern.end(), keys.begin(), keys.end(),
                    [](const std::string& p, const std::string& k) { return p == "*" || p == k; });
}

// Removes from `map`, to which `keys` lead, what the file says instead of `key`; with a format its
// options.
void RemoveExcluded(TreeNode& map, const std::vector<std::string>& keys, const std::string& key) {
  for (const MapDoc& doc : FormatReference()) {
    if (!Matches(doc.place, keys)) continue;
    const auto group_of = [&](const std::string& name) {
      for (const KeyDoc& k : doc.keys) {
        if (k.name == name) return k.group;
      }
      return std::string_view();
    };
    const std::string_view group = group_of(key);
    if (group.empty()) continue;
    const auto is_excluded = [&](const TreeEntry& entry) {
      return entry.key != key && group_of(entry.key) == group && !IsOverride(entry.key_mark);
    };
    const bool with_options = doc.open && std::ranges::any_of(map.entries, is_excluded);
    const auto is_option = [&](const TreeEntry& entry) {
      return std::ranges::find(doc.keys, entry.key, &KeyDoc::name) == doc.keys.end() &&
             !IsOverride(entry.key_mark);
    };
    std::erase_if(map.entries, [&](const TreeEntry& entry) {
      return is_excluded(entry) || (with_options && is_option(entry));
    });
  }
}

bool IsTargetKey(std::string_view key) { return key == "op" || key == "block" || key == "network"; }

// Returns the operator, block or network of an item of `ops` that has no name; "" for a named one.
std::string TargetOf(const TreeNode& item) {
  if (item.IsScalar()) return item.scalar;
  for (const TreeEntry& entry : item.entries) {
    if (IsTargetKey(entry.key)) return entry.value.scalar;
  }
  return "";
}

// Returns the node that holds the keys of an item of `ops`: the map behind its name, or the item
// itself. A bare name of an operator becomes the map of one. `key` is looked for there.
TreeNode& BodyOf(TreeNode& item, const std::string& key) {
  const bool named = item.IsMap() && item.entries.size() == 1 && item.entries[0].key != key &&
                     !IsTargetKey(item.entries[0].key);
  TreeNode& body = named ? item.entries[0].value : item;
  if (body.IsScalar()) {
    const SourceMark mark = body.mark;
    body = TreeNode::Map({{"op", mark, TreeNode::Scalar(body.scalar, mark)}}, mark);
  }
  return body;
}

class Override {
 public:
  Override(TreeNode& root, SourceMark mark, Diagnostics& diagnostics)
      : root_(root), mark_(std::move(mark)), diagnostics_(diagnostics) {}

  bool Set(std::vector<std::string> path, TreeNode value);

 private:
  TreeNode* Step(TreeNode& node, const std::string& key, const std::string& place);
  TreeNode* StepIntoList(TreeNode& list, const std::string& key, const std::string& place);
  TreeNode* Fail(const std::string& message, std::string help = "");

  TreeNode& root_;
  SourceMark mark_;
  Diagnostics& diagnostics_;
};

TreeNode* Override::Fail(const std::string& message, std::string help) {
  diagnostics_.Error(mark_, message, std::move(help));
  return nullptr;
}

TreeNode* Override::StepIntoList(TreeNode& list, const std::string& key, const std::string& place) {
  size_t index = 0;
  const auto result = std::from_chars(key.data(), key.data() + key.size(), index);
  if (result.ec == std::errc() && result.ptr == key.data() + key.size()) {
    if (index < list.items.size()) return &list.items[index];
    return Fail("'" + place + "' has " +
                CountText(static_cast<int64_t>(list.items.size()), "item") + ", counted from 0");
  }
  std::vector<std::string> names;
  std::string help;
  for (size_t i = 0; i < list.items.size(); ++i) {
    TreeNode& item = list.items[i];
    if (TargetOf(item) == key && help.empty()) {
      help = "that operator has no name here: write '" + place + "[" + std::to_string(i) + "]'";
    }
    if (!item.IsMap() || item.entries.size() != 1 || IsTargetKey(item.entries[0].key)) continue;
    if (item.entries[0].key == key) return &item.entries[0].value;
    names.push_back(item.entries[0].key);
  }
  if (help.empty()) help = SuggestName(key, names);
  return Fail("'" + place + "' has no item '" + key + "'", help);
}

TreeNode* Override::Step(TreeNode& node, const std::string& key, const std::string& place) {
  if (node.IsSequence()) return StepIntoList(node, key, place);
  if (node.IsNull()) node = TreeNode::Map({}, mark_);
  if (!node.IsMap()) return Fail("'" + place + "' is " + Describe(node) + ", and has no keys");
  if (TreeEntry* entry = node.Find(key)) return &entry->value;
  TreeNode missing;
  missing.mark = mark_;
  node.entries.push_back({key, mark_, std::move(missing)});
  return &node.entries.back().value;
}

bool Override::Set(std::vector<std::string> path, TreeNode value) {
  const std::string inside = root_.Find(path[0]) == nullptr ? HomeOfKey(path[0]) : "";
  if (!inside.empty()) return Fail("unknown key '" + path[0] + "'", "write '" + inside + "'");
  TreeNode* node = &root_;
  TreeNode* parent = nullptr;
  std::string place = "the file";
  for (size_t i = 0; i < path.size(); ++i) {
    const bool in_item = i > 1 && path[i - 2] == "ops" && parent->IsSequence();
    if (in_item) node = &BodyOf(*node, path[i]);
    parent = node;
    node = Step(*node, path[i], place);
    if (node == nullptr) return false;
    place = i == 0 ? path[i] : place + "." + path[i];
  }
  *node = std::move(value);
  const std::string key = path.back();
  path.pop_back();
  if (!parent->IsMap()) return true;
  parent->Find(key)->key_mark = mark_;
  RemoveExcluded(*parent, path, key);
  return true;
}

// Says why a file with these keys could not be read back; "" if it could.
std::string KeyFault(std::string_view keys, const std::vector<std::string>& path) {
  Diagnostics found;
  if (!SourceText::Prepare({"", std::string(keys)}, found)) return found.Sorted()[0].message;
  const auto is_long = [](const std::string& key) { return key.size() > kMaxKeyBytes; };
  if (std::ranges::none_of(path, is_long)) return "";
  return "a key has at most " + std::to_string(kMaxKeyBytes) + " bytes";
}

}  // namespace

bool ApplyOverride(TreeNode& root, std::string_view assignment, Diagnostics& diagnostics,
                   std::string_view typed) {
  const std::string flag = std::string(kSet) + std::string(assignment);
  SourceFile file{typed.empty() ? flag : std::string(typed), std::string(assignment)};
  const SourceMark mark{std::make_shared<const SourceFile>(file), 0, 0};
  const size_t equals = assignment.find('=');
  const std::vector<std::string> path = Components(assignment.substr(0, equals));
  const bool empty = std::any_of(path.begin(), path.end(), [](const auto& c) { return c.empty(); });
  if (equals == std::string_view::npos || empty) {
    diagnostics.Error(mark, "this is no assignment", "write KEY=VALUE, such as train.epochs=2");
    return false;
  }
  if (path.size() > kMaxTreeDepth) {
    diagnostics.Error(mark, "the path has more than " + std::to_string(kMaxTreeDepth) + " parts");
    return false;
  }
  if (const std::string fault = KeyFault(assignment.substr(0, equals), path); !fault.empty()) {
    diagnostics.Error(mark, fault);
    return false;
  }
  if (FindNoUtf8(assignment) != assignment.npos) {
    diagnostics.Error(
        mark,
        "the value" + std::string(typed.empty() ? " of --set" : "") +
            " has a byte that is not UTF-8",
        "a terminal with a locale of UTF-8 types such letters, and a model file takes "
        "them, too");
    return false;
  }
  std::optional<TreeNode> value = TreeNode();
  file.text = assignment.substr(equals + 1);
  if (file.text.find_first_not_of(" \n") != std::string::npos) {
    Diagnostics inner;
    value = Parse(std::move(file), inner);
    for (const Diagnostic& d : inner.Sorted()) diagnostics.Error(mark, d.message, d.help);
  }
  if (!value) return false;
  SetMarks(*value, mark);
  return Override(root, mark, diagnostics).Set(path, std::move(*value));
}

bool Assign(TreeNode& root, const Assignment& assignment, Diagnostics& diagnostics) {
  const std::vector<std::string> path = Components(assignment.path);
  const bool empty = std::ranges::any_of(path, &std::string::empty);
  std::string fault = empty ? "this is no path" : KeyFault(assignment.path, path);
  if (fault.empty() && path.size() > kMaxTreeDepth) fault = "the path has too many parts";
  if (fault.empty()) {
    return Override(root, assignment.mark, diagnostics).Set(path, assignment.value);
  }
  diagnostics.Error(assignment.mark, fault, "a path is written as `train.optimizer.lr`");
  return false;
}

}  // namespace cgrun
