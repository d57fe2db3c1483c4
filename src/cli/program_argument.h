// A compiled program (.cgb) as MODEL of a verb that shows it and compiles nothing.
#ifndef CGRUN_CLI_PROGRAM_ARGUMENT_H_
#define CGRUN_CLI_PROGRAM_ARGUMENT_H_

#include <string>
#include <vector>

#include "src/cli/verb.h"
#include "src/program/image.h"

namespace cgrun {

// Throws InputError if the command line gives a flag that only a model can follow: `what` is in its
// place ("a list of buffers"), and `help` says what to do. `beside`: more such flags, of the verb
// itself; `allowed`: flags of models that are heeded.
void RefuseFlagsOfModels(const Verb& verb, const std::string& what, const std::string& help,
                         const std::vector<std::string>& beside = {},
                         const std::vector<std::string>& allowed = {});

// Throws InputError, which names the file, where an image is not sound.
void CheckSound(const ProgramImage& image, const std::string& path);

}  // namespace cgrun

#endif  // CGRUN_CLI_PROGRAM_ARGUMENT_H_
