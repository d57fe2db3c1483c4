// Draws the picture of a graph as SVG.
#ifndef CGRUN_REPORT_GRAPH_SVG_H_
#define CGRUN_REPORT_GRAPH_SVG_H_

#include <string>

#include "src/report/graph_picture.h"

namespace cgrun {

// A file that stands alone: no script, no font, no network. Boxes have the colours of their
// buffers; what there is to know of boxes and lines shows when the mouse is over them.
std::string GraphSvg(const GraphPicture& picture);

}  // namespace cgrun

#endif  // CGRUN_REPORT_GRAPH_SVG_H_
