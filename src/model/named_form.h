// Other programs name the kind of a map in this form: `{type: NAME, KEY: …}`.
#ifndef CGRUN_MODEL_NAMED_FORM_H_
#define CGRUN_MODEL_NAMED_FORM_H_

#include <optional>
#include <span>
#include <string>

#include "src/base/synonyms.h"
#include "src/model/tree.h"

namespace cgrun {

struct NamedForm {
  TreeEntry named_by;  // `type: NAME`
  TreeNode rest;       // the map without it
};

// Returns nothing if no such key has a name. With `may_be_name`, `name` is such a key, too.
std::optional<NamedForm> FindNamedForm(const TreeNode& map, bool may_be_name = true);

// `map` with the names of `known` for those that others, as `table` has them, call its keys.
TreeNode WithOurKeys(TreeNode map, std::span<const std::string> known,
                     std::span<const Synonym> table);

// "{normal: {mean: 0}}", "normal" of an empty map: what such a form is where the kind is a key.
std::string WithKindAsKey(const std::string& kind, const TreeNode& arguments);

}  // namespace cgrun

#endif  // CGRUN_MODEL_NAMED_FORM_H_
