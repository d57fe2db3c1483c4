// cgrun: the command line. Parses the verb and its flags, runs it, and prints what users did wrong.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
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
#include "src/device/device.h"
#include "src/device/no_room.h"
#include "src/fit/run_limit.h"
#include "src/io/memory_room.h"
#include "src/run/find_non_finite.h"

namespace cgrun {
namespace {

// The help of an error that says that memory ran out.
std::string HelpWithMemory(const Verb& verb) {
  if (verb.Has("--batch")) {
    return "a smaller batch needs less (--batch N); `cgrun plan MODEL` lists what takes the memory";
  }
  return "the program and its libraries need some hundred MiB: raise the limit, or end other "
         "programs";
}

// Tells that planning ran out of memory.
int TellRoomRanOut() {
  WatchRoom(nullptr);
  PrintError(PlanningRanOut().what(), PlanningRanOut().help());
  return kBadInput;
}

// operator new throws RoomRanOut in destructors, too, from which nothing can be thrown. The program
// then ends at once, and says why.
std::terminate_handler terminate_before = nullptr;
[[noreturn]] void Terminate() {
  try {
    if (std::current_exception()) throw;
  } catch (const RoomRanOut&) {
    _exit(TellRoomRanOut());
  } catch (...) {
  }
  terminate_before();
  std::abort();
}

// Runs the verb; returns the exit status, the user's mistakes having been printed.
int RunVerb(const Verb& verb, const Command& command) {
  try {
    CheckValues(verb);
    CheckOutputs(verb);
    if (verb.Has("--batch")) WatchPlanning();  // such a verb plans a model
    return command();
  } catch (const ModelError& error) {
    PrintDiagnostics(error.diagnostics());
    return kBadInput;
  } catch (const InputError& error) {
    PrintError(error.what(), error.help());
    return kBadInput;
  } catch (const NoRoom& error) {
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
  } catch (const RoomRanOut&) {
    return TellRoomRanOut();
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

int ParseAndRun(const std::vector<std::string>& words) {
  CommandLine line;
  if (const std::optional<ParseStop> stop = line.Parse(words)) {
    return ReportParseStop(line, *stop, words);
  }
  return RunVerb(*line.chosen(), line.command());
}

}  // namespace
}  // namespace cgrun

int main(int argc, char** argv) {
  cgrun::terminate_before = std::set_terminate(cgrun::Terminate);
  cgrun::OpenClosedStreams();
  cgrun::ShareOneHeap();
  cgrun::RestartForLibraries(argv);
  cgrun::ExitOnInterrupts();
  cgrun::NoteCommandLine(argc, argv);
  cgrun::SetFreeMemory(cgrun::FreeHostMemory);
  return cgrun::RunOnBigStack([argc, argv] {
    const std::vector<std::string> words = cgrun::WordsOf(argc, argv);
    return cgrun::CheckStandardOutput(cgrun::FinishJson(cgrun::ParseAndRun(words), words));
  });
}
