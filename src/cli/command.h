// A verb of the command line: it declares its flags, and runs. One file a verb; the list stands in
// commands.cc.
#ifndef CGRUN_CLI_COMMAND_H_
#define CGRUN_CLI_COMMAND_H_

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cgrun {

// Exit statuses.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;    // the work failed
inline constexpr int kBadInput = 2;  // the user's input is wrong
inline constexpr int kInterrupted = 130;

// Declares the verb's flags on `app`; what it returns runs the verb once they are parsed, and
// returns the exit status. Throws UserError.
using Command = std::function<int()>;
using DefineCommand = Command (*)(CLI::App& app);

struct CommandEntry {
  const char* name;
  const char* summary;   // one line
  const char* examples;  // lines of `cgrun NAME --help`
  DefineCommand define;
};

const std::vector<CommandEntry>& Commands();

// Each in the file of its name.
Command DefineTrain(CLI::App& app);
Command DefineEval(CLI::App& app);
Command DefinePredict(CLI::App& app);
Command DefineGenerate(CLI::App& app);
Command DefineCheck(CLI::App& app);
Command DefineBench(CLI::App& app);
Command DefinePlan(CLI::App& app);
Command DefineGraph(CLI::App& app);
Command DefineCompile(CLI::App& app);
Command DefineDisasm(CLI::App& app);
Command DefineOps(CLI::App& app);
Command DefineSummary(CLI::App& app);
Command DefineDevices(CLI::App& app);

}  // namespace cgrun

#endif  // CGRUN_CLI_COMMAND_H_
