// Passes that leave a model's program as it is: `bench --passes` has nothing to time there.
#ifndef CGRUN_BENCH_IDLE_PASSES_H_
#define CGRUN_BENCH_IDLE_PASSES_H_

#include <string>
#include <vector>

#include "src/compile/compile.h"

namespace cgrun {

// The passes without which the program of `entry` is the same, byte for byte, in the pipeline's
// order. Passes that `options` disable are among them. Compiles the model once, and once without
// each pass that is not known to do nothing. The result is empty where the model does not compile.
std::vector<std::string> FindIdlePasses(const ModelSpec& model, const EntryRequest& entry,
                                        const KernelLibrary& library,
                                        const CompileOptions& options);

}  // namespace cgrun

#endif  // CGRUN_BENCH_IDLE_PASSES_H_
