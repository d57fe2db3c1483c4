// The command line as a whole: every verb with its flags, its help and its examples. Parsing, help
// and completion are made from this one description.
#ifndef CGRUN_CLI_COMMAND_LINE_H_
#define CGRUN_CLI_COMMAND_LINE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/cli/command.h"
#include "src/cli/verb.h"

namespace cgrun {

// Says why a parse ended without a verb to run.
struct ParseStop {
  bool is_mistake = true;  // else help or the version was asked for, and `text` is to be printed
  std::string kind;        // CLI11's name: "CallForVersion", "RequiredError"
  std::string text;
};

class CommandLine {
 public:
  CommandLine();
  ~CommandLine();

  // Parses the words behind the program's name. A value is the word that was typed, whatever its
  // characters; a repeatable flag takes one word each time that it is given. Nothing: chosen() is
  // the verb, and command() runs it. To be called once.
  std::optional<ParseStop> Parse(const std::vector<std::string>& words);

  // The verb of the parsed words; nothing where they name none.
  std::optional<Verb> chosen() const;
  const Command& command() const;

  // `cgrun` itself, with the flags that stand in front of a verb.
  Verb program() const;
  // One of Commands().
  Verb verb(const std::string& name) const;
  // Return the text of `cgrun --help`, and the examples at its end.
  std::string Help() const;
  std::string Examples() const;

 private:
  std::unique_ptr<CLI::App> app_;
  Command command_;
};

// The words behind the program's name, with `help` in its place: `cgrun help train` is `cgrun train
// --help`.
std::vector<std::string> WordsOf(int argc, char** argv);

// Throws InputError where a flag of the parsed verb stands with an empty value, as `--memory
// "$CAP"` does where CAP is not set: that is no wish to leave it out. A prompt may be empty.
void CheckValues(const Verb& verb);

}  // namespace cgrun

#endif  // CGRUN_CLI_COMMAND_LINE_H_
