// Names that operators have in other frameworks.
#ifndef CGRUN_FRONTEND_SYNONYMS_H_
#define CGRUN_FRONTEND_SYNONYMS_H_

#include <span>
#include <string>
#include <string_view>

#include "src/base/synonyms.h"

namespace cgrun {

// Each leads to an operator.
std::span<const Synonym> OperatorSynonyms();

// What to write instead of `name`, which is not among `known`: see SuggestSynonym().
std::string SuggestOperator(std::string_view name, std::span<const std::string> known);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_SYNONYMS_H_
