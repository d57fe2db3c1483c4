// Records the origin of a run for its folder: when, by which version and by which command line it
// was started and resumed.
#ifndef CGRUN_CLI_RUN_ORIGIN_H_
#define CGRUN_CLI_RUN_ORIGIN_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/run/run_folder.h"

namespace cgrun {

// The command line of this process, which parts of runs take from then on.
void NoteCommandLine(int argc, const char* const* argv);

// As a shell reads it: "cgrun train 'my model.yaml'".
std::string CommandText(int argc, const char* const* argv);

// Returns `before` and the part that begins now, at `step`. If there are very many parts, it
// returns only the first and the last ones.
std::vector<RunPart> PartsUntilNow(std::vector<RunPart> before, int64_t step);

// Returns rows of a name and a text for the page of the run.
std::vector<std::pair<std::string, std::string>> OriginRows(const RunSettings& settings,
                                                            int64_t seed);

}  // namespace cgrun

#endif  // CGRUN_CLI_RUN_ORIGIN_H_
