// Compares the pebble game with examples of papers, and with a search that knows no shortcut.
#include "src/plan/pebble_game.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/dice.h"

namespace cgrun {
namespace {

constexpr int64_t kMany = 1'000'000;

// One pebble of one byte a node; a node may write over any of its inputs, and takes a second.
PebbleGame UnitGame(int nodes, const std::vector<std::pair<int, int>>& edges,
                    std::vector<int> last) {
  PebbleGame game;
  game.bytes.assign(static_cast<size_t>(nodes), 1);
  game.last = std::move(last);
  for (int node = 0; node < nodes; ++node) {
    PebbleMove move;
    move.writes = {node};
    for (const auto& [from, to] : edges) {
      if (to == node) move.reads.push_back(from);
    }
    if (!move.reads.empty()) move.slides.push_back({move.reads[0], node});
    game.moves.push_back(move);
  }
  return game;
}

using Row = std::pair<double, Bytes>;

std::vector<Row> RowsOf(const PebbleFrontier& frontier) {
  std::vector<Row> rows;
  for (const PebblePoint& point : frontier.points) rows.push_back({point.seconds, point.bytes});
  return rows;
}

// The second example of Owl's report on graphs (row O3 of the requirements).
TEST(PebbleGame, PlaysTheExampleOfOwl) {
  const PebbleGame game =
      UnitGame(6, {{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {1, 5}, {4, 5}}, {5});
  const PebbleFrontier frontier = PlayPebbles(game, kMany);
  EXPECT_TRUE(frontier.complete);
  EXPECT_EQ(RowsOf(frontier), (std::vector<Row>{{6, 3}, {8, 2}}));
  EXPECT_EQ(frontier.points[1].runs, 8);
}

TEST(PebbleGame, AChainNeedsOnePebble) {
  const PebbleFrontier frontier = PlayPebbles(UnitGame(4, {{0, 1}, {1, 2}, {2, 3}}, {3}), kMany);
  EXPECT_TRUE(frontier.complete);
  EXPECT_EQ(RowsOf(frontier), (std::vector<Row>{{4, 1}}));
}

// Forward 0 … 4, backward 5 … 9 that reads what is forward of it: fewer pebbles, more runs.
TEST(PebbleGame, ATrainingChainTradesTimeForBytes) {
  const PebbleGame game = UnitGame(
      8, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {2, 5}, {4, 5}, {1, 6}, {5, 6}, {0, 7}, {6, 7}}, {7});
  const PebbleFrontier frontier = PlayPebbles(game, kMany);
  EXPECT_TRUE(frontier.complete);
  ASSERT_GE(frontier.points.size(), 2u);
  EXPECT_EQ(frontier.points[0].seconds, 8);
  for (size_t i = 1; i < frontier.points.size(); ++i) {
    EXPECT_GT(frontier.points[i].seconds, frontier.points[i - 1].seconds);
    EXPECT_LT(frontier.points[i].bytes, frontier.points[i - 1].bytes);
  }
}

TEST(PebbleGame, StopsWhereItMayLookNoFurther) {
  const PebbleGame game =
      UnitGame(6, {{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {1, 5}, {4, 5}}, {5});
  EXPECT_FALSE(PlayPebbles(game, 3).complete);
}

TEST(PebbleGame, WhatRunsOnceIsKept) {
  PebbleGame game = UnitGame(6, {{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {1, 5}, {4, 5}}, {5});
  game.bytes.push_back(0);
  game.moves[1].once = true;
  game.moves[1].writes.push_back(6);
  EXPECT_EQ(RowsOf(PlayPebbles(game, kMany)), (std::vector<Row>{{6, 3}}));
}

// Two states: w (0) is read by 1 and changed by what makes 2; 3 reads the old w.
TEST(PebbleGame, NothingReadsAStateBehindItsUpdate) {
  PebbleGame game;
  game.bytes = {0, 4, 0, 1};
  game.first = {0};
  game.last = {2, 3};
  PebbleMove gradient, update, old;
  gradient.reads = {0}, gradient.writes = {1};
  update.reads = {0, 1}, update.writes = {2}, update.takes = {0};
  old.reads = {0}, old.writes = {3};
  game.moves = {gradient, update, old};
  EXPECT_EQ(RowsOf(PlayPebbles(game, kMany)), (std::vector<Row>{{3, 5}}));
}

// All sets of pebbles with the least seconds to each, for one number of bytes: takes pebbles away
// at any time, promises nothing.
double LeastSeconds(const PebbleGame& game, Bytes budget) {
  using Set = std::set<int>;
  const auto bytes_of = [&](const Set& set) {
    Bytes bytes = 0;
    for (int pebble : set) bytes += game.bytes[static_cast<size_t>(pebble)];
    return bytes;
  };
  std::set<std::pair<double, Set>> open = {{0, Set(game.first.begin(), game.first.end())}};
  std::set<Set> done;
  while (!open.empty()) {
    const auto [seconds, set] = *open.begin();
    open.erase(open.begin());
    if (!done.insert(set).second) continue;
    if (std::all_of(game.last.begin(), game.last.end(), [&](int p) { return set.contains(p); })) {
      return seconds;
    }
    for (int pebble : set) {
      Set less = set;
      less.erase(pebble);
      open.insert({seconds, less});
    }
    for (const PebbleMove& move : game.moves) {
      if (!std::all_of(move.reads.begin(), move.reads.end(),
                       [&](int p) { return set.contains(p); })) {
        continue;
      }
      Set more = set;
      more.insert(move.writes.begin(), move.writes.end());
      if (bytes_of(more) + move.workspace <= budget) open.insert({seconds + move.seconds, more});
      for (const PebbleMove::Slide& slide : move.slides) {
        if (set.contains(slide.to)) continue;
        Set slid = more;
        slid.erase(slide.from);
        if (bytes_of(slid) + move.workspace <= budget) open.insert({seconds + move.seconds, slid});
      }
    }
  }
  return -1;
}

TEST(PebbleGame, FindsWhatASearchThroughAllPositionsFinds) {
  Dice dice(7);
  int with_trade = 0;
  for (int round = 0; round < 300; ++round) {
    const int nodes = static_cast<int>(dice.Between(4, 7));
    PebbleGame game;
    for (int node = 0; node < nodes; ++node) {
      game.bytes.push_back(dice.Between(1, 3));
      PebbleMove move;
      move.writes = {node};
      move.seconds = static_cast<double>(dice.Between(1, 3));
      move.workspace = dice.OneIn(4) ? 1 : 0;
      for (int from = 0; from < node; ++from) {
        if (from == node - 1 || dice.OneIn(3)) move.reads.push_back(from);
      }
      for (int from : move.reads) {
        const bool same = game.bytes[static_cast<size_t>(from)] == game.bytes.back();
        if (same && move.slides.empty() && dice.OneIn(2)) move.slides.push_back({from, node});
      }
      game.moves.push_back(move);
    }
    game.last = {nodes - 1};
    const PebbleFrontier frontier = PlayPebbles(game, kMany);
    ASSERT_TRUE(frontier.complete);
    std::map<Bytes, double> least;  // from which bytes on it takes these seconds
    double before = -1;
    for (Bytes budget = 3 * nodes + 1; budget >= 0; --budget) {
      const double seconds = LeastSeconds(game, budget);
      if (before >= 0 && seconds != before) least[budget + 1] = before;
      before = seconds;
      if (seconds < 0) break;
    }
    std::vector<Row> expected;
    for (const auto& [bytes, seconds] : least) expected.insert(expected.begin(), {seconds, bytes});
    ASSERT_EQ(RowsOf(frontier), expected) << "round " << round;
    with_trade += expected.size() > 1;
  }
  EXPECT_GT(with_trade, 30);
}

}  // namespace
}  // namespace cgrun
