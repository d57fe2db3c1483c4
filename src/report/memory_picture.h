// The memory of one entry point as a picture: time across, addresses up, a rectangle a buffer.
#ifndef CGRUN_REPORT_MEMORY_PICTURE_H_
#define CGRUN_REPORT_MEMORY_PICTURE_H_

#include <string>

#include "src/plan/memory_layout.h"

namespace cgrun {

// Returns an <svg> element. The persistent region lies at the bottom, and the transient buffers of
// entry point `entry` lie above it, coloured by zone. The name, bytes, steps and source line of
// each show when the mouse is over it.
std::string MemoryPictureSvg(const MemoryLayout& layout, int entry);

}  // namespace cgrun

#endif  // CGRUN_REPORT_MEMORY_PICTURE_H_
