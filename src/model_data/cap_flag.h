// The name of the flag that has set a cap on memory, for messages.
#ifndef CGRUN_MODEL_DATA_CAP_FLAG_H_
#define CGRUN_MODEL_DATA_CAP_FLAG_H_

#include <string>

#include "src/model/model_spec.h"

namespace cgrun {

inline constexpr char kHostCapFlag[] = "--host-memory";

// Returns "--host-memory" if the user gave the cap of training by that flag, else "--memory".
std::string CapFlagOf(const ModelSpec& model);

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_CAP_FLAG_H_
