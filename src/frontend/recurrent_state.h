// Recurrent state: the inputs that `update` of a model file carries from step to step.
#ifndef CGRUN_FRONTEND_RECURRENT_STATE_H_
#define CGRUN_FRONTEND_RECURRENT_STATE_H_

#include <string>

#include "src/base/diagnostics.h"
#include "src/frontend/frontend.h"
#include "src/frontend/names.h"
#include "src/ir/builder.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Adds an input: a placeholder, or where it is `carried` recurrent state, which starts as zeros.
// Each kind of entry point has a state of its own, called StateName(); those that train share one.
// Returns what the model reads: where IsWidened(), f64 that is called WidenedName().
ValueId AddInput(const InputSpec& input, TensorType type, bool carried,
                 const FrontendOptions& options, Builder& builder);

// Returns whether inputs of a type are made f64 in a run.
bool IsWidened(DType type, const FrontendOptions& options);
// Returns whether the operators that read an input are `cast` alone, so that it may have any type.
bool IsConverted(const ModelSpec& model, const std::string& input);
std::string WidenedName(const std::string& input);

// An update edge for each line of `update`, once all paths are there. Predictions have none: each
// sample begins with zeros.
void AddStateUpdates(const ModelSpec& model, EntryKind kind, const Names& names, Graph& graph,
                     Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_RECURRENT_STATE_H_
