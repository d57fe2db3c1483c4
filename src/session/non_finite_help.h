// NonFiniteHelp() says how to prevent the first value that is not finite.
#ifndef CGRUN_SESSION_NON_FINITE_HELP_H_
#define CGRUN_SESSION_NON_FINITE_HELP_H_

#include <string>

#include "src/model/model_spec.h"
#include "src/run/find_non_finite.h"

namespace cgrun {

// `of_rate` is what helps where steps are too large: DivergenceHelp(). It is the help unless no
// update can be to blame, before the first one or where no parameter leads to the operator: then
// the help is what numbers the operator takes. "" for a state.
std::string NonFiniteHelp(const ModelSpec& model, DType precision, const NonFinite& found,
                          const std::string& of_rate);

}  // namespace cgrun

#endif  // CGRUN_SESSION_NON_FINITE_HELP_H_
