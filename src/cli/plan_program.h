// `cgrun plan M.cgb`: the memory layout that a compiled program carries.
#ifndef CGRUN_CLI_PLAN_PROGRAM_H_
#define CGRUN_CLI_PLAN_PROGRAM_H_

#include <string>

namespace cgrun {

// Prints it, with `full` every buffer. Nothing is planned, and no kernels are needed. `html`: a
// page to draw it to; "": none. Throws InputError for a file that is no sound program.
void TellProgramPlan(const std::string& path, bool full, const std::string& html);

}  // namespace cgrun

#endif  // CGRUN_CLI_PLAN_PROGRAM_H_
