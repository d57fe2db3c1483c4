// Helps with a name that no value has.
#ifndef CGRUN_FRONTEND_NEAR_NAMES_H_
#define CGRUN_FRONTEND_NEAR_NAMES_H_

#include <string>
#include <vector>

namespace cgrun {

// "'a', 'b' or 'c'"; of many the first few: "'a', 'b', … and 12 more", and what lists them all.
inline constexpr size_t kMostListed = 8;
std::string ListOfNames(const std::vector<std::string>& names);

// Returns those of the names `known` that have a part which begins with `name`. An operator's
// values have such names.
std::vector<std::string> NamesWithPart(const std::string& name,
                                       const std::vector<std::string>& known);

// Names the one that is nearly `name`, or ends nearly so, or else `related`, or where all are
// listed.
std::string HelpWithName(const std::string& name, const std::vector<std::string>& known,
                         const std::vector<std::string>& related);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_NEAR_NAMES_H_
