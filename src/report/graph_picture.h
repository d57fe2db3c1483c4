// Describes the picture of a planned graph without coordinates: its boxes, edges and buffers.
// PictureOf() makes it; graph_svg.h and graph_dot.h draw it.
#ifndef CGRUN_REPORT_GRAPH_PICTURE_H_
#define CGRUN_REPORT_GRAPH_PICTURE_H_

#include <string>
#include <vector>

#include "src/plan/memory_layout.h"
#include "src/report/buffer_colors.h"
#include "src/report/graph_layout.h"

namespace cgrun {

// Shows a node, a block of folded nodes, or a placeholder.
struct PictureBox {
  std::string name;           // without its path where there is one path
  std::string what;           // "conv + relu", "11 ops: 4 conv, …"
  std::string shape;          // of its last output: "16×20×24×24"
  std::string hover;          // lines
  int64_t bytes = 0;          // of its outputs; what shares a buffer counts once
  int64_t besides_bytes = 0;  // of them, in other outputs than the last one, whose shape is shown …
  std::string besides = {};  // … and what they are: "index", "2 more"; of one node
  LaneId lane = LaneId::kForward;
  int anchor = -1;          // the forward box that it belongs to
  int buffer = -1;          // in which its last output lies; −1: in none
  int nodes = 1;            // 0: a placeholder
  bool source = false;      // reads nothing that the picture shows
  bool view = false;        // no work: the bytes of its input under another shape
  std::vector<int> states;  // buffers of the parameters and statistics that a forward node reads
};

struct PictureEdge {
  int from = 0;  // indices of boxes
  int to = 0;
  int buffer = -1;        // of the (largest) value that it carries
  bool in_place = false;  // the reader writes its result over it
  std::string hover = {};
};

struct PictureBuffer {
  int number = 0;  // from 1, in the order in which boxes show them
  std::string name;
  Zone zone = Zone::kForward;
  int64_t offset = 0;
  int64_t bytes = 0;
  bool persistent = false;
  BufferColor color;
};

struct GraphPicture {
  std::string title;
  std::vector<std::string> notes;  // lines under the title
  std::vector<ZoneUse> zones;
  std::vector<PictureBox> boxes;
  std::vector<PictureEdge> edges;
  std::vector<PictureBuffer> buffers;
  int nodes = 0;
  bool folded = false;
  bool learns = false;
};

struct PictureOptions {
  bool full = false;  // fold nothing
  std::string title = {};
  std::vector<std::string> notes = {};
};

// More nodes than this are folded into blocks.
inline constexpr size_t kMostNodes = 150;

// The picture of entry point `entry` of `layout`, which was planned from `graph`.
GraphPicture PictureOf(const Graph& graph, const MemoryLayout& layout, int entry,
                       const PictureOptions& options);

// "180 KiB + index 45.0 KiB"
std::string BytesText(const PictureBox& box);

// Returns the part of the picture that the layout needs, for boxes of this size.
LayoutGraph LayoutGraphOf(const GraphPicture& picture, double width, double height,
                          double placeholder_height);

}  // namespace cgrun

#endif  // CGRUN_REPORT_GRAPH_PICTURE_H_
