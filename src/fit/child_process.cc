// A child is a fork with a socket to its parent, which waits for it.
#include "src/fit/child_process.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/base/written_bytes.h"
#include "src/device/control_group.h"
#include "src/device/host_limits.h"
#include "src/device/no_room.h"

namespace cgrun {
namespace {

// A child ends so whose own child was killed: what a shell reports of a killed process.
constexpr int kKilled = 128 + SIGKILL;

class KilledChild final : public NoRoom {
 public:
  using NoRoom::NoRoom;
};

bool HasOneThread() {
  std::error_code error;
  const std::filesystem::directory_iterator threads("/proc/self/task", error);
  return !error && std::distance(begin(threads), end(threads)) == 1;
}

// No signal where nobody is left to read.
bool WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = send(file, text.data(), text.size(), MSG_NOSIGNAL);
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// Version 1 has a number for no limit, which is more than there is.
bool HasGroupLimit() { return ControlGroupMemory("") < ReadMachineMemory().total; }

// If the memory of the control group runs out, the child is killed, and not its parent, which then
// says so.
void OfferToBeKilled() {
  if (!HasGroupLimit()) return;
  std::ofstream("/proc/self/oom_score_adj") << 1000;
}

// No destructors and no buffered output: those are the parent's. Nor does it outlive the parent.
[[noreturn]] void Work(pid_t parent, const std::function<void(int file)>& work, int file) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
  try {
    OfferToBeKilled();
    work(file);
  } catch (const KilledChild&) {
    _exit(kKilled);
  } catch (const std::exception&) {
    _exit(1);  // the parent does it again, and has the message
  }
  _exit(0);
}

// Up to `end`, or without one all that comes. Returns nothing where it breaks off.
std::optional<std::string> Read(int file, std::optional<char> end) {
  std::string text;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t size = recv(file, part.data(), part.size(), 0);
    if (size == 0) return end ? std::nullopt : std::optional(text);
    if (size > 0) text.append(part.data(), static_cast<size_t>(size));
    if (size < 0 && errno != EINTR) return std::nullopt;
    if (!end || text.empty() || text.back() != *end) continue;
    text.pop_back();
    return text;
  }
}

// A line without its end. Returns nothing where nobody asks any more.
std::optional<std::string> ReadLine(int file) { return Read(file, '\n'); }

// Each question by a child of its own. An empty line says that there is no answer.
void AnswerAll(int file, const AnsweringChild::Answer& answer) {
  while (const auto question = ReadLine(file)) {
    const auto text = InChild(/*on_host=*/true, [&] { return answer(*question); });
    if (!WriteAll(file, text.value_or("") + "\n")) return;
  }
}

// The child was killed while this process planned with it.
[[noreturn]] void RefuseKilled() {
  const int64_t left = ControlGroupMemory("");
  throw KilledChild(
      "the system has ended the process that plans, as it does where memory runs out",
      HasGroupLimit() ? "planning this model takes more than the " + FormatBytes(left) +
                            " that the control group leaves: a larger one is needed"
                      : "other programs may have taken the memory: end some of them, or try again");
}

}  // namespace

ChildProcess::ChildProcess(bool on_host, const std::function<void(int file)>& work) {
  std::array<int, 2> ends{};
  if (!on_host || !HasOneThread()) return;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    close(ends[0]);
    Work(parent, work, ends[1]);
  }
  close(ends[1]);
  file_ = ends[0];
}

ChildProcess::~ChildProcess() {
  if (is_there()) kill(pid_, SIGKILL);
  Wait();
  if (file_ >= 0) close(file_);
}

int ChildProcess::Wait() {
  constexpr int kFailed = 1 << 8;  // exit status 1
  int status = kFailed;
  const pid_t pid = std::exchange(pid_, -1);
  if (pid <= 0) return kFailed;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return kFailed;
  }
  return status;
}

bool ChildProcess::EndsWell() {
  const int status = Wait();
  const bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (is_killed || (WIFEXITED(status) && WEXITSTATUS(status) == kKilled)) RefuseKilled();
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::optional<std::string> InChild(bool on_host, const std::function<std::string()>& work) {
  ChildProcess child(on_host, [&](int file) {
    if (!WriteAll(file, work())) _exit(1);
  });
  if (!child.is_there()) return std::nullopt;
  auto text = Read(child.file(), std::nullopt);
  if (!child.EndsWell()) text.reset();
  return text;
}

AnsweringChild::AnsweringChild(bool on_host, const std::function<Answer()>& prepare)
    : child_(on_host, [&](int file) { AnswerAll(file, prepare()); }) {}

std::optional<std::string> AnsweringChild::Ask(const std::string& question) {
  if (!child_.is_there()) return std::nullopt;
  const bool is_asked = WriteAll(child_.file(), question + "\n");
  auto answer = is_asked ? ReadLine(child_.file()) : std::nullopt;
  if (!answer) child_.EndsWell();  // its end of the socket is closed
  return answer && !answer->empty() ? answer : std::nullopt;
}

}  // namespace cgrun
