#include "src/search/member_names.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "src/model/values.h"

namespace cgrun {
namespace {

bool IsUse(const TreeNode& node) {
  return node.IsMap() &&
         (node.Find("op") || node.Find("block") || node.Find("network") || node.Find("gradient"));
}

// Collects the names of items, which stand before their uses, as far down as there are lists.
void CollectItems(const TreeNode& node, std::set<std::string>& names) {
  for (const TreeNode& item : node.items) {
    if (item.IsMap() && item.entries.size() == 1 && !IsUse(item)) names.insert(item.entries[0].key);
    CollectItems(item, names);
  }
  for (const TreeEntry& entry : node.entries) CollectItems(entry.value, names);
}

}  // namespace

MemberNames::MemberNames(const ModelSpec& model, std::string prefix)
    : model_(model), prefix_(std::move(prefix)) {
  std::set<std::string> items;
  CollectItems(model.tree, items);
  for (const std::string& name : NamesOf(model.networks)) templates_.insert(name);
  for (const std::string& name : NamesOf(model.blocks)) templates_.insert(name);
  for (const std::string& item : items) templates_.erase(item);
}

bool MemberNames::HasOutput(const std::string& path, const std::string& output) const {
  const auto has = [&](const OpSpec& op) {
    return std::ranges::count(OutputNames(op), output, &MarkedText::value) > 0;
  };
  return std::ranges::any_of(model_.paths, [&](const PathSpec& one) {
    return one.name.value == path && std::ranges::any_of(one.ops, has);
  });
}

// "classify.cell[0].h" begins with a path. A label within is the name of a network or block where
// its item has none.
std::string MemberNames::Qualified(const std::string& value) const {
  std::string renamed = prefix_;
  for (size_t begin = 0; begin <= value.size();) {
    const size_t end = std::min(value.find('.', begin), value.size());
    const std::string part = value.substr(begin, end - begin);
    const bool is_inner = begin > 0 && end < value.size();
    if (is_inner && templates_.contains(part.substr(0, part.find('[')))) renamed += prefix_;
    renamed += part;
    if (end < value.size()) renamed += '.';
    begin = end + 1;
  }
  return renamed;
}

// An unqualified name is that of an input, of the path's own output, or else of another path's.
std::string MemberNames::Value(const std::string& path, const std::string& value) const {
  if (value.find('.') != std::string::npos) return Qualified(value);
  if (std::ranges::count(NamesOf(model_.inputs), value) > 0) return value;
  if (HasOutput(path, value)) return prefix_ + path + "." + value;
  for (const PathSpec& other : model_.paths) {
    const std::string& name = other.name.value;
    if (HasOutput(name, value)) return prefix_ + name + "." + value;
  }
  return value;
}

void MemberNames::RenameValues(TreeNode& values, const std::string& path) const {
  const bool is_value = values.IsScalar() && !ParseReal(values.scalar);
  if (is_value && !HasOutput(path, values.scalar)) values.scalar = Value(path, values.scalar);
  for (TreeNode& item : values.items) RenameValues(item, path);
}

void MemberNames::RenameUse(TreeNode& use, Names names, const std::string& path) const {
  for (TreeEntry& entry : use.entries) {
    if (entry.key == "network" || entry.key == "block") {
      entry.value.scalar = prefix_ + entry.value.scalar;
    } else if (names == Names::kOfPath &&
               (entry.key == "in" || entry.key == "gradient" || entry.key == "draws_as")) {
      RenameValues(entry.value, path);
    }
  }
}

void MemberNames::RenameOps(TreeNode& ops, Names names, const std::string& path) const {
  for (TreeNode& item : ops.items) {
    if (IsUse(item)) {
      RenameUse(item, names, path);
    } else if (item.IsMap() && item.entries.size() == 1) {
      RenameUse(item.entries[0].value, names, path);
    }
  }
}

std::vector<TreeEntry> MemberNames::Templates(const char* section) const {
  const TreeEntry* const found = model_.tree.Find(section);
  if (found == nullptr) return {};
  std::vector<TreeEntry> renamed = found->value.entries;
  for (TreeEntry& entry : renamed) {
    entry.key = prefix_ + entry.key;
    TreeEntry* const ops = entry.value.Find("ops");
    if (ops != nullptr) RenameOps(ops->value, Names::kOfTemplate, "");
  }
  return renamed;
}

std::vector<TreeEntry> MemberNames::Networks() const { return Templates("networks"); }

std::vector<TreeEntry> MemberNames::Blocks() const { return Templates("blocks"); }

std::vector<TreeEntry> MemberNames::Paths() const {
  std::vector<TreeEntry> renamed;
  for (const TreeEntry& entry : model_.tree.Find("paths")->value.entries) {
    TreeNode ops = entry.value.Find("ops")->value;
    RenameOps(ops, Names::kOfPath, entry.key);
    TreeNode path = TreeNode::Map({{"mode", {}, TreeNode::Scalar("forward")}, {"ops", {}, ops}});
    renamed.push_back({prefix_ + entry.key, {}, std::move(path)});
  }
  return renamed;
}

std::string PrefixOf(int64_t trial, const std::string& text) {
  std::string prefix = "trial" + std::to_string(trial) + "_";
  while (text.find(prefix) != std::string::npos) prefix += '_';
  return prefix;
}

std::string WithoutPrefix(const std::string& name, const std::string& prefix) {
  if (!name.starts_with(prefix)) return "";
  std::string rest = name;
  for (size_t at = 0; (at = rest.find(prefix, at)) != std::string::npos;) {
    rest.erase(at, prefix.size());
  }
  return rest;
}

}  // namespace cgrun
