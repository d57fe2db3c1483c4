// Tracks are found by greedy colouring of intervals.
#include "src/report/line_routes.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace cgrun {
namespace {

constexpr double kTrackWidth = 8;
constexpr double kGutterEdge = 14;  // between a lane and the first track beside it
constexpr double kClearance = 6;    // between two lines of one track
constexpr double kSidePort = 8;     // between lines that end at one side of a box
constexpr double kTopPort = 18;     // from the corner of a box to the first line from above
constexpr double kGapOffsets[] = {0, 5, -5, 9, -9, 2.5, -2.5, 7, -7};

class Router {
 public:
  Router(const std::vector<RouteRequest>& requests, const std::vector<RouteEnd>& ends,
         const std::vector<LaneSpan>& lanes)
      : requests_(requests), ends_(ends), lanes_(lanes), ways_(requests.size()) {
    for (const LaneSpan& lane : lanes) {
      position_.push_back(lanes_used_);
      lanes_used_ += lane.right > lane.left ? 1 : 0;
    }
  }

  Routes Route() {
    for (size_t i = 0; i < requests_.size(); ++i) Leave(i);
    SpreadSidePorts();
    TakeTracks();
    PlaceLanes();
    for (size_t i = 0; i < requests_.size(); ++i) routes_.lines.push_back(Points(i));
    return routes_;
  }

 private:
  struct Way {
    int gutter = 0;  // 0 is left of the first lane
    bool from_right = true;
    bool leaves_below = false;  // through the gap below, as the side is blocked
    bool enters_above = false;
    double leave_y = 0;  // of the part between box and gutter
    double enter_y = 0;
    double port_x = 0;  // of a line that enters from above, from the box's left edge
  };
  struct Track {
    double top, bottom;
    int from;
    int gutter;
    int index = 0;
  };

  const RouteEnd& From(size_t i) const { return ends_[static_cast<size_t>(requests_[i].from)]; }
  const RouteEnd& To(size_t i) const { return ends_[static_cast<size_t>(requests_[i].to)]; }
  int PositionOf(LaneId lane) const { return position_[static_cast<size_t>(lane)]; }

  // Each box has a place of its own in a gap, as far as there are places.
  double InGap(double y, int box) {
    std::vector<int>& users = gaps_[y];
    auto user = std::find(users.begin(), users.end(), box);
    if (user == users.end()) user = users.insert(user, box);
    return y + kGapOffsets[static_cast<size_t>(user - users.begin()) % std::size(kGapOffsets)];
  }

  void Leave(size_t i) {
    const RouteEnd &from = From(i), &to = To(i);
    const int step = PositionOf(to.lane) - PositionOf(from.lane);
    Way& way = ways_[i];
    way.from_right = step > 0;
    way.gutter = PositionOf(from.lane) + (step > 0 ? 1 : 0);
    way.leaves_below = step > 0 ? from.blocked_right : from.blocked_left;
    way.enters_above = step != 1 || to.blocked_left;
    const double middle = from.box.y + from.box.height / 2;
    way.leave_y = way.leaves_below ? InGap(from.gap_below, requests_[i].from) : middle;
    if (way.enters_above) {
      way.enter_y = InGap(to.gap_above, requests_[i].from);
      way.port_x = std::min(kTopPort + kSidePort * top_ports_[requests_[i].to]++,
                            to.box.width / 2 - kSidePort);
    }
  }

  // Spreads the ports in the order of their sources' heights, so that lines do not cross before the
  // box.
  void SpreadSidePorts() {
    std::map<int, std::vector<size_t>> arrivals;
    for (size_t i = 0; i < requests_.size(); ++i) {
      if (!ways_[i].enters_above) arrivals[requests_[i].to].push_back(i);
    }
    for (auto& [box, lines] : arrivals) {
      std::stable_sort(lines.begin(), lines.end(),
                       [&](size_t a, size_t b) { return ways_[a].leave_y < ways_[b].leave_y; });
      const Rectangle& to = ends_[static_cast<size_t>(box)].box;
      const auto last = static_cast<double>(lines.size() - 1);
      const double port = last > 0 ? std::min(kSidePort, to.height * 0.8 / last) : 0;
      for (size_t i = 0; i < lines.size(); ++i) {
        ways_[lines[i]].enter_y = to.y + to.height / 2 + (static_cast<double>(i) - last / 2) * port;
      }
    }
  }

