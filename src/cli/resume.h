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

// Takes the run folder for itself, and throws InputError at once where the run still goes on. Reads
// the folder's model file, or flags.model where that is given with what the run's own command lines
// have set of it, with the flags as overrides, and finds the newest whole checkpoint; damaged ones
// are warned of. Settings other than the length of the run (train.epochs, steps, time) must be
// those of the run, but for the paths of data, of which a note tells: the session compares what
// lies there. Prints errors; nothing after one. Throws InputError and UserError.
std::optional<ResumedRun> FindResumedRun(const std::string& folder, const ModelFlags& flags);

// Says how to train on from the weights of a run that `early_stop` does not let go on.
std::string HelpWithStop(const std::string& folder);

}  // namespace cgrun

#endif  // CGRUN_CLI_RESUME_H_
