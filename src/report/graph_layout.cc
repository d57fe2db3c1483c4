// Coordinates: each lane is placed alone, then the lines between lanes take tracks in the gutters.
#include "src/report/graph_layout.h"

#include <algorithm>
#include <map>

#include "src/report/lane_order.h"
#include "src/report/line_routes.h"

namespace cgrun {
namespace {

constexpr double kColumnGap = 18;  // between boxes side by side
constexpr double kLineWidth = 14;  // free space around a line between boxes
constexpr double kPort = 16;       // between lines that end at one side of a box

class LayoutMaker {
 public:
  explicit LayoutMaker(const LayoutGraph& graph)
      : graph_(graph), rows_(RowsOf(graph)), lanes_(kLanes), item_(graph.boxes.size()) {
    for (const LayoutBox& box : graph.boxes) row_height_ = std::max(row_height_, box.height);
    layout_.boxes.resize(graph.boxes.size());
    layout_.lines.resize(graph.edges.size());
    layout_.lanes.resize(kLanes);
  }

  GraphLayout Draw() {
    for (size_t i = 0; i < graph_.boxes.size(); ++i) AddBox(i);
    for (const LayoutEdge& edge : graph_.edges) {
      if (InLane(edge)) AddPassages(edge);
      if (LaneOf(edge.from) >= LaneOf(edge.to)) continue;
      lanes_[Index(static_cast<int>(LaneOf(edge.from)))]
          .items[Index(item_[Index(edge.from)])]
          .to_right = true;
    }
    for (const Lane& lane : lanes_) x_.push_back(PlaceInLane(lane));
    PlaceBoxes();
    RouteBetweenLanes();
    DrawInLanes();
    return layout_;
  }

 private:
  static size_t Index(int i) { return static_cast<size_t>(i); }
  LaneId LaneOf(int box) const { return graph_.boxes[Index(box)].lane; }
  int LayerOf(int box) const {
    const auto& of = LaneOf(box) == LaneId::kForward ? rows_.band : rows_.row;
    return of[Index(box)];
  }
  bool InLane(const LayoutEdge& edge) const {
    return LaneOf(edge.from) == LaneOf(edge.to) && LayerOf(edge.from) != LayerOf(edge.to);
  }

  void AddBox(size_t box) {
    Lane& lane = lanes_[Index(static_cast<int>(graph_.boxes[box].lane))];
    item_[box] = static_cast<int>(lane.items.size());
    lane.items.push_back({LayerOf(static_cast<int>(box)), graph_.boxes[box].width + kColumnGap,
                          true, graph_.boxes[box].late, false});
  }

  // All lines from a box share their way.
  void AddPassages(const LayoutEdge& edge) {
    Lane& lane = lanes_[Index(static_cast<int>(LaneOf(edge.from)))];
    const int end = LayerOf(edge.to);
    const int step = end > LayerOf(edge.from) ? 1 : -1;
    int at = item_[Index(edge.from)];
    for (int layer = LayerOf(edge.from) + step; layer != end; layer += step) {
      const auto [passage, fresh] =
          passages_.try_emplace({edge.from, layer}, static_cast<int>(lane.items.size()));
      if (fresh) {
        lane.items.push_back({layer, kLineWidth, false, false, false});
        lane.links.emplace_back(at, passage->second);
      }
      at = passage->second;
    }
    lane.links.emplace_back(at, item_[Index(edge.to)]);
  }

  double RowTop(int row) const { return kRowGap + row * (row_height_ + kRowGap); }
  // Returns the top and the bottom of the rows of a layer.
  std::pair<double, double> LayerSpan(LaneId lane, int layer) const {
    if (lane != LaneId::kForward) return {RowTop(layer), RowTop(layer) + row_height_};
    const int first = rows_.first_row[Index(layer)];
    return {RowTop(first), RowTop(first + rows_.row_count[Index(layer)] - 1) + row_height_};
  }

  // x as in its lane alone; the lane is moved once the gutters are known.
  void PlaceBoxes() {
    for (size_t i = 0; i < graph_.boxes.size(); ++i) {
      const LayoutBox& box = graph_.boxes[i];
      const auto [top, bottom] = LayerSpan(box.lane, LayerOf(static_cast<int>(i)));
      const double middle = x_[Index(static_cast<int>(box.lane))][Index(item_[i])];
      layout_.boxes[i] = {middle - box.width / 2, (top + bottom - box.height) / 2, box.width,
                          box.height};
    }
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const Lane& of = lanes_[lane];
      for (size_t i = 0; i < of.items.size(); ++i) {
        layout_.lanes[lane].right =
            std::max(layout_.lanes[lane].right, x_[lane][i] + of.items[i].width / 2);
      }
    }
  }

