// The marked tree: a YAML document as plain values that remember their places. Parse() is the entry
// point; ToYaml() writes a tree back; ApplyOverride() is what `--set key=value` does.
#ifndef CGRUN_MODEL_TREE_H_
#define CGRUN_MODEL_TREE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"

namespace cgrun {

struct TreeEntry;

// One value of a document. Only the members of its kind are used.
struct TreeNode {
  enum class Kind { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  SourceMark mark;                 // of a scalar, all of it; of a list or map, where it begins
  std::string scalar;              // kScalar: the text, quotes and escapes resolved
  bool quoted = false;             // kScalar: written with quotes, so never a number or boolean
  bool mended = false;             // kScalar: no integer, and of its commas that was reported
  std::vector<TreeNode> items;     // kSequence
  std::vector<TreeEntry> entries;  // kMap: in the file's order, keys unique

  bool IsNull() const { return kind == Kind::kNull; }
  bool IsScalar() const { return kind == Kind::kScalar; }
  bool IsSequence() const { return kind == Kind::kSequence; }
  bool IsMap() const { return kind == Kind::kMap; }

  // The entry of a map, or null; null too where this is no map.
  const TreeEntry* Find(std::string_view key) const;
  TreeEntry* Find(std::string_view key);

  static TreeNode Scalar(std::string text, SourceMark mark = {}, bool quoted = false);
  static TreeNode Sequence(std::vector<TreeNode> items, SourceMark mark = {});
  static TreeNode Map(std::vector<TreeEntry> entries, SourceMark mark = {});

  // Equal but for the marks.
  friend bool operator==(const TreeNode& a, const TreeNode& b);
};

// Holds a key with its value.
struct TreeEntry {
  std::string key;
  SourceMark key_mark;
  TreeNode value;

  friend bool operator==(const TreeEntry& a, const TreeEntry& b);
};

// Larger files, keys and trees are refused before they can hurt.
inline constexpr size_t kMaxFileBytes = 4 << 20;
inline constexpr size_t kMaxKeyBytes = 400;
inline constexpr int kMaxTreeDepth = 64;
inline constexpr int64_t kMaxTreeNodes = 200'000;  // after aliases are expanded

// Returns the document in `file`, or nothing if it is malformed: then `diagnostics` holds the
// errors (the first syntax error; every duplicate key). Aliases and merge keys (`<<`) are expanded.
// Line ends become "\n", and a byte order mark is dropped. `${…}` and `name[3]` may stand unquoted
// in flow style. If duplicate keys are the only errors and `duplicates` is given, it becomes true,
// and the tree has the first of each.
std::optional<TreeNode> Parse(SourceFile file, Diagnostics& diagnostics,
                              bool* duplicates = nullptr);

// YAML text that Parse() reads back as an equal tree (a text that cannot stand without quotes comes
// back quoted). Lists and maps of plain values that fit a line are written in flow style.
std::string ToYaml(const TreeNode& node);

// Gives a tree and all keys in it one place.
void SetMarks(TreeNode& node, const SourceMark& mark);

// Returns the tree with quotes around the texts that ToYaml() cannot write without them, and no
// others. Two trees are then equal where their values are, whatever their quotes were. A quoted
// number becomes a plain one.
TreeNode WithUsualQuotes(TreeNode node);

// Sets one value: `assignment` is "dotted.path=value", the value in YAML. A component of the path
// is a key, an index of a list ("ops[0]"), or in a list the name of an item that is a map of one
// key ("ops.conv1"). The keys of an item of `ops` follow its index whether it has a name or not.
// Missing maps are made. If keys exclude each other, the others are removed. Returns false after an
// error. Marks say `typed`, such as "--batch 32", or without it "--set dotted.path=value".
bool ApplyOverride(TreeNode& root, std::string_view assignment, Diagnostics& diagnostics,
                   std::string_view typed = "");

// Writes a map for help in one line: `{lr: 0.01, betas: [0.9, 0.99]}`.
std::string FlowText(const TreeNode& node);

// Describes a node in messages: "nothing", "a list", "a map", or the scalar in quotes (cut where it
// is long).
std::string Describe(const TreeNode& node);

}  // namespace cgrun

#endif  // CGRUN_MODEL_TREE_H_
