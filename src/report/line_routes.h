// Lines between lanes: out of a box's side into the gutter beside its lane, along it, and into the
// side of the next lane's box; over the gap above a box where another stands between.
#ifndef CGRUN_REPORT_LINE_ROUTES_H_
#define CGRUN_REPORT_LINE_ROUTES_H_

#include <vector>

#include "src/report/graph_layout.h"

namespace cgrun {

inline constexpr double kRowGap = 30;  // between rows: room for the lines that go across

// A box as a line sees it. x counts from its lane's left edge.
struct RouteEnd {
  LaneId lane = LaneId::kForward;
  Rectangle box;
  double gap_above = 0;  // y at which nothing stands in its lane, above and below it
  double gap_below = 0;
  bool blocked_left = false;  // by another box of its layer
  bool blocked_right = false;
};

struct RouteRequest {
  int edge = 0;
  int from = 0;  // indices of ends
  int to = 0;
};

struct Routes {
  std::vector<std::vector<Point>> lines;  // one a request
  std::vector<double> lane_x;             // left edges of the lanes, with gutters between
  double width = 0;
};

// `lanes` are as wide as their boxes; empty ones take no room. All lines of a box share a track.
Routes RouteLines(const std::vector<RouteRequest>& requests, const std::vector<RouteEnd>& ends,
                  const std::vector<LaneSpan>& lanes);

}  // namespace cgrun

#endif  // CGRUN_REPORT_LINE_ROUTES_H_
