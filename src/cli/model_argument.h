// Looks at the file that is given as MODEL before it is read as a model.
#ifndef CGRUN_CLI_MODEL_ARGUMENT_H_
#define CGRUN_CLI_MODEL_ARGUMENT_H_

#include <string>

namespace cgrun {

// Throws InputError where there is no such file, and where it is something else than a model file:
// an image, a table, weights, the folder of a run. The help says what to type instead.
void CheckModelArgument(const std::string& path);

}  // namespace cgrun

#endif  // CGRUN_CLI_MODEL_ARGUMENT_H_
