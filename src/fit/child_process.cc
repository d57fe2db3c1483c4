// A child is a fork with a socket to its parent, which waits for it.
#include "src/fit/child_process.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iterator>
#include <list>
#include <string_view>
#include <system_error>
#include <utility>

namespace cgrun {
namespace {

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

// No destructors and no buffered output: those are the parent's. Nor does it outlive the parent.
[[noreturn]] void Work(pid_t parent, const std::function<void(int file)>& work, int file) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
  try {
    work(file);
  } catch (const std::exception&) {
    _exit(1);  // the parent does it again, and has the message
  }
  _exit(0);
}

// Up to `end`, or without one all that comes. Nothing where it breaks off.
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

// Bytes that go with a file, or have room for one that comes with them.
struct WithFile {
  WithFile(char* bytes, size_t size) : part{bytes, size} {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  WithFile(const WithFile&) = delete;
  WithFile& operator=(const WithFile&) = delete;

  iovec part;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
};

// A line, with the end of a socket that is for its answer.
bool SendQuestion(int file, const std::string& question, int answer_end) {
  std::string line = question + "\n";
  WithFile sends(line.data(), line.size());
  cmsghdr* header = CMSG_FIRSTHDR(&sends.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &answer_end, sizeof(int));
  ssize_t sent = -1;
  do sent = sendmsg(file, &sends.message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent > 0 && WriteAll(file, std::string_view(line).substr(static_cast<size_t>(sent)));
}

struct Question {
  std::string text;
  int answer_end = -1;
};

// No read goes beyond a message that comes with a file. Nothing where nobody asks any more.
std::optional<Question> ReadQuestion(int file) {
  Question question;
  std::array<char, 4096> bytes{};
  while (!question.text.ends_with('\n')) {
    WithFile comes(bytes.data(), bytes.size());
    const ssize_t size = recvmsg(file, &comes.message, MSG_CMSG_CLOEXEC);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return std::nullopt;
    question.text.append(bytes.data(), static_cast<size_t>(size));
    const cmsghdr* header = CMSG_FIRSTHDR(&comes.message);
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {  // none where files ran out
      std::memcpy(&question.answer_end, CMSG_DATA(header), sizeof(int));
    }
  }
  question.text.pop_back();
  return question;
}

// Each by a child, whose end is that of its answer.
void AnswerAll(int file, const AnsweringChild::Answer& answer) {
  std::list<ChildProcess> children;
  while (const auto question = ReadQuestion(file)) {
    children.remove_if([](ChildProcess& child) { return child.HasEnded(); });
    if (question->answer_end < 0) continue;
    children.emplace_back(/*on_host=*/true, [&](int) {
      if (!WriteAll(question->answer_end, answer(question->text) + "\n")) _exit(1);
    });
    close(question->answer_end);
  }
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

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), file_(std::exchange(other.file_, -1)) {}

ChildProcess::~ChildProcess() {
  if (is_there()) kill(pid_, SIGKILL);
  EndsWell();
  if (file_ >= 0) close(file_);
}

bool ChildProcess::HasEnded() {
  if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) > 0) pid_ = -1;
  return pid_ <= 0;
}

bool ChildProcess::EndsWell() {
  int status = 0;
  const pid_t pid = std::exchange(pid_, -1);
  if (pid <= 0) return false;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TextOfChild::TextOfChild(bool on_host, const std::function<std::string()>& work)
    : child_(on_host, [&](int file) {
        if (!WriteAll(file, work())) _exit(1);
      }) {}

std::optional<std::string> TextOfChild::Wait() {
  if (!child_.is_there()) return std::nullopt;
  auto text = Read(child_.file(), std::nullopt);
  if (!child_.EndsWell()) text.reset();
  return text;
}

std::optional<std::string> InChild(bool on_host, const std::function<std::string()>& work) {
  return TextOfChild(on_host, work).Wait();
}

AnsweringChild::AnsweringChild(bool on_host, const std::function<Answer()>& prepare)
    : child_(on_host, [&](int file) { AnswerAll(file, prepare()); }) {}

PendingAnswer::PendingAnswer(PendingAnswer&& other) noexcept
    : file_(std::exchange(other.file_, -1)) {}

PendingAnswer::~PendingAnswer() {
  if (file_ >= 0) close(file_);
}

std::optional<std::string> PendingAnswer::Wait() {
  if (file_ < 0) return std::nullopt;
  auto answer = Read(file_, '\n');
  return answer && !answer->empty() ? answer : std::nullopt;
}

PendingAnswer AnsweringChild::Begin(const std::string& question) {
  std::array<int, 2> ends{};
  if (!child_.is_there()) return PendingAnswer(-1);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return PendingAnswer(-1);
  }
  PendingAnswer answer(ends[0]);
  const bool is_sent = SendQuestion(child_.file(), question, ends[1]);
  close(ends[1]);
  return is_sent ? std::move(answer) : PendingAnswer(-1);
}

std::optional<std::string> AnsweringChild::Ask(const std::string& question) {
  return Begin(question).Wait();
}

}  // namespace cgrun
