// The pebble game finds the least time of a step within so many bytes, over all orders and all
// recomputations. A pebble on a value says that its bytes are there. An operator may run where
// pebbles lie on all that it reads; it puts pebbles on what it writes, or slides one there from a
// value of the same size that it may write over. A pebble can be taken away at any time: then the
// value is gone, and must be recomputed where it is wanted later.
//
//   0 ─▶ 1 ─▶ 2 ─▶ 4 ─▶ 5      In three pebbles: 0, slide to 1, 2, 3, slide 2 to 4, take 3,
//        │ ╲─▶ 3 ─▶╱    ▲      slide 1 to 5: six runs. In two: 0, slide to 1, 2, slide 1 to 3,
//        ╰──────────────╯      slide to 4; then 0 and 1 again, slide to 5: eight runs.
//
// The game is Sethi's register allocation (SIAM J. Comput. 4(3), 1975); to play it well is
// PSPACE-complete, so that this is for small graphs.
#ifndef CGRUN_PLAN_PEBBLE_GAME_H_
#define CGRUN_PLAN_PEBBLE_GAME_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "src/ir/graph.h"
#include "src/packing/memory_problem.h"

namespace cgrun {

inline constexpr int kMostPebbles = 64;

// An operator. Pebbles are indices of PebbleGame::bytes.
struct PebbleMove {
  struct Slide {
    int from = 0;  // one of `reads`, of as many bytes
    int to = 0;    // one of `writes`
  };

  std::vector<int> reads;
  std::vector<int> writes;
  std::vector<Slide> slides;  // each pebble at most once on either side
  std::vector<int> takes;     // reads that are gone behind it: the old value of a state
  Bytes workspace = 0;
  double seconds = 1;
  bool once = false;  // runs no second time
};

struct PebbleGame {
  std::vector<Bytes> bytes;  // of each pebble, at most kMostPebbles
  std::vector<PebbleMove> moves;
  std::vector<int> first;  // lie there before the first move
  std::vector<int> last;   // must lie there behind the last one
};

// A game that was played: within these bytes at any time, in no less than these seconds.
struct PebblePoint {
  Bytes bytes = 0;
  double seconds = 0;
  int runs = 0;
};

// From the least time with the least bytes for it down to the least bytes. Each point is proved:
// nothing takes less of one and no more of the other.
struct PebbleFrontier {
  std::vector<PebblePoint> points;
  bool complete = false;  // else the search has ended before the least bytes were found
};

// Looks at `most_positions` positions at most: the result does not depend on the machine's speed.
PebbleFrontier PlayPebbles(const PebbleGame& game, int64_t most_positions);

// The game of a bound graph with kernels: pebbles for what is transient, of as many bytes as it
// has, alignment left out. Returns nothing where these are too many, or states are updated by views
// or by what nothing computes.
std::optional<PebbleGame> PebbleGameOf(const Graph& graph);

}  // namespace cgrun

#endif  // CGRUN_PLAN_PEBBLE_GAME_H_
