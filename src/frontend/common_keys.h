// The keys that operators of a model file have in common, beside their attributes.
#ifndef CGRUN_FRONTEND_COMMON_KEYS_H_
#define CGRUN_FRONTEND_COMMON_KEYS_H_

#include <string_view>
#include <vector>

#include "src/ir/op_def.h"

namespace cgrun {

struct CommonKey {
  std::string_view name;
  std::string_view doc;
};

// Returns the keys that mean something to an operator: `init` to one with parameters, `schedule` to
// an optimizer. (KeysBeside() has those that the parser takes and then reports as meaningless
// here.)
std::vector<CommonKey> KeysInCommon(const OpDef& def);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_COMMON_KEYS_H_
