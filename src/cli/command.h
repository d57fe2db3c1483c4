// A verb of the command line: it declares its flags, and runs. One file a verb; the list stands in
// commands.cc.
#ifndef CGRUN_CLI_COMMAND_H_
#define CGRUN_CLI_COMMAND_H_

#include <functional>
#include <string>
#include <vector>

#include "src/cli/verb.h"

namespace cgrun {

// Exit statuses.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;    // the work failed
inline constexpr int kBadInput = 2;  // the user's input is wrong
inline constexpr int kInterrupted = 130;

// Declares the verb's flags of `verb`; what it returns runs the verb once they are parsed, and
// returns the exit status. Throws UserError.
using Command = std::function<int()>;
using DefineCommand = Command (*)(const Verb& verb);

struct CommandEntry {
  const char* name;
  const char* summary;   // one line
  const char* examples;  // two to four command lines, for `cgrun NAME --help`
  DefineCommand define;
};

const std::vector<CommandEntry>& Commands();

// Each function stands in the file of its name.
Command DefineTrain(const Verb& verb);
Command DefineSearch(const Verb& verb);
Command DefineRuns(const Verb& verb);
Command DefineEval(const Verb& verb);
Command DefinePredict(const Verb& verb);
Command DefineGenerate(const Verb& verb);
Command DefineCheck(const Verb& verb);
Command DefineBench(const Verb& verb);
Command DefinePlan(const Verb& verb);
Command DefineGraph(const Verb& verb);
Command DefineCompile(const Verb& verb);
Command DefineDisasm(const Verb& verb);
Command DefineImport(const Verb& verb);
Command DefineExport(const Verb& verb);
Command DefineOps(const Verb& verb);
Command DefineSummary(const Verb& verb);
Command DefineDevices(const Verb& verb);
Command DefineCompletion(const Verb& verb);

}  // namespace cgrun

#endif  // CGRUN_CLI_COMMAND_H_
