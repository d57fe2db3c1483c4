// RunMemory as JSON, for what child processes tell.
#ifndef CGRUN_FIT_RUN_MEMORY_JSON_H_
#define CGRUN_FIT_RUN_MEMORY_JSON_H_

#include <nlohmann/json_fwd.hpp>

#include "src/fit/run_shape.h"

namespace cgrun {

// Called by the library. Reading throws nlohmann::json::exception where a member is missing.
void to_json(nlohmann::json& json, const RunMemory& memory);
void from_json(const nlohmann::json& json, RunMemory& memory);

}  // namespace cgrun

#endif  // CGRUN_FIT_RUN_MEMORY_JSON_H_