  void TakeTracks() {
    for (size_t i = 0; i < requests_.size(); ++i) {
      const Way& way = ways_[i];
      const auto key = std::make_pair(way.gutter, requests_[i].from);
      const auto [at, fresh] = track_of_.try_emplace(key, tracks_.size());
      if (fresh) tracks_.push_back({way.leave_y, way.leave_y, requests_[i].from, way.gutter});
      Track& track = tracks_[at->second];
      track.top = std::min({track.top, way.leave_y, way.enter_y});
      track.bottom = std::max({track.bottom, way.leave_y, way.enter_y});
    }
    std::vector<size_t> order;
    for (size_t t = 0; t < tracks_.size(); ++t) order.push_back(t);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::tie(tracks_[a].top, tracks_[a].bottom) <
             std::tie(tracks_[b].top, tracks_[b].bottom);
    });
    std::map<int, std::vector<double>> ends;  // ends of the last line of each track of a gutter
    for (const size_t t : order) {
      Track& track = tracks_[t];
      std::vector<double>& used = ends[track.gutter];
      const auto free = std::find_if(used.begin(), used.end(),
                                     [&](double end) { return end + kClearance < track.top; });
      track.index = static_cast<int>(free - used.begin());
      if (free == used.end()) used.push_back(0);
      used[static_cast<size_t>(track.index)] = track.bottom;
    }
    for (const auto& [gutter, used] : ends) track_count_[gutter] = static_cast<int>(used.size());
  }

  double GutterWidth(int gutter) {
    const int count = track_count_[gutter];
    const bool outer = gutter == 0 || gutter == lanes_used_;
    if (count == 0) return outer ? 0 : 2 * kGutterEdge;
    return 2 * kGutterEdge + (count - 1) * kTrackWidth;
  }

  void PlaceLanes() {
    double x = 0;
    gutter_x_.push_back(x);
    x += GutterWidth(0);
    for (const LaneSpan& lane : lanes_) {
      routes_.lane_x.push_back(x);
      if (lane.right <= lane.left) continue;
      x += lane.right - lane.left;
      gutter_x_.push_back(x);
      x += GutterWidth(static_cast<int>(gutter_x_.size()) - 1);
    }
    routes_.width = x;
  }

  std::vector<Point> Points(size_t i) const {
    const Way& way = ways_[i];
    Rectangle from = From(i).box, to = To(i).box;
    from.x += routes_.lane_x[static_cast<size_t>(From(i).lane)];
    to.x += routes_.lane_x[static_cast<size_t>(To(i).lane)];
    const Track& track = tracks_[track_of_.at({way.gutter, requests_[i].from})];
    const double x =
        gutter_x_[static_cast<size_t>(way.gutter)] + kGutterEdge + track.index * kTrackWidth;
    std::vector<Point> points;
    if (way.leaves_below) {
      const double port = from.x + from.width * (way.from_right ? 0.75 : 0.25);
      points = {{port, from.y + from.height}, {port, way.leave_y}};
    } else {
      points = {{way.from_right ? from.x + from.width : from.x, way.leave_y}};
    }
    points.push_back({x, way.leave_y});
    points.push_back({x, way.enter_y});
    if (way.enters_above) {
      points.push_back({to.x + way.port_x, way.enter_y});
      points.push_back({to.x + way.port_x, to.y});
    } else {
      points.push_back({to.x, way.enter_y});
    }
    return points;
  }

  const std::vector<RouteRequest>& requests_;
  const std::vector<RouteEnd>& ends_;
  const std::vector<LaneSpan>& lanes_;
  std::vector<Way> ways_;
  std::vector<int> position_;  // of each lane, among those that are not empty
  int lanes_used_ = 0;
  std::map<double, std::vector<int>> gaps_;         // boxes whose lines go along the gap at y
  std::map<int, int> top_ports_;                    // lines that enter a box from above, so far
  std::map<std::pair<int, int>, size_t> track_of_;  // (gutter, box) → track
  std::vector<Track> tracks_;
  std::map<int, int> track_count_;
  std::vector<double> gutter_x_;
  Routes routes_;
};

}  // namespace

Routes RouteLines(const std::vector<RouteRequest>& requests, const std::vector<RouteEnd>& ends,
                  const std::vector<LaneSpan>& lanes) {
  return Router(requests, ends, lanes).Route();
}

}  // namespace cgrun
