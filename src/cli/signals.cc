// Signal handlers. They call what signal-safety(7) lists, and nothing else.
#include "src/cli/signals.h"

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "src/cli/command.h"

namespace cgrun {
namespace {

constexpr unsigned kSecondsForStep = 2;      // after a signal, for the step to end
constexpr unsigned kSecondsForOperator = 3;  // after these, for the operator to end
constexpr unsigned kSecondsForSaving = 1;    // between two looks whether it is saving still

volatile std::sig_atomic_t interrupted = 0;
volatile std::sig_atomic_t step_is_long = 0;
volatile std::sig_atomic_t checkpoint_wanted = 0;
std::atomic<bool> saving = false;
std::atomic<int64_t> saved_step = -1;
std::atomic<pid_t> child = 0;  // 0: none
std::atomic<const char*> file_of_child = nullptr;
// Set before the handlers that read it. Never freed: a signal may come at any time.
const std::string* resume_command = nullptr;

void Write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

void Exit(int) {
  if (child > 0) kill(child, SIGKILL);
  if (file_of_child != nullptr) unlink(file_of_child);
  _exit(kInterrupted);
}

bool HasToTell() {
  return saved_step >= 0 && resume_command != nullptr && !resume_command->empty();
}

void ExitFromRun() {
  if (HasToTell()) Write("\n");  // after a line of progress
  TellLostStep();
  _exit(kInterrupted);
}

void StopOrExit(int) {
  if (interrupted != 0) ExitFromRun();
  interrupted = 1;
  alarm(kSecondsForStep);
}

// Whoever read the output has gone, which comes again with each line.
void StopOnce(int) {
  if (interrupted != 0) return;
  interrupted = 1;
  alarm(kSecondsForStep);
}

void EndLongStep(int) {
  if (saving) {
    alarm(kSecondsForSaving);
  } else if (step_is_long == 0) {
    step_is_long = 1;
    alarm(kSecondsForOperator);
  } else {
    ExitFromRun();
  }
}

void WantCheckpoint(int) { checkpoint_wanted = 1; }

// A SIGHUP that is ignored stays so: `nohup` asks for that. A SIGINT does not: a shell without job
// control ignores it for all that it runs in the background, where `kill -INT` is still to work.
void Install(void (*handler)(int), std::initializer_list<int> signals) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (int signal : signals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (signal != SIGHUP || before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

}  // namespace

void ExitOnInterrupts() {
  // Past a limit on the size of files (`ulimit -f`) a write fails then, which is told.
  std::signal(SIGXFSZ, SIG_IGN);
  Install(Exit, {SIGINT, SIGTERM, SIGHUP});
  Install(WantCheckpoint, {SIGUSR1});
}

RunSignals WatchSignals(const std::string& resume) {
  resume_command = new std::string(resume);
  Install(EndLongStep, {SIGALRM});
  Install(StopOrExit, {SIGINT, SIGTERM, SIGHUP});
  Install(StopOnce, {SIGPIPE});
  return {&interrupted, &step_is_long, &checkpoint_wanted, &saving, &saved_step};
}

EndsWithProgram::EndsWithProgram(pid_t process, const std::string& file) {
  file_of_child = file.c_str();
  child = process;
}

EndsWithProgram::~EndsWithProgram() {
  child = 0;
  file_of_child = nullptr;
}

void TellLostStep() {
  if (!HasToTell()) return;
  char digits[24];
  const char* const end = std::to_chars(digits, digits + sizeof(digits), saved_step.load()).ptr;
  Write("interrupted within a step; the last checkpoint is that of step ");
  Write({digits, static_cast<size_t>(end - digits)});
  Write("; go on with: ");
  Write(*resume_command);
  Write("\n");
}

void RunHasEnded() {
  alarm(0);
  Install(Exit, {SIGINT, SIGTERM, SIGHUP});
  std::signal(SIGPIPE, SIG_IGN);  // output that files still lack is not lost
}

}  // namespace cgrun
