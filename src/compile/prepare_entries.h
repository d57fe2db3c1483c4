// The part of a compile before anything is planned: graphs with kernels and an order.
#ifndef CGRUN_COMPILE_PREPARE_ENTRIES_H_
#define CGRUN_COMPILE_PREPARE_ENTRIES_H_

#include <optional>
#include <vector>

#include "src/compile/compile.h"

namespace cgrun {

// All entry points with their passes, and what those did to the first one; no layout and no image
// yet. Returns nothing after an error, which `diagnostics` holds.
std::optional<CompiledModel> PrepareEntries(const ModelSpec& model,
                                            const std::vector<EntryRequest>& entries,
                                            const Target& target, const CompileOptions& options,
                                            Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_COMPILE_PREPARE_ENTRIES_H_
