// A run has its folder for itself while it goes on.
#ifndef CGRUN_RUN_RUN_LOCK_H_
#define CGRUN_RUN_RUN_LOCK_H_

#include <string>

namespace cgrun {

// Held by the process, and let go when it ends, however that is; it leaves nothing in the folder.
class RunLock {
 public:
  // Throws InputError where another process has it. File systems that know no locks are taken to
  // have no other process.
  explicit RunLock(const std::string& folder);
  ~RunLock();
  // Throws what the constructor would throw, and takes nothing.
  static void CheckFree(const std::string& folder) { RunLock lock(folder); }
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace cgrun

#endif  // CGRUN_RUN_RUN_LOCK_H_
