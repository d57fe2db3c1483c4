// Colours for buffers: those of a zone are of one family, and neighbours in a picture differ.
#ifndef CGRUN_REPORT_BUFFER_COLORS_H_
#define CGRUN_REPORT_BUFFER_COLORS_H_

#include <string>

#include "src/ir/graph.h"

namespace cgrun {

struct BufferColor {
  std::string fill;  // "#dbeafe": light enough for dark text
  std::string line;  // the same hue, strong enough on white
};

// The colour of a zone's `index`-th buffer, as the picture meets them. After kZoneColors of them
// they come again: pictures number their buffers.
BufferColor ColorOfBuffer(Zone zone, int index);
inline constexpr int kZoneColors = 14;

}  // namespace cgrun

#endif  // CGRUN_REPORT_BUFFER_COLORS_H_
