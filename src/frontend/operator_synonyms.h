// Names that operators have in other frameworks.
#ifndef CGRUN_FRONTEND_OPERATOR_SYNONYMS_H_
#define CGRUN_FRONTEND_OPERATOR_SYNONYMS_H_

#include <span>
#include <string>
#include <string_view>

#include "src/base/synonyms.h"

namespace cgrun {

// Each leads to an operator.
std::span<const Synonym> OperatorSynonyms();

// "Conv2d" of "torch.nn.Conv2d(3, 16, 3)", as other programs call operators.
std::string_view BareName(std::string_view name);

// Suggests an operator to write instead of `name`, which is not among `known`: see
// SuggestSynonym().
std::string SuggestOperator(std::string_view name, std::span<const std::string> known);

// The operator of `known` that others call `name`, if only in capitals; "" where there is none.
std::string SameOperator(std::string_view name, std::span<const std::string> known);

// Returns the same, or else the known name that `name` is a typing error of; "" where it is none.
std::string GuessOperator(std::string_view name, std::span<const std::string> known);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_OPERATOR_SYNONYMS_H_
