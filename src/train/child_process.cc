// fork, a pipe, and waiting.
#include "src/train/child_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

namespace cgrun {
namespace {

bool HasOneThread() {
  std::error_code error;
  const std::filesystem::directory_iterator threads("/proc/self/task", error);
  return !error && std::distance(begin(threads), end(threads)) == 1;
}

bool WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// No destructors and no buffered output: those are the parent's. Nor does it outlive the parent.
[[noreturn]] void Work(pid_t parent, const std::function<std::string()>& work, int file) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
  bool done = false;
  try {
    done = WriteAll(file, work());
  } catch (const std::exception&) {
    // The parent does it again, and has the message.
  }
  _exit(done ? 0 : 1);
}

std::optional<std::string> ReadAll(int file) {
  std::string text;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t size = read(file, part.data(), part.size());
    if (size == 0) return text;
    if (size > 0) text.append(part.data(), static_cast<size_t>(size));
    if (size < 0 && errno != EINTR) return std::nullopt;
  }
}

bool EndsWell(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::optional<std::string> InChild(bool on_host, const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (!on_host || !HasOneThread() || pipe(ends.data()) != 0) return std::nullopt;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) Work(parent, work, ends[1]);
  close(ends[1]);
  std::optional<std::string> text = child > 0 ? ReadAll(ends[0]) : std::nullopt;
  close(ends[0]);
  if (child > 0 && !EndsWell(child)) text.reset();
  return text;
}

}  // namespace cgrun
