// Finds the definition of an operator by its name in a model file.
#ifndef CGRUN_FRONTEND_OP_LOOKUP_H_
#define CGRUN_FRONTEND_OP_LOOKUP_H_

#include <optional>
#include <string>

#include "src/base/diagnostics.h"
#include "src/ir/op_def.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Returns whether an operator may stand where those of a usage do. A loss may be any operator that
// owns nothing; what it gives must be a scalar.
bool IsOf(const OpDef& def, Usage usage);

// The operators that may be named by the key `activation`.
std::vector<std::string> ActivationNames();

// Returns null after an error: no operator of that name can be used so (a loss where an optimizer
// belongs).
const OpDef* FindDef(const OpSpec& op, Usage usage, Diagnostics& diagnostics);

// The operator that an unknown name probably stands for, or null: what was told of by FindDef().
const OpDef* GuessDef(const OpSpec& op, Usage usage);

// Suggests operators to write instead of a layer that other programs have as one operator, and this
// one has not. Returns "" for other names.
std::string NoteOnLayer(const std::string& name);

OpId IdOf(const OpDef& def);

// Returns whether an operator of a model file reads no tensor of the model: random numbers, or a
// tensor of its own.
bool ReadsNothing(const OpSpec& op);

// `activation: relu` of an operator: an operator of one input that is applied to its output.
struct Activation {
  std::optional<OpId> op;  // nothing: none is asked for, or the name is wrong (reported)
  std::string name;
};

Activation FindActivation(const OpSpec& op, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_OP_LOOKUP_H_
