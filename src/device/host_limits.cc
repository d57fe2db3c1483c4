// /proc/meminfo, the control groups, and the limits on addresses.
#include "src/device/host_limits.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "src/base/process_memory.h"
#include "src/device/address_space.h"
#include "src/device/control_group.h"
#include "src/device/device.h"

namespace cgrun {
namespace {

int64_t Sum(int64_t left, int64_t held) {
  return left > HostLimits::kNone - held ? HostLimits::kNone : left + held;
}

int64_t AvailableMemory() {
  const int64_t available = ReadMachineMemory().available;
  return available > 0 ? available : HostLimits::kNone;
}

}  // namespace

MachineMemory ReadMachineMemory() {
  MachineMemory memory;
  std::ifstream file("/proc/meminfo");
  std::string word;
  for (int64_t kib = 0; file >> word;) {
    if (word == "MemTotal:" && file >> kib) memory.total = kib * 1024;
    if (word == "MemAvailable:" && file >> kib) memory.available = kib * 1024;
  }
  return memory;
}

HostLimits ReadHostLimits() {
  const ProcessMemory held = ReadProcessMemory();
  return {Sum(AvailableMemory(), held.anonymous),
          Sum(ControlGroupMemory(""), held.anonymous + held.page_tables),
          Sum(LeastAddressLimit().left, held.address_space)};
}

int64_t FreeHostMemory() {
  return std::min({AvailableMemory(), ControlGroupMemory(""), LeastAddressLimit().left});
}

}  // namespace cgrun
