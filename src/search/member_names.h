// Gives a model names under which it can stand beside others: its paths, networks and blocks get a
// prefix, and whatever names one of them follows.
#ifndef CGRUN_SEARCH_MEMBER_NAMES_H_
#define CGRUN_SEARCH_MEMBER_NAMES_H_

#include <set>
#include <string>
#include <vector>

#include "src/model/model_spec.h"
#include "src/model/tree.h"

namespace cgrun {

class MemberNames {
 public:
  // `model` outlives it. The prefix stands nowhere in the model.
  MemberNames(const ModelSpec& model, std::string prefix);

  // Takes a value as a path of the model names it. Returns its name outside of that path.
  std::string Value(const std::string& path, const std::string& value) const;

  // The networks, blocks and paths of the model with their new names. Paths are in the mode
  // `forward`, and have operators alone.
  std::vector<TreeEntry> Networks() const;
  std::vector<TreeEntry> Blocks() const;
  std::vector<TreeEntry> Paths() const;

 private:
  // The values that a path or template names.
  enum class Names { kOfPath, kOfTemplate };

  std::vector<TreeEntry> Templates(const char* section) const;
  void RenameOps(TreeNode& ops, Names names, const std::string& path) const;
  void RenameUse(TreeNode& use, Names names, const std::string& path) const;
  void RenameValues(TreeNode& values, const std::string& path) const;
  std::string Qualified(const std::string& value) const;
  bool HasOutput(const std::string& path, const std::string& output) const;

  const ModelSpec& model_;
  const std::string prefix_;
  std::set<std::string> templates_;  // networks and blocks, but those that items are called like
};

// A prefix for the names of a trial's model, "trial7_", that stands nowhere in `text`.
std::string PrefixOf(int64_t trial, const std::string& text);

// The name without the prefix, wherever that stands in it; "" if it does not begin with it.
std::string WithoutPrefix(const std::string& name, const std::string& prefix);

}  // namespace cgrun

#endif  // CGRUN_SEARCH_MEMBER_NAMES_H_
