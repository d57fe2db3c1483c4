// An advisory lock on the folder itself.
#include "src/train/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "src/base/diagnostics.h"

namespace cgrun {

RunLock::RunLock(const std::string& folder)
    : fd_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (fd_ < 0 || flock(fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(fd_);
  throw InputError("the run in '" + folder + "' is still going on, in another process",
                   "wait for it, or end it; --out DIR takes another folder");
}

RunLock::~RunLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace cgrun
