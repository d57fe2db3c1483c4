// A key that YAML does not take for one, as the blank behind its colon, or the colon, is missing.
#ifndef CGRUN_MODEL_GLUED_KEY_H_
#define CGRUN_MODEL_GLUED_KEY_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/diagnostics.h"
#include "src/model/tree.h"

namespace cgrun {

struct GluedKey {
  std::string key;
  std::string value;  // the text behind it; may be ""
  bool has_colon = false;
  bool has_equals_sign = false;  // in place of the colon
  size_t colon = 0;              // bytes before the colon, or before where it is to be

  std::string Message() const;
  std::string Help() const;
};

// "op:conv", "epochs 4", "batch=32" and "batch = 32" begin so; "x", "a:", "a: b" and "2:3" do not.
std::optional<GluedKey> FindGluedKey(std::string_view text);

// Such keys have no value for YAML. Reports one, and makes of it the key and the value that are
// meant; false of others.
bool MendGluedKey(std::string& key, const SourceMark& key_mark, TreeNode& value,
                  Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_MODEL_GLUED_KEY_H_
