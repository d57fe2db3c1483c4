// Limits the host's memory that the data of a model may take.
#ifndef CGRUN_MODEL_DATA_DATA_ROOM_H_
#define CGRUN_MODEL_DATA_DATA_ROOM_H_

#include <cstdint>

#include "src/data/options.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Returns the cap on the bytes that training takes of the host's memory, or 0 if there is none.
int64_t CapOnHost(const ModelSpec& model);

// Returns the memory that is left under `cap` (bytes; 0: none) beside sets that have `taken` so
// many bytes. Small sets are read even if the cap is smaller: an error about the whole run says
// more than one about its data.
MemoryLeft LeftUnder(const ModelSpec& model, int64_t cap, int64_t taken);

// Returns the most bytes of samples that may stay in memory; the rest streams. Without a cap, half
// of the free memory and addresses is left to the rest of the run.
int64_t MostInMemory(const ModelSpec& model, int64_t cap, int64_t taken);

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_DATA_ROOM_H_
