// Squeaky wheel optimisation (Joslin and Clements, JAIR 10, 1999) places buffers one by one in a
// sequence, within a capacity. Buffers for which no gap is left move ahead in the sequence, and all
// is placed again. A sequence only has to say which buffers it leaves over. Whether it is better
// than the one before does not matter.
//
// For graphs of models this is the quickest search. Only a few sections of time are nearly full,
// and the buffers that are alive there must be placed early. The rounds find out which of them come
// first, and on which side of the arena they lie.
//
// Two choices decide: where a sequence begins, and what it does with the fullest sections.
//
//   capacity +-----------------------+      +-----------------------+
//            |                       |      |    +---------------+  |
//            |        +-----+        |      |    |    peak       |  |
//            |     +--+     +--+     |      |    +--+         +--+  |
//            |  +--+   peak    +--+  |      |       +--+   +--+     |
//            +--+-----------------+--+      +----------+---+--------+
//             stacked from the bottom        hung from the capacity: all else has a flat floor
#ifndef CGRUN_PACKING_PLANNERS_SQUEAKY_WHEEL_H_
#define CGRUN_PACKING_PLANNERS_SQUEAKY_WHEEL_H_

#include <cstdint>
#include <vector>

#include "src/packing/memory_problem.h"
#include "src/packing/planners/effort.h"
#include "src/packing/planners/taken_list.h"
#include "src/packing/planners/time_sections.h"

namespace cgrun {

class SqueakyWheel {
 public:
  // Keeps references to both.
  SqueakyWheel(const MemoryProblem& problem, const TimeSections& sections);

  // Returns whether a plan that ends at or below `capacity` was found in at most `nodes` nodes of
  // `effort`. Every call tries other sequences than those before.
  bool Run(Bytes capacity, int64_t nodes, Effort& effort);

  // After Run() has returned true, this holds the offsets, one per buffer of the problem.
  const std::vector<Bytes>& offsets() const { return offsets_; }

 private:
  // Says which of several buffers with equally full sections come first.
  enum class Tie {
    kEndsFirst,
    kEndsLast,
    kBeginsFirst,
    kBeginsLast,
    kShortest,
    kLongest,
    kEarliest,  // by the middle of the lifespan
    kLatest,
    kLargestArea,
    kMostBytes,
  };
  static constexpr int kTies = 10;
  // Says how a sequence begins.
  struct Beginning {
    Tie tie = Tie::kEndsFirst;
    bool peak_from_top = false;  // buffers of a fullest section go to the highest gap
    double turns = 0;            // the share of what moves ahead that changes sides
    int rounds = 0;
  };

  Beginning NextBeginning();
  void Begin(const Beginning& beginning);
  bool Try(const Beginning& beginning, Effort& effort);
  void PlaceFrom(size_t first, Effort& effort);
  bool PlaceWaiting(Effort& effort);
  bool Place(size_t i);
  size_t MoveAhead(double turns);
  size_t MergeAhead();
  double TieRank(size_t i, Tie tie) const;
  double Draw();

  const MemoryProblem& problem_;
  const TimeSections& sections_;
  std::vector<Bytes> totals_;  // of each buffer: the most bytes alive in a section of it
  Bytes fullest_ = 0;
  std::vector<size_t> fixed_;    // with offsets of their own
  std::vector<size_t> movable_;  // the others that have bytes
  Bytes capacity_ = 0;
  std::vector<Bytes> offsets_;
  std::vector<char> from_top_;    // of each buffer: it goes to the highest gap, not the lowest
  std::vector<char> left_over_;   // of each buffer: there was no gap for it
  std::vector<size_t> sequence_;  // those of full sections, and what was left over once
  std::vector<size_t> waiting_;   // the others, which are placed once all of those are
  std::vector<size_t> place_;     // of each buffer: where it is in the sequence
  std::vector<std::pair<double, size_t>> ahead_;  // buffers that move ahead, with their places
  std::vector<size_t> merged_;                    // scratch
  TakenList taken_;
  int64_t begun_ = 0;   // sequences
  uint64_t draws_ = 0;  // random numbers
  int64_t passed_ = 0;  // by placements, not yet counted as nodes
};

}  // namespace cgrun

#endif  // CGRUN_PACKING_PLANNERS_SQUEAKY_WHEEL_H_
