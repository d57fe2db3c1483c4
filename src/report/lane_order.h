// One lane of a layered drawing: the order of what lies beside one another, and where it lies.
// PlaceInLane() is the whole of it.
#ifndef CGRUN_REPORT_LANE_ORDER_H_
#define CGRUN_REPORT_LANE_ORDER_H_

#include <utility>
#include <vector>

namespace cgrun {

// A box, or a place where a line passes a layer between boxes.
struct LaneItem {
  int layer = 0;
  double width = 0;  // with the space that it keeps to its neighbours
  bool box = true;
  bool side = false;      // gives way to all others, and pulls nothing that others pull
  bool to_right = false;  // lines leave the lane from it: to the right, where that crosses no more
};

struct Lane {
  std::vector<LaneItem> items;
  std::vector<std::pair<int, int>> links;  // indices of items in layers next to each other
};

// The x of each item's centre. Items of a layer do not overlap; the leftmost edge is at 0. Layers
// are ordered by the barycentres of their neighbours (Sugiyama, Tagawa, Toda, 1981), as long as
// that lessens crossings; then items move as near to their neighbours as the order allows.
std::vector<double> PlaceInLane(const Lane& lane);

// The positions nearest to `wanted` (least squares, by weight) that keep the order and the widths:
// isotonic regression by pooling adjacent violators.
std::vector<double> SpreadApart(const std::vector<double>& wanted,
                                const std::vector<double>& widths,
                                const std::vector<double>& weights);

}  // namespace cgrun

#endif  // CGRUN_REPORT_LANE_ORDER_H_
