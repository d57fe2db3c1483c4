// `cgrun train` goes on with a run with the run's settings, and says what is different.
#ifndef CGRUN_CLI_RESUMED_TRAINING_H_
#define CGRUN_CLI_RESUMED_TRAINING_H_

#include <string>
#include <vector>

#include "src/cli/model_flags.h"
#include "src/cli/resume.h"
#include "src/run/run_folder.h"
#include "src/session/session.h"

namespace cgrun {

// Gives `options` the settings of the run, where no flag says otherwise. Throws InputError for
// another --limit-batches.
void TakeSettings(const RunSettings& settings, const ModelFlags& flags, const RunFlags& run_flags,
                  SessionOptions& options);

// Returns what all command lines of the run assigned to keys of the model file, the newest last.
std::vector<std::string> SetSoFar(const ResumedRun& resumed, const ModelFlags& flags);

// Returns whether the run has nothing left to do, not even its summary, or is now to be shorter
// than it is.
bool IsFinished(const std::string& folder, const ModelSpec& model, const Session& session);
// Prints why such a run does not go on. Returns the exit status.
int ReportFinished(const std::string& folder, const ModelSpec& model, const Session& session);

// Says where the run goes on, and warns of what makes it another run: other data, kernels that
// `tuning` chooses, rates that jump. `data_hash` and `tuning`: as RunSettings has them, of now.
void TellResumed(const ResumedRun& resumed, const Session& session, const std::string& data_hash,
                 const std::string& tuning);

}  // namespace cgrun

#endif  // CGRUN_CLI_RESUMED_TRAINING_H_
