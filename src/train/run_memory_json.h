// RunMemory as JSON, for what child processes tell.
#ifndef CGRUN_TRAIN_RUN_MEMORY_JSON_H_
#define CGRUN_TRAIN_RUN_MEMORY_JSON_H_

#include <nlohmann/json.hpp>

#include "src/train/run_shape.h"

namespace cgrun {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunMemory, arena, data, base, on_host)

}  // namespace cgrun

#endif  // CGRUN_TRAIN_RUN_MEMORY_JSON_H_
