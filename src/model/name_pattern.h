// Patterns of names, in which `*` stands for any characters.
#ifndef CGRUN_MODEL_NAME_PATTERN_H_
#define CGRUN_MODEL_NAME_PATTERN_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cgrun {

// Returns the texts in place of each `*` of `pattern`; nothing where it does not match the whole
// name. A `*` matches the fewest characters that it can.
std::optional<std::vector<std::string>> MatchStars(std::string_view pattern, std::string_view name);

}  // namespace cgrun

#endif  // CGRUN_MODEL_NAME_PATTERN_H_
