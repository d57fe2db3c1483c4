// Scripts that complete command lines of cgrun in bash, zsh and fish, from a plain description of
// its verbs.
#ifndef CGRUN_CLI_COMPLETION_SCRIPTS_H_
#define CGRUN_CLI_COMPLETION_SCRIPTS_H_

#include <map>
#include <string>
#include <vector>

#include "src/cli/argument_values.h"

namespace cgrun {

struct FlagDescription {
  std::vector<std::string> names;  // with dashes: {"-o", "--output"}
  ArgumentValues values;
  bool repeats = false;  // may be given several times
  std::string doc;
};

struct VerbDescription {
  std::string name, summary;
  std::vector<FlagDescription> flags;
  ArgumentValues argument;  // the word without a flag; kNone: nothing
};

using CommandLineDescription = std::vector<VerbDescription>;

// Describes the keys and values that `--set` takes.
struct SettingsDescription {
  std::vector<std::string> keys;                           // SetKeys()
  std::map<std::string, std::vector<std::string>> values;  // SetValues()
};

// Texts to be sourced by the shell, or to be put where it looks for them. They hold all that they
// offer and do not call cgrun.
std::string BashCompletion(const CommandLineDescription& verbs,
                           const SettingsDescription& settings);
std::string ZshCompletion(const CommandLineDescription& verbs, const SettingsDescription& settings);
std::string FishCompletion(const CommandLineDescription& verbs,
                           const SettingsDescription& settings);

}  // namespace cgrun

#endif  // CGRUN_CLI_COMPLETION_SCRIPTS_H_
