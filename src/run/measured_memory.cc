// Reads the peaks of the process and of the device.
#include "src/run/measured_memory.h"

#include "src/base/allocation_counter.h"
#include "src/base/process_memory.h"

namespace cgrun {

void NoteMeasured(const Engine& engine, const Device& device, MemoryUse& memory) {
  const DeviceCounters taken = device.counters();
  const bool on_host = KindOfDevice(engine.model().device).on_host;
  const int64_t apart = on_host ? 0 : taken.bytes - taken.host_bytes;  // no part of this process
  memory.measured = PeakAnonymousBytes() + apart;
  memory.process = MostResidentBytes();
  memory.engine = engine.memory();
}

}  // namespace cgrun
