// `--resume DIR`: the run of a folder, with the settings that it was started with.
#ifndef CGRUN_CLI_RESUME_H_
#define CGRUN_CLI_RESUME_H_

#include <memory>
#include <optional>
#include <string>

#include "src/cli/model_flags.h"
#include "src/run/run_folder.h"

namespace cgrun {

struct ResumedRun {
  std::unique_ptr<RunLock> lock;  // of the folder
  ModelSpec model;
  ModelSpec before;  // as the run went so far
  RunSettings settings;
  std::string checkpoint;
};

// Takes the run folder for itself, and throws InputError at once if the run still goes on. Reads
// the folder's model file with the flags as overrides. If flags.model is given, it is read instead,
// with the assignments of the run's own command lines. Finds the newest whole checkpoint, and warns
// of damaged ones.
//
// Settings other than the length of the run (train.epochs, steps, time) must be those of the run.
// The paths of data may differ, which a note tells: the session compares the data there. Prints
// errors, and returns nothing after one. Throws InputError and UserError.
std::optional<ResumedRun> FindResumedRun(const std::string& folder, const ModelFlags& flags);

// Says how to train on from the weights of a run that `early_stop` does not let go on.
std::string HelpWithStop(const std::string& folder);

}  // namespace cgrun

#endif  // CGRUN_CLI_RESUME_H_
