// The command line as a whole: every verb with its flags, its help and its examples. What runs it,
// what explains it and what completes it are made from this one description.
#ifndef CGRUN_CLI_COMMAND_LINE_H_
#define CGRUN_CLI_COMMAND_LINE_H_

#include <memory>
#include <string>
#include <vector>

#include "src/cli/command.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cgrun {

// `cgrun` with a subcommand for each of Commands(). Parsing a command line stores the verb's
// command in `chosen`, which must outlive the result.
std::shared_ptr<CLI::App> MakeCommandLine(Command* chosen);

// The command line with `help` in its place: `cgrun help train` is `cgrun train --help`.
std::vector<char*> WithHelpAsFlag(int argc, char** argv);

// Parses a command line of MakeCommandLine(), the program's name first. A value is the word that
// was typed, whatever its characters; a repeatable flag takes one word each time that it is given.
// Throws CLI::ParseError.
void ParseWords(CLI::App& app, const std::vector<char*>& arguments);

// What may stand for an argument's value.
struct ArgumentValues {
  enum class Kind { kNone, kAny, kWords, kFile, kFolder, kRun, kSetting };
  // kNone: a switch; kRun: a run folder; kSetting: a key of the model file, and a value.
  Kind kind = Kind::kAny;
  std::string name;                // what --help calls it: "FILE", "graph|eager"; "" for a switch
  bool optional = false;           // the flag may stand without it
  std::vector<std::string> words;  // kWords: all that there are
  // kFile: how the names of such files end, "yaml"; empty: in any way.
  std::vector<std::string> suffixes = {};
};

ArgumentValues ValuesOf(const CLI::Option& option);

// Throws InputError where a flag of the parsed verb stands with an empty value, as `--memory
// "$CAP"` does where CAP is not set: that is no wish to leave it out. A prompt may be empty.
void CheckValues(const CLI::App& verb);

}  // namespace cgrun

#endif  // CGRUN_CLI_COMMAND_LINE_H_
