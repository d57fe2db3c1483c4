// NoteMeasured() reads the peaks of a process and of its device.
#ifndef CGRUN_RUN_MEASURED_MEMORY_H_
#define CGRUN_RUN_MEASURED_MEMORY_H_

#include "src/device/device.h"
#include "src/results/memory_use.h"
#include "src/run/engine.h"

namespace cgrun {

// Notes what was measured until now, with an engine on `device`.
void NoteMeasured(const Engine& engine, const Device& device, MemoryUse& memory);

}  // namespace cgrun

#endif  // CGRUN_RUN_MEASURED_MEMORY_H_
