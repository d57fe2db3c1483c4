// The lock is an advisory lock on the folder itself.
#include "src/run/run_lock.h"

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
  throw InputError("the folder '" + folder + "' is in use: another process goes on with its run",
                   "wait until it ends, or end it; a new run takes another folder with --out DIR");
}

RunLock::~RunLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace cgrun
