// Places the boxes and lines of a graph's picture. Lanes lie beside one another (forward nodes,
// backward nodes, …). Their boxes stand at the height of the first lane's box that they belong to.
// LayOutGraph() does all of it; it knows nothing of tensors.
#ifndef CGRUN_REPORT_GRAPH_LAYOUT_H_
#define CGRUN_REPORT_GRAPH_LAYOUT_H_

#include <vector>

namespace cgrun {

// Names the lanes, from left to right. The boxes of the first lane flow down, a layer a rank.
// Gradients flow up beside it. The two last lanes have one box a row.
enum class LaneId { kForward, kBackward, kParameterGradient, kUpdate };
inline constexpr int kLanes = 4;

struct LayoutBox {
  LaneId lane = LaneId::kForward;
  int anchor = -1;  // the box of the first lane beside which it stands; −1: follows its producers
  bool late = false;  // without producers: just above its first reader, not at the top
  double width = 0;
  double height = 0;
};

struct LayoutEdge {
  int from = 0;  // indices of boxes
  int to = 0;
};

// Boxes stand in an order in which few edges lead back; those count for nothing in the ranks.
struct LayoutGraph {
  std::vector<LayoutBox> boxes;
  std::vector<LayoutEdge> edges;
};

struct Point {
  double x = 0;
  double y = 0;
};

struct Rectangle {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

// Leads from the border of one box to that of another, outside of all others. Its `points`
// alternate between across and down. If it is `curved`, each point is reached by a curve that
// starts and ends upright.
struct LayoutLine {
  bool curved = false;
  std::vector<Point> points;
};

struct LaneSpan {
  double left = 0;
  double right = 0;  // = left where the lane is empty
};

struct GraphLayout {
  std::vector<Rectangle> boxes;
  std::vector<LayoutLine> lines;  // one an edge
  std::vector<LaneSpan> lanes;
  double width = 0;
  double height = 0;
};

// Layers by longest path, order by barycentres. The same graph gives the same numbers.
GraphLayout LayOutGraph(const LayoutGraph& graph);

// Holds the rows of boxes before they have coordinates. A band is a rank of the first lane with the
// rows that its neighbours need.
struct GraphRows {
  std::vector<int> band;       // of each box
  std::vector<int> row;        // of each box; of the first lane: its band's first row
  std::vector<int> first_row;  // of each band
  std::vector<int> row_count;  // of each band
  int rows = 0;
};

GraphRows RowsOf(const LayoutGraph& graph);

}  // namespace cgrun

#endif  // CGRUN_REPORT_GRAPH_LAYOUT_H_
