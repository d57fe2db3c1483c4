// IsIncomplete(): the forms of what gives names.
#include "src/model/incomplete.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/key_synonyms.h"
#include "src/model/schema.h"
#include "src/model/values.h"

namespace cgrun {
namespace {

bool IsName(const TreeNode& node) { return node.IsScalar() && IsIdentifier(node.scalar); }

bool AreNames(const TreeNode& node) {
  return IsName(node) || (node.IsSequence() && std::ranges::all_of(node.items, IsName));
}

// The value of a key has a form that `fits`, where the key is there.
template <class Form>
bool Fits(const TreeNode& map, std::string_view key, Form fits) {
  const TreeEntry* entry = map.Find(key);
  return entry == nullptr || fits(entry->value);
}

bool HasOps(const TreeNode& map) {
  const TreeEntry* ops = map.Find("ops");
  return ops != nullptr && ops->value.IsSequence();
}

bool IsWholeSection(std::string_view section, const TreeNode& node) {
  if (node.IsNull()) return true;
  const bool has_inputs = section == "networks" || section == "blocks";
  return node.IsMap() && std::ranges::all_of(node.entries, [&](const TreeEntry& entry) {
           const TreeNode& value = entry.value;
           if (!IsIdentifier(entry.key)) return false;
           if (section == "inputs") return true;  // whatever it is, its name is known
           return value.IsMap() && HasOps(value) && (!has_inputs || Fits(value, "in", AreNames));
         });
}

constexpr std::string_view kSections[] = {"inputs", "networks", "blocks", "paths"};

// Returns whether an unknown key of the file may have been to give names: `modle: x` gives none,
// nor does what belongs to a `train` that is there.
bool MayGiveNames(const TreeEntry& entry, const TreeNode& root) {
  const std::vector<std::string> sections(std::begin(kSections), std::end(kSections));
  if (!MeantKey(entry.key, sections).empty()) return true;
  if (entry.value.IsScalar() || entry.value.IsNull()) return false;
  return root.Find("train") == nullptr || !HomeOfKey(entry.key).starts_with("train.");
}

}  // namespace

bool IsIncomplete(const TreeNode& root) {
  const std::vector<KeyDoc> known = FormatReference().front().keys;
  const auto hides_none = [&](const TreeEntry& entry) {
    const bool is_known = std::ranges::find(known, entry.key, &KeyDoc::name) != known.end();
    return is_known || !MayGiveNames(entry, root);
  };
  if (!root.IsMap() || !std::ranges::all_of(root.entries, hides_none)) return true;
  return !std::ranges::all_of(kSections, [&](std::string_view section) {
    return Fits(root, section,
                [section](const TreeNode& node) { return IsWholeSection(section, node); });
  });
}

}  // namespace cgrun
