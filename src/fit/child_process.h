// Work in a child process: what it leaves behind there (threads, caches of libraries, a heap with
// holes, workspaces that only grow) is not left here, and each piece of work finds the process as
// it is now. So what a plan measures does not depend on the plans before it.
#ifndef CGRUN_FIT_CHILD_PROCESS_H_
#define CGRUN_FIT_CHILD_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

namespace cgrun {

// A copy of this process that works beside it. There is none beside other threads, which are not
// copied, nor with the driver of an accelerator (`on_host` is false), which does not work in one.
class ChildProcess {
 public:
  // `work` is given the child's end of a socket, and ends the child.
  ChildProcess(bool on_host, const std::function<void(int file)>& work);
  ~ChildProcess();  // kills it, where it has not ended
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ChildProcess& operator=(ChildProcess&&) = delete;

  bool is_there() const { return pid_ > 0; }
  int file() const { return file_; }  // this process's end of the socket
  bool HasEnded();                    // by itself; waits for nothing
  bool EndsWell();                    // waits for the end

 private:
  pid_t pid_ = -1;
  int file_ = -1;
};

// Runs `work` in a child, beside what is done here, until its text is asked for.
class TextOfChild {
 public:
  TextOfChild(bool on_host, const std::function<std::string()>& work);
  // Returns the text of `work`. If it throws or dies, or if there can be no child, the result is
  // empty.
  std::optional<std::string> Wait();

 private:
  ChildProcess child_;
};

// Runs `work` in a child and waits for its text at once.
std::optional<std::string> InChild(bool on_host, const std::function<std::string()>& work);

// An answer that a child is at work on.
class PendingAnswer {
 public:
  // `file`: the socket that it comes by, which is closed in the end; -1 where none comes.
  explicit PendingAnswer(int file) : file_(file) {}
  ~PendingAnswer();
  PendingAnswer(PendingAnswer&& other) noexcept;
  PendingAnswer(const PendingAnswer&) = delete;
  PendingAnswer& operator=(const PendingAnswer&) = delete;
  PendingAnswer& operator=(PendingAnswer&&) = delete;

  // Whether one may come.
  bool is_there() const { return file_ >= 0; }
  // Nothing where it throws or dies, and where there can be no child.
  std::optional<std::string> Wait();

 private:
  int file_;
};

// A child that prepares once what many answers need: each is given by a child of it, which finds
// all as it was prepared. Answers that are waited for later are worked on side by side; what is
// still worked on is stopped soon after the object is gone.
class AnsweringChild {
 public:
  using Answer = std::function<std::string(const std::string& question)>;

  // `prepare` runs in the child. Neither questions nor answers have line ends.
  AnsweringChild(bool on_host, const std::function<Answer()>& prepare);

  bool is_there() const { return child_.is_there(); }
  PendingAnswer Begin(const std::string& question);
  // The same, and waits.
  std::optional<std::string> Ask(const std::string& question);

 private:
  ChildProcess child_;
};

}  // namespace cgrun

#endif  // CGRUN_FIT_CHILD_PROCESS_H_
