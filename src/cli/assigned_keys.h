// Says which keys of a model file the flags set.
#ifndef CGRUN_CLI_ASSIGNED_KEYS_H_
#define CGRUN_CLI_ASSIGNED_KEYS_H_

#include <string>
#include <string_view>
#include <vector>

#include "src/model/tree.h"

namespace cgrun {

// "paths.classify.ops[2].init" as "paths", "classify", "ops", "2", "init".
std::vector<std::string> PartsOfKey(std::string_view key);

// Returns the part of a tree that `part` names: an entry of a map, or an item of a list by its
// index or by its name, as `ops` has them. Returns null where there is none. A name becomes the
// item's index in `part`. For an item with a name, returns the value behind that name.
const TreeNode* StepInto(const TreeNode* node, std::string& part);

// Returns whether an assignment, as of `--set`, is to this key, to what holds it, or to what it
// holds. An item of a list may be called by its name in one and by its index in the other, as
// `tree` has it.
bool Sets(const std::vector<std::string>& assignments, std::string_view key,
          const TreeNode& tree = {});

}  // namespace cgrun

#endif  // CGRUN_CLI_ASSIGNED_KEYS_H_
