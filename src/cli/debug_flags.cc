// The flags, and what is told at the end of a debugging run.
#include "src/cli/debug_flags.h"

#include "src/cli/console.h"
#include "src/device/device.h"

namespace cgrun {

void AddDebugFlags(const Verb& verb, const std::shared_ptr<RunFlags>& flags) {
  verb.AddSwitch("--debug-sets", flags->debug_sets,
                 "check what each operator reads and writes, and name an operator that touches "
                 "what it does not declare; slow, with the same bits");
  verb.AddSwitch("--debug-sync", flags->debug_sync,
                 "on cuda: wait after each operator, and name the one that fails");
}

std::unique_ptr<DebugRun> MakeDebugRun(const RunFlags& flags, const std::string& device,
                                       bool profiles) {
  if (!flags.debug_sets && !flags.debug_sync) return nullptr;
  const std::string flag = flags.debug_sets ? "--debug-sets" : "--debug-sync";
  if (ModeOf(flags) == Mode::kEager) {
    throw InputError(flag + " looks at the byte code of graph mode, and eager mode has none",
                     "leave out `--mode eager`");
  }
  if (profiles) {
    throw InputError(flag +
                         " and a profile exclude each other: the times would be those of a "
                         "debugging run",
                     "leave one of them out");
  }
  const bool on_host = KindOfDevice(device).on_host;
  if (flags.debug_sets && !on_host) {
    throw InputError("--debug-sets looks at the memory of the host, and device '" + device +
                         "' has memory of its own",
                     "check the operators on a device of the host: `--device cpu`");
  }
  if (flags.debug_sync && on_host) {
    Tell("note: --debug-sync changes nothing on device '" + device +
         "': there each operator ends before the next one begins");
  }
  return std::make_unique<DebugRun>(flags.debug_sets, flags.debug_sync && !on_host);
}

bool TellDebugRun(const DebugRun* debug) {
  if (debug == nullptr) return true;
  const std::vector<std::string> findings = debug->Findings();
  for (const std::string& line : debug->Summary()) {
    Tell("debug-sets: " + line +
         (findings.empty() ? ": all read and write what they declare" : ""));
  }
  for (const std::string& finding : findings) {
    PrintError("debug-sets: " + finding,
               "the operator's definition or its kernel is wrong: this is no mistake of "
               "the model file");
  }
  return findings.empty();
}

}  // namespace cgrun
