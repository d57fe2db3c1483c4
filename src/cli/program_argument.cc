// Refuses flags that a compiled program cannot follow.
#include "src/cli/program_argument.h"

#include <algorithm>

#include "src/base/diagnostics.h"

namespace cgrun {

void RefuseFlagsOfModels(const Verb& verb, const std::string& what, const std::string& help,
                         const std::vector<std::string>& beside,
                         const std::vector<std::string>& allowed) {
  std::vector<std::string> flags = {"--device",    "--batch", "--memory",       "--host-memory",
                                    "--swap",      "--order", "--planner",      "--zones",
                                    "--precision", "--seed",  "--threads",      "--tune",
                                    "--keep",      "--set",   "--disable-pass", "--stop-after-pass",
                                    "--dump-after"};
  flags.insert(flags.end(), beside.begin(), beside.end());
  for (const std::string& flag : flags) {
    if (!verb.Given(flag)) continue;
    if (std::ranges::find(allowed, flag) != allowed.end()) continue;
    throw InputError(flag + " needs a model, not " + what, help);
  }
}

void CheckSound(const ProgramImage& image, const std::string& path) {
  const std::vector<std::string> violations = VerifyImage(image);
  if (violations.empty()) return;
  throw InputError(path + ": the program is not sound: " + violations[0],
                   "compile it again: `cgrun compile MODEL -o M.cgb`");
}

}  // namespace cgrun
