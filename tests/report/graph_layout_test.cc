// Layouts of graphs: nothing overlaps, lines lead from box to box and through none, and the same
// graph gives the same numbers.
#include "src/report/graph_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "src/report/lane_order.h"
#include "tests/support/dice.h"

namespace cgrun {
namespace {

constexpr double kWidth = 100, kHeight = 40, kLow = 30;
constexpr double kRounding = 1e-6;

LayoutBox Forward() { return {LaneId::kForward, -1, false, kWidth, kHeight}; }
LayoutBox Beside(LaneId lane, int anchor) { return {lane, anchor, false, kWidth, kHeight}; }

// Like a graph that trains: forward boxes, backward boxes in reverse, gradients and updates.
LayoutGraph RandomLayoutGraph(uint64_t seed) {
  Dice dice(seed);
  LayoutGraph graph;
  const auto forward = static_cast<int>(dice.Between(1, 20));
  for (int i = 0; i < forward; ++i) {
    graph.boxes.push_back(Forward());
    if (dice.OneIn(6)) {
      graph.boxes.back().late = true;
      graph.boxes.back().height = kLow;
    } else if (i > 0) {
      const auto inputs = static_cast<int>(dice.Between(0, 3));
      for (int k = 0; k < inputs; ++k) {
        graph.edges.push_back({static_cast<int>(dice.Between(0, i - 1)), i});
      }
    }
  }
  const auto others = static_cast<int>(dice.Between(0, 40));
  for (int i = forward; i < forward + others; ++i) {
    const auto anchor = static_cast<int>(dice.Between(-1, forward - 1));
    graph.boxes.push_back(Beside(static_cast<LaneId>(dice.Between(1, 3)), anchor));
    const auto inputs = static_cast<int>(dice.Between(1, 3));
    for (int k = 0; k < inputs; ++k) {
      graph.edges.push_back({static_cast<int>(dice.Between(0, i - 1)), i});
    }
  }
  // Blocks that are woven into each other fold to such an edge.
  if (dice.OneIn(4) && forward > 2) graph.edges.push_back({forward - 1, 0});
  return graph;
}

bool Overlap(const Rectangle& a, const Rectangle& b) {
  return a.x < b.x + b.width - kRounding && b.x < a.x + a.width - kRounding &&
         a.y < b.y + b.height - kRounding && b.y < a.y + a.height - kRounding;
}

bool OnBorder(const Point& point, const Rectangle& box) {
  const bool inside = point.x >= box.x - kRounding && point.x <= box.x + box.width + kRounding &&
                      point.y >= box.y - kRounding && point.y <= box.y + box.height + kRounding;
  const bool on_side =
      std::abs(point.x - box.x) < kRounding || std::abs(point.x - box.x - box.width) < kRounding;
  const bool on_end =
      std::abs(point.y - box.y) < kRounding || std::abs(point.y - box.y - box.height) < kRounding;
  return inside && (on_side || on_end);
}

bool Inside(const Point& point, const Rectangle& box) {
  constexpr double kInset = 1;
  return point.x > box.x + kInset && point.x < box.x + box.width - kInset &&
         point.y > box.y + kInset && point.y < box.y + box.height - kInset;
}

// Points along a line, as it is drawn.
std::vector<Point> Sampled(const LayoutLine& line) {
  constexpr int kSteps = 24;
  std::vector<Point> samples;
  for (size_t i = 1; i < line.points.size(); ++i) {
    const Point &a = line.points[i - 1], &b = line.points[i];
    for (int k = 0; k <= kSteps; ++k) {
      const double t = static_cast<double>(k) / kSteps, u = 1 - t;
      // A cubic whose middle points have the x of its ends and the y of its middle.
      const double x =
          line.curved ? u * u * (u + 3 * t) * a.x + t * t * (t + 3 * u) * b.x : u * a.x + t * b.x;
      const double middle = (a.y + b.y) / 2;
      const double y = line.curved
                           ? u * u * u * a.y + 3 * u * t * (u + t) * middle + t * t * t * b.y
                           : u * a.y + t * b.y;
      samples.push_back({x, y});
    }
  }
  return samples;
}

void ExpectSound(const LayoutGraph& graph, const GraphLayout& layout) {
  ASSERT_EQ(layout.boxes.size(), graph.boxes.size());
  ASSERT_EQ(layout.lines.size(), graph.edges.size());
  for (size_t i = 0; i < layout.boxes.size(); ++i) {
    const Rectangle& box = layout.boxes[i];
    EXPECT_EQ(box.width, graph.boxes[i].width);
    EXPECT_GE(box.x, 0);
    EXPECT_LE(box.x + box.width, layout.width + kRounding);
    EXPECT_LE(box.y + box.height, layout.height + kRounding);
    for (size_t j = 0; j < i; ++j) EXPECT_FALSE(Overlap(box, layout.boxes[j])) << i << ' ' << j;
  }
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    const LayoutEdge& edge = graph.edges[e];
    const LayoutLine& line = layout.lines[e];
    ASSERT_GE(line.points.size(), 2u);
    EXPECT_TRUE(OnBorder(line.points.front(), layout.boxes[static_cast<size_t>(edge.from)])) << e;
    EXPECT_TRUE(OnBorder(line.points.back(), layout.boxes[static_cast<size_t>(edge.to)])) << e;
    for (const Point& point : Sampled(line)) {
      for (size_t i = 0; i < layout.boxes.size(); ++i) {
        ASSERT_FALSE(Inside(point, layout.boxes[i]))
            << "edge " << edge.from << " to " << edge.to << " runs through " << i;
      }
    }
    for (size_t i = 1; i < line.points.size() && !line.curved; ++i) {
      const Point &a = line.points[i - 1], &b = line.points[i];
      EXPECT_TRUE(std::abs(a.x - b.x) < kRounding || std::abs(a.y - b.y) < kRounding);
    }
  }
}

TEST(GraphLayout, OfRandomGraphsOverlapsNothing) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const LayoutGraph graph = RandomLayoutGraph(seed);
    ExpectSound(graph, LayOutGraph(graph));
    if (HasFatalFailure()) return;
  }
}

