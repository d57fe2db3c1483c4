// Work in a child process: what it leaves behind there (threads, caches of libraries, a heap with
// holes, workspaces that only grow) is not left here, and each piece of work finds the process as
// it is now. So what a plan measures does not depend on the plans before it.
#ifndef CGRUN_TRAIN_CHILD_PROCESS_H_
#define CGRUN_TRAIN_CHILD_PROCESS_H_

#include <functional>
#include <optional>
#include <string>

namespace cgrun {

// Runs `work` in a copy of this process, which ends with it; the result is the text that it
// returns. Nothing where it throws or dies, and where there can be no copy: threads are not copied,
// so this one must have no others, and the driver of an accelerator (`on_host` is false) does not
// work in one.
std::optional<std::string> InChild(bool on_host, const std::function<std::string()>& work);

}  // namespace cgrun

#endif  // CGRUN_TRAIN_CHILD_PROCESS_H_
