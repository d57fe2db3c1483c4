// Names that operators have in other frameworks.
#ifndef CGRUN_FRONTEND_SYNONYMS_H_
#define CGRUN_FRONTEND_SYNONYMS_H_

#include <span>
#include <string>
#include <string_view>

namespace cgrun {

// What to write instead of `name`, which is not among `known`: as SuggestName(), but first a
// synonym
// ("write 'linear'" for 'dense', 'FullyConnected'), and a name that differs in case, '_' and '-'
// alone ('MaxPool').
std::string SuggestOperator(std::string_view name, std::span<const std::string> known);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_SYNONYMS_H_
