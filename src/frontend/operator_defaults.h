// A model file with what its operators leave to their defaults written out.
#ifndef CGRUN_FRONTEND_OPERATOR_DEFAULTS_H_
#define CGRUN_FRONTEND_OPERATOR_DEFAULTS_H_

#include "src/model/tree.h"

namespace cgrun {

// `tree` of a model file without errors, with each attribute that has a default added where an
// operator, loss, metric or optimizer does not give it. It stands for the same model.
TreeNode WithOperatorDefaults(TreeNode tree);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_OPERATOR_DEFAULTS_H_
