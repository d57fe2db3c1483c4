// Declares the initialiser `file`, which reads a parameter's values from an .npy or .safetensors
// file.
#ifndef CGRUN_OPS_INITIAL_FILE_H_
#define CGRUN_OPS_INITIAL_FILE_H_

#include "src/ir/graph.h"

namespace cgrun {

// The values of a parameter of `type`, which is bound; floating-point numbers of another width are
// rounded to its own. Throws UserError if the file cannot be read, or holds another shape.
HostTensor ReadInitialFile(const ParameterInfo& info, const TensorType& type);

// Reports, where the model file names it, why a file cannot give a parameter its values.
void CheckInitialFiles(const Graph& graph, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_OPS_INITIAL_FILE_H_
