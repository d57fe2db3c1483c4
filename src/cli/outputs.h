// Files that flags name for writing: CheckOutputs() keeps them from destroying what users wrote.
#ifndef CGRUN_CLI_OUTPUTS_H_
#define CGRUN_CLI_OUTPUTS_H_

#include "src/cli/verb.h"

namespace cgrun {

// Throws InputError where a flag of the parsed verb would write over a file that it reads, over a
// file of another kind than the one it writes, or into one that is called as a PNG is.
void CheckOutputs(const Verb& verb);

}  // namespace cgrun

#endif  // CGRUN_CLI_OUTPUTS_H_
