// The memory of one entry point as a picture: time across, addresses up, a rectangle a buffer.
#ifndef CGRUN_REPORT_MEMORY_PICTURE_H_
#define CGRUN_REPORT_MEMORY_PICTURE_H_

#include <string>

#include "src/plan/memory_layout.h"

namespace cgrun {

// An <svg> element: the persistent region at the bottom, the transient buffers of entry point
// `entry` above it, coloured by zone; name, bytes, steps and source line of each to hover over.
std::string MemoryPictureSvg(const MemoryLayout& layout, int entry);

}  // namespace cgrun

#endif  // CGRUN_REPORT_MEMORY_PICTURE_H_
