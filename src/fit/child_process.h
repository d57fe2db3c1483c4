// Runs work in a child process. Its threads, caches of libraries, heap with holes and growing
// workspaces end with the child. Each piece of work finds the process as it is now. So the
// measurements of a plan do not depend on the plans before it.
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
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  bool is_there() const { return pid_ > 0; }
  int file() const { return file_; }  // this process's end of the socket
  // Waits for the end. Throws NoRoom if the system has killed it, as it does where memory runs out:
  // whoever did the same work would be killed, too.
  bool EndsWell();

 private:
  int Wait();  // for the end; returns the status of waitpid()

  pid_t pid_ = -1;
  int file_ = -1;
};

// Runs `work` in a child and waits for its text. If it throws or dies, or if there can be no child,
// the result is empty. Throws NoRoom as ChildProcess does.
std::optional<std::string> InChild(bool on_host, const std::function<std::string()>& work);

// A child that prepares once what many answers need. A child of it gives each answer, and finds all
// as it was prepared.
class AnsweringChild {
 public:
  using Answer = std::function<std::string(const std::string& question)>;

  // `prepare` runs in the child. Neither questions nor answers have line ends.
  AnsweringChild(bool on_host, const std::function<Answer()>& prepare);

  // Waits for the answer. If it throws or dies, or if there can be no child, the result is empty.
  // Throws NoRoom as ChildProcess does.
  std::optional<std::string> Ask(const std::string& question);

 private:
  ChildProcess child_;
};

}  // namespace cgrun

#endif  // CGRUN_FIT_CHILD_PROCESS_H_
