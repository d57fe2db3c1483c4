// Engines that predict or generate, and the memory that this is planned to take.
#ifndef CGRUN_FIT_PREDICT_MEMORY_H_
#define CGRUN_FIT_PREDICT_MEMORY_H_

#include <cstdint>
#include <memory>

#include "src/compile/compile.h"
#include "src/results/memory_use.h"
#include "src/run/engine.h"

namespace cgrun {

// The host's memory for the feeds of an entry point, and for its results, in bytes: a copy of each.
int64_t FeedBytes(const ImageEntry& entry);
int64_t ResultBytes(const ImageEntry& entry);

struct PredictEngine {
  std::unique_ptr<Engine> engine;  // null after an error
  MemoryUse memory;
};

// An engine with one entry point. `host_bytes` are those that its user takes beside the copies of
// feeds and results: for files, and for what it writes. Errors of the model go to `diagnostics`.
PredictEngine BuildPredictEngine(const ModelSpec& model, int64_t batch, Mode mode,
                                 const CompileOptions& options, const EnginePlace& place,
                                 int64_t host_bytes, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_FIT_PREDICT_MEMORY_H_
