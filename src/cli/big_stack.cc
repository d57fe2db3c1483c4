// The limit is that of the first thread's stack; the system gives others the same by default.
#include "src/cli/big_stack.h"

#include <pthread.h>
#include <sys/resource.h>

#include <cstddef>

#include "src/cli/command.h"
#include "src/cli/console.h"

namespace cgrun {
namespace {

constexpr size_t kStackBytes = 8 << 20;

struct Call {
  const std::function<int()>& run;
  int status = kFailed;
};

void* Run(void* call) {
  static_cast<Call*>(call)->status = static_cast<Call*>(call)->run();
  return nullptr;
}

bool StacksAreSmall() {
  rlimit limit = {};
  return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < kStackBytes;
}

}  // namespace

int RunOnBigStack(const std::function<int()>& run) {
  if (!StacksAreSmall()) return run();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_setattr_default_np(&attributes);  // OpenMP's threads, and our own
  Call call = {run};
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, Run, &call) == 0;
  pthread_attr_destroy(&attributes);
  if (started) {
    pthread_join(thread, nullptr);
  } else {
    PrintError("cannot have a stack of 8 MiB, and the limit on stacks is too small",
               "raise the limit: `ulimit -s 8192`");
  }
  return call.status;
}

}  // namespace cgrun
