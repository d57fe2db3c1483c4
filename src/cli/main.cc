// cgrun: the command line. Parses the verb and its flags, runs it, and prints what users did wrong.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/base/process_memory.h"
#include "src/cli/big_stack.h"
#include "src/cli/command.h"
#include "src/cli/command_line.h"
#include "src/cli/console.h"
#include "src/cli/model_flags.h"
#include "src/cli/outputs.h"
#include "src/cli/restart.h"
#include "src/cli/run_origin.h"
#include "src/cli/signals.h"
#include "src/cli/standard_streams.h"
#include "src/device/address_space.h"
#include "src/train/find_non_finite.h"

namespace cgrun {
namespace {

// The help of an error that says that memory ran out.
std::string HelpWithMemory(const CLI::App& verb) {
  if (verb.get_option_no_throw("--batch") != nullptr) {
    return "a smaller batch needs less (--batch N); `cgrun plan MODEL` lists what takes the memory";
  }
  return "the program and its libraries need some hundred MiB: raise the limit, or end other "
         "programs";
}

// Runs the verb; returns the exit status, the user's mistakes having been printed.
int RunVerb(const CLI::App& verb, const Command& command) {
  try {
    CheckValues(verb);
    CheckOutputs(verb);
    return command();
  } catch (const ModelError& error) {
    PrintDiagnostics(error.diagnostics());
    return kBadInput;
  } catch (const InputError& error) {
    PrintError(error.what(), error.help());
    return kBadInput;
  } catch (const NonFiniteError& error) {
    Diagnostics diagnostics;
    diagnostics.Error(error.mark(), error.text(), error.help());
    PrintDiagnostics(diagnostics);
    return kFailed;
  } catch (const UserError& error) {
    PrintError(error.what(), error.help());
    return kFailed;
  } catch (const std::bad_alloc&) {
    const std::string limit = Describe(LeastAddressLimit());
    PrintError("memory ran out" + (limit.empty() ? "" : ": " + limit), HelpWithMemory(verb));
    return kFailed;
  } catch (const std::system_error& error) {
    PrintError(std::string("the system refused a request: ") + error.what(),
               "limits on this process can be the cause: `ulimit -a` lists them");
    return kFailed;
  } catch (const std::exception& error) {
    PrintError(std::string("internal error: ") + error.what(), "please report this");
    return kFailed;
  }
}

int ParseAndRun(int argc, char** argv) {
  Command chosen;
  const std::shared_ptr<CLI::App> app = MakeCommandLine(&chosen);
  std::vector<char*> arguments = WithHelpAsFlag(argc, argv);
  const int count = static_cast<int>(arguments.size());
  try {
    ParseWords(*app, arguments);
  } catch (const CLI::ParseError& error) {
    return ReportParseError(*app, error, count, arguments.data());
  }
  return RunVerb(*app->get_subcommands()[0], chosen);
}

}  // namespace
}  // namespace cgrun

int main(int argc, char** argv) {
  cgrun::OpenClosedStreams();
  cgrun::ShareOneHeap();
  cgrun::RestartForLibraries(argv);
  cgrun::ExitOnInterrupts();
  cgrun::NoteCommandLine(argc, argv);
  return cgrun::RunOnBigStack([argc, argv] {
    const int status = cgrun::FinishJson(cgrun::ParseAndRun(argc, argv), argc, argv);
    return cgrun::CheckStandardOutput(status);
  });
}
