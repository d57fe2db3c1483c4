// The limits on memory and processors that Linux's control groups set.
#ifndef CGRUN_DEVICE_CONTROL_GROUP_H_
#define CGRUN_DEVICE_CONTROL_GROUP_H_

#include <cstdint>
#include <string>

namespace cgrun {

// Returns the bytes of memory that this process can still take by the limits of control groups, of
// versions 1 and 2. Its own group and all groups above it count, and the least of what they leave
// is the result. If none of them has a limit, the result is the largest number. Memory that only
// caches files counts as left. Files are read below `root`. If it is "", they are those of the
// system itself.
int64_t ControlGroupMemory(const std::string& root);

// Returns the processors' worth of time that the process may take by the quotas of its control
// group and of all groups above it, of versions 1 and 2. For example, 150 ms in each 100 ms is 1.5.
// If there is no quota, the result is infinity. Files are read below `root`, as above.
double ControlGroupProcessors(const std::string& root);

}  // namespace cgrun

#endif  // CGRUN_DEVICE_CONTROL_GROUP_H_
