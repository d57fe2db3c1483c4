// Names of tensors in a file become those of a model, by the table `rename` of a model file.
#ifndef CGRUN_RUN_WEIGHT_NAMES_H_
#define CGRUN_RUN_WEIGHT_NAMES_H_

#include <optional>
#include <string>
#include <vector>

#include "src/model/model_spec.h"
#include "src/model/name_pattern.h"

namespace cgrun {

// The name of a tensor after the rules: each rule whose pattern matches the whole name rewrites it,
// in the order of the file. A `*` matches the fewest characters that it can. Returns nothing where
// a rule leaves the tensor out.
std::optional<std::string> Renamed(std::string name, const std::vector<RenameRule>& rules);

// Returns what training programs put in front of every name: "", "module.", or several such as
// "state_dict.model.".
std::string CommonFront(const std::vector<std::string_view>& names);

}  // namespace cgrun

#endif  // CGRUN_RUN_WEIGHT_NAMES_H_