  void RouteBetweenLanes() {
    std::vector<RouteRequest> requests;
    for (size_t e = 0; e < graph_.edges.size(); ++e) {
      const LayoutEdge& edge = graph_.edges[e];
      if (!InLane(edge)) requests.push_back({static_cast<int>(e), edge.from, edge.to});
    }
    std::vector<RouteEnd> ends;
    for (size_t i = 0; i < graph_.boxes.size(); ++i) ends.push_back(EndOf(static_cast<int>(i)));
    const Routes routes = RouteLines(requests, ends, layout_.lanes);
    lane_x_ = routes.lane_x;
    for (size_t i = 0; i < requests.size(); ++i) {
      layout_.lines[Index(requests[i].edge)] = {false, routes.lines[i]};
    }
    for (size_t i = 0; i < graph_.boxes.size(); ++i) {
      layout_.boxes[i].x += lane_x_[Index(static_cast<int>(graph_.boxes[i].lane))];
    }
    for (size_t lane = 0; lane < kLanes; ++lane) {
      layout_.lanes[lane].left += lane_x_[lane];
      layout_.lanes[lane].right += lane_x_[lane];
    }
    layout_.width = routes.width;
    layout_.height = RowTop(rows_.rows);
  }

  RouteEnd EndOf(int box) const {
    const Rectangle& rectangle = layout_.boxes[Index(box)];
    const auto [top, bottom] = LayerSpan(LaneOf(box), LayerOf(box));
    RouteEnd end{LaneOf(box), rectangle, top - kRowGap / 2, bottom + kRowGap / 2};
    for (size_t i = 0; i < graph_.boxes.size(); ++i) {
      const int other = static_cast<int>(i);
      if (LaneOf(other) != LaneOf(box) || LayerOf(other) != LayerOf(box)) continue;
      end.blocked_left |= layout_.boxes[i].x < rectangle.x;
      end.blocked_right |= layout_.boxes[i].x > rectangle.x;
    }
    return end;
  }

  void DrawInLanes() {
    std::map<std::pair<int, bool>, std::vector<size_t>> arrivals;  // at a box, from above or below
    for (size_t e = 0; e < graph_.edges.size(); ++e) {
      const LayoutEdge& edge = graph_.edges[e];
      if (!InLane(edge)) continue;
      layout_.lines[e] = {true, PassagePoints(edge)};
      arrivals[{edge.to, LayerOf(edge.from) < LayerOf(edge.to)}].push_back(e);
    }
    for (auto& [end, edges] : arrivals) EndAtPorts(end.first, end.second, edges);
  }

  // Returns all points of the edge but the last ones.
  std::vector<Point> PassagePoints(const LayoutEdge& edge) const {
    const auto lane = Index(static_cast<int>(LaneOf(edge.from)));
    const Rectangle& from = layout_.boxes[Index(edge.from)];
    const int step = LayerOf(edge.to) > LayerOf(edge.from) ? 1 : -1;
    const double start = from.x + from.width / 2;
    std::vector<Point> points = {{start, step > 0 ? from.y + from.height : from.y}};
    if (from.height < row_height_) {  // past the higher boxes beside it
      points.push_back({start, points[0].y + step * (row_height_ - from.height) / 2});
    }
    for (int layer = LayerOf(edge.from) + step; layer != LayerOf(edge.to); layer += step) {
      const double x = lane_x_[lane] + x_[lane][Index(passages_.at({edge.from, layer}))];
      const auto [top, bottom] = LayerSpan(LaneOf(edge.from), layer);
      points.push_back({x, step > 0 ? top : bottom});
      points.push_back({x, step > 0 ? bottom : top});
    }
    return points;
  }

  // The last points, side by side in the order in which the lines arrive.
  void EndAtPorts(int box, bool from_above, std::vector<size_t>& edges) {
    std::stable_sort(edges.begin(), edges.end(), [&](size_t a, size_t b) {
      return layout_.lines[a].points.back().x < layout_.lines[b].points.back().x;
    });
    const Rectangle& rectangle = layout_.boxes[Index(box)];
    const auto last = static_cast<double>(edges.size() - 1);
    const double port = last > 0 ? std::min(kPort, rectangle.width * 0.8 / last) : 0;
    const double end = from_above ? rectangle.y : rectangle.y + rectangle.height;
    const double short_by = (row_height_ - rectangle.height) / 2 * (from_above ? 1 : -1);
    for (size_t i = 0; i < edges.size(); ++i) {
      const double x =
          rectangle.x + rectangle.width / 2 + (static_cast<double>(i) - last / 2) * port;
      std::vector<Point>& points = layout_.lines[edges[i]].points;
      if (short_by != 0) points.push_back({x, end - short_by});
      points.push_back({x, end});
    }
  }

  const LayoutGraph& graph_;
  const GraphRows rows_;
  std::vector<Lane> lanes_;
  std::vector<int> item_;                        // of each box, in its lane
  std::map<std::pair<int, int>, int> passages_;  // (box, layer) → item through which it goes
  std::vector<std::vector<double>> x_;           // of each lane's items
  std::vector<double> lane_x_;
  double row_height_ = 0;
  GraphLayout layout_;
};

}  // namespace

GraphLayout LayOutGraph(const LayoutGraph& graph) { return LayoutMaker(graph).Draw(); }

}  // namespace cgrun
