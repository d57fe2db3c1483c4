// Names that keys have in other frameworks.
#ifndef CGRUN_MODEL_KEY_SYNONYMS_H_
#define CGRUN_MODEL_KEY_SYNONYMS_H_

#include <span>
#include <string>
#include <string_view>

namespace cgrun {

// What to write instead of the key `name`, which is not among `known`: as SuggestName(), but first
// a synonym ("write 'filters'" for 'out_channels').
std::string SuggestKey(std::string_view name, std::span<const std::string> known);

}  // namespace cgrun

#endif  // CGRUN_MODEL_KEY_SYNONYMS_H_
