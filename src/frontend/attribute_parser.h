// Converts the keys of an operator in a model file to its typed attributes.
#ifndef CGRUN_FRONTEND_ATTRIBUTE_PARSER_H_
#define CGRUN_FRONTEND_ATTRIBUTE_PARSER_H_

#include <span>
#include <string>

#include "src/base/diagnostics.h"
#include "src/ir/op_def.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Sets the attributes that `op` gives; keys in `also_known` are left to the caller. Unknown keys,
// wrong types and missing required attributes are reported at their marks.
Attributes ParseAttributes(const OpDef& def, const OpSpec& op,
                           std::span<const std::string> also_known, Diagnostics& diagnostics);

// Shapes among the attributes are those of a sample, with the batch axis in front. Returns them
// without that axis for inputs that have no batch.
Attributes ForInputs(const OpDef& def, Attributes attributes, std::span<const TensorType> inputs);

// Returns whether an attribute of integers was given a fraction that is reported already, as
// `units: 0,5`, or one of numbers `1,2,3`: then it has no value, and nothing is to be said of the
// one that stands for it.
bool LacksNumber(const OpDef& def, const OpSpec& op);

// Reports the same of the keys that are there, where `def` is but a guess.
void CheckGivenAttributes(const OpDef& def, const OpSpec& op,
                          std::span<const std::string> also_known, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_ATTRIBUTE_PARSER_H_
