// Engines that predict or generate, and the memory that this is planned to take.
#ifndef CGRUN_FIT_PREDICT_MEMORY_H_
#define CGRUN_FIT_PREDICT_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "src/compile/compile.h"
#include "src/fit/run_limit.h"
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

// This is added by the user of such an engine.
struct PredictNeeds {
  int64_t host_bytes = 0;  // beside the copies of feeds and results: for files, for what it writes
  WaysOut ways;            // of a refusal
};

// An engine with one entry point. Errors of the model go to `diagnostics`. Throws NoRoom, before
// the arena is taken, if the limits of this process leave too little.
PredictEngine BuildPredictEngine(const ModelSpec& model, int64_t batch, Mode mode,
                                 const CompileOptions& options, EnginePlace place,
                                 const PredictNeeds& needs, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_FIT_PREDICT_MEMORY_H_
