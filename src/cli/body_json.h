// Describes the work of a fused node as JSON for listings.
#ifndef CGRUN_CLI_BODY_JSON_H_
#define CGRUN_CLI_BODY_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "src/ir/signature.h"

namespace cgrun {

// Returns `[{"op", "attributes", "operands"}]`. An operand is the index of an input of the node, or
// −1 − j for the result of operator j of the body.
nlohmann::ordered_json BodyJson(std::span<const FusedOperator> body);

}  // namespace cgrun

#endif  // CGRUN_CLI_BODY_JSON_H_
