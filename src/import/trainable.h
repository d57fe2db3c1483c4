// Decides which parameters of an imported network learn.
#ifndef CGRUN_IMPORT_TRAINABLE_H_
#define CGRUN_IMPORT_TRAINABLE_H_

#include "src/base/diagnostics.h"
#include "src/import/import.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Sets the key `frozen` of the operators `ops`, which are those of `imported.tree`.
//
// Without patterns, weights of layers learn, and so do constants that are weights of another
// operator (ImportedModel::learned). Other constants do not, nor does a batch norm in inference
// form. A tensor that matches a pattern of `source.frozen` does not, and one that matches
// `source.train` does. A pattern matches the name of an operator, or `OPERATOR.TENSOR`. The running
// statistics of a batch norm learn only by a pattern with `running_`. A pattern that matches
// nothing is an error.
void FreezeOperators(TreeNode& ops, const OnnxSource& source, const ImportedModel& imported,
                     Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_TRAINABLE_H_
