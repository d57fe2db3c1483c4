// Weighs memory against time. A run takes less memory and more time if more values are recomputed,
// or swapped to a file.
#ifndef CGRUN_COMPILE_FRONTIER_H_
#define CGRUN_COMPILE_FRONTIER_H_

#include <optional>
#include <string>
#include <vector>

#include "src/compile/compile.h"
#include "src/plan/pebble_game.h"

namespace cgrun {

struct FrontierPoint {
  int64_t arena_bytes = 0;
  int64_t lower_bound_bytes = 0;
  double seconds = 0;           // of the first entry point, as it is estimated
  int64_t recomputations = 0;   // operators of it that are recomputed
  int64_t swaps = 0;            // tensors of it that go to the swap file and back …
  int64_t file_bytes = 0;       // … which is so large
  int64_t single_threaded = 0;  // operators of it that work on one thread, in a smaller workspace
  bool usual = false;           // the plan of a compile without a cap
  // Passes that were left out for it: they give up time for memory.
  std::vector<std::string> without = {};
};

struct Frontier {
  std::vector<FrontierPoint> points;  // from the quickest to the smallest
  // The least memory of the first entry point alone, over all orders and recomputations of its
  // operators, which may write in place. One takes the operators one by one, the other takes them
  // as they are fused. Neither covers other fusions, other workspaces, tensors that are joined or
  // cut in place, or gaps between buffers. If a graph is too large, there is no result. Parameters
  // and states come on top.
  std::optional<PebbleFrontier> one_by_one, fused;
  int64_t persistent_bytes = 0;
};

// Plans the entry points under caps that fall evenly to the least arena that is found. After an
// error, which `diagnostics` holds, the result is empty.
std::optional<Frontier> FindFrontier(const ModelSpec& model,
                                     const std::vector<EntryRequest>& entries,
                                     const KernelLibrary& library, const CompileOptions& options,
                                     Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_COMPILE_FRONTIER_H_