TEST(GraphLayout, OfOneGraphIsOneLayout) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const LayoutGraph graph = RandomLayoutGraph(seed);
    const GraphLayout a = LayOutGraph(graph), b = LayOutGraph(graph);
    for (size_t i = 0; i < a.boxes.size(); ++i) {
      EXPECT_EQ(a.boxes[i].x, b.boxes[i].x);
      EXPECT_EQ(a.boxes[i].y, b.boxes[i].y);
    }
    for (size_t e = 0; e < a.lines.size(); ++e) {
      ASSERT_EQ(a.lines[e].points.size(), b.lines[e].points.size());
      for (size_t i = 0; i < a.lines[e].points.size(); ++i) {
        EXPECT_EQ(a.lines[e].points[i].x, b.lines[e].points[i].x);
        EXPECT_EQ(a.lines[e].points[i].y, b.lines[e].points[i].y);
      }
    }
  }
}

TEST(GraphLayout, OfNothingIsEmpty) {
  const GraphLayout layout = LayOutGraph({});
  EXPECT_TRUE(layout.boxes.empty());
  EXPECT_EQ(layout.width, 0);
}

// Makes x → y → loss, back up beside it, the gradient of y's weight, and its update.
LayoutGraph Step() {
  LayoutGraph graph;
  graph.boxes = {Forward(),
                 Forward(),
                 Forward(),
                 Beside(LaneId::kBackward, 2),
                 Beside(LaneId::kBackward, 1),
                 Beside(LaneId::kParameterGradient, 1),
                 Beside(LaneId::kUpdate, 1)};
  graph.edges = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {3, 5}, {0, 5}, {5, 6}};
  return graph;
}

TEST(GraphLayout, ForwardFlowsDownAndBackwardUpBesideIt) {
  const GraphLayout layout = LayOutGraph(Step());
  const auto& box = layout.boxes;
  EXPECT_LT(box[0].y, box[1].y);
  EXPECT_LT(box[1].y, box[2].y);
  EXPECT_EQ(box[0].x, box[1].x);  // a chain is straight
  EXPECT_EQ(box[1].x, box[2].x);
  EXPECT_EQ(box[3].y, box[2].y);
  EXPECT_EQ(box[4].y, box[1].y);
  EXPECT_EQ(box[5].y, box[4].y);
  EXPECT_EQ(box[6].y, box[5].y);
  EXPECT_LT(box[1].x, box[4].x);
  EXPECT_LT(box[4].x, box[5].x);
  EXPECT_LT(box[5].x, box[6].x);
  EXPECT_EQ(layout.lines[6].points.front().y, layout.lines[6].points.back().y);
}

TEST(GraphLayout, PutsLateBoxesAboveTheirFirstReader) {
  LayoutGraph graph;
  graph.boxes = {Forward(), Forward(), Forward(), Forward(), Forward()};
  graph.boxes[0].late = graph.boxes[1].late = true;
  graph.edges = {{0, 2}, {2, 3}, {3, 4}, {1, 4}};
  const GraphRows rows = RowsOf(graph);
  EXPECT_EQ(rows.band, (std::vector<int>{0, 2, 1, 2, 3}));
}

TEST(GraphLayout, LeavesARowToEachUpdateOfABand) {
  LayoutGraph graph;
  graph.boxes = {Forward(), Forward(), Beside(LaneId::kUpdate, 0), Beside(LaneId::kUpdate, 0)};
  graph.edges = {{0, 1}};
  const GraphRows rows = RowsOf(graph);
  EXPECT_EQ(rows.row_count, (std::vector<int>{2, 1}));
  EXPECT_EQ(rows.row, (std::vector<int>{0, 2, 0, 1}));
}

TEST(SpreadApart, MovesNoMoreThanItMust) {
  EXPECT_EQ(SpreadApart({0, 10}, {4, 4}, {1, 1}), (std::vector<double>{0, 10}));
  EXPECT_EQ(SpreadApart({5, 5}, {4, 4}, {1, 1}), (std::vector<double>{3, 7}));
  EXPECT_EQ(SpreadApart({5, 5}, {4, 4}, {3, 1}), (std::vector<double>{4, 8}));
  EXPECT_EQ(SpreadApart({0, 0, 0}, {2, 2, 2}, {1, 1, 1}), (std::vector<double>{-2, 0, 2}));
  EXPECT_TRUE(SpreadApart({}, {}, {}).empty());
}

// Two chains whose ends stand the wrong way round.
TEST(LaneOrder, UncrossesWhatCanBeUncrossed) {
  Lane lane;
  lane.items = {{0, 10}, {0, 10}, {1, 10}, {1, 10}};
  lane.links = {{0, 3}, {1, 2}};
  const std::vector<double> x = PlaceInLane(lane);
  EXPECT_EQ(x[0] < x[1], x[3] < x[2]);
}

}  // namespace
}  // namespace cgrun
