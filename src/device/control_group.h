// The limits on memory and processors that Linux's control groups set.
#ifndef CGRUN_DEVICE_CONTROL_GROUP_H_
#define CGRUN_DEVICE_CONTROL_GROUP_H_

#include <cstdint>
#include <string>

namespace cgrun {

// Bytes of memory that this process can still take by the limits of its control group and of all
// groups above it, of versions 1 and 2: the least of what they leave; the largest number where
// none of them has a limit. What is only cached of files counts as left. Files are read below
// `root`: "" is the system itself.
int64_t ControlGroupMemory(const std::string& root);

// Processors' worth of time that the process may take by the quotas of its control group and of all
// groups above it, of versions 1 and 2: 1.5 for 150 ms in each 100 ms. Infinity: there is no quota.
// Files are read below `root`, as above.
double ControlGroupProcessors(const std::string& root);

}  // namespace cgrun

#endif  // CGRUN_DEVICE_CONTROL_GROUP_H_
