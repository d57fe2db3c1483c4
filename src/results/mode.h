// Mode: how a model runs.
#ifndef CGRUN_RESULTS_MODE_H_
#define CGRUN_RESULTS_MODE_H_

#include <cstdint>
#include <string_view>

namespace cgrun {

enum class Mode : uint8_t { kGraph, kEager };

std::string_view Name(Mode mode);  // "graph"

}  // namespace cgrun

#endif  // CGRUN_RESULTS_MODE_H_
