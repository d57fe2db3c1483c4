// Stacks that are large enough under any `ulimit -s`.
#ifndef CGRUN_CLI_BIG_STACK_H_
#define CGRUN_CLI_BIG_STACK_H_

#include <functional>

namespace cgrun {

// Returns what `run` returns. If the limit on stacks is below 8 MiB, `run` has a thread of its own
// with a stack of that size, and so has every thread that is started later.
int RunOnBigStack(const std::function<int()>& run);

}  // namespace cgrun

#endif  // CGRUN_CLI_BIG_STACK_H_
