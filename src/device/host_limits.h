// Finds how much memory this process may take. The limits are the machine's free memory, the
// control groups, and the address space.
#ifndef CGRUN_DEVICE_HOST_LIMITS_H_
#define CGRUN_DEVICE_HOST_LIMITS_H_

#include <cstdint>
#include <limits>

namespace cgrun {

// Bytes of /proc/meminfo; 0 where the system does not tell.
struct MachineMemory {
  int64_t total = 0;
  int64_t available = 0;
};
MachineMemory ReadMachineMemory();

// Bytes, each with what the process holds already; the largest number where there is no limit.
struct HostLimits {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

  int64_t machine = kNone;  // anonymous memory that the machine has free
  int64_t group = kNone;    // all memory of the control group, with code and the kernel's share
  int64_t address_space = kNone;  // `ulimit -v`
};
HostLimits ReadHostLimits();

}  // namespace cgrun

#endif  // CGRUN_DEVICE_HOST_LIMITS_H_
