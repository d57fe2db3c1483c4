#include "src/results/mode.h"

namespace cgrun {

std::string_view Name(Mode mode) { return mode == Mode::kGraph ? "graph" : "eager"; }

}  // namespace cgrun
