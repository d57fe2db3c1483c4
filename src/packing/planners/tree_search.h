// Depth-first search for a plan within a capacity, sound and complete, by the rules of MiniMalloc
// (Moffitt, ASPLOS 2023, doi 10.1145/3623278.3624752), kept up to date from node to node. Entry
// point: TreeSearch::Run.
//
// Buffers are placed from the bottom up, each at its *floor*: the lowest aligned offset above all
// placed buffers that it meets in time. Every plan can be pushed down into one of these, and each
// of them is reached by one path alone: floors do not fall along a path, and among equal floors
// ranks rise (canonical order). A node is given up where
//  - a section, filled from its bottom up by what is still to come in it, exceeds the capacity; its
//    bottom is the lowest floor there, and not below the floor of the last buffer placed;
//  - a section would be too full if nothing in it began at its floor of now, and all that could has
//    been tried (the lowest of a section);
//  - the buffer would begin where another, placed below it, would have ended (dominance);
//  - an interchangeable buffer of lower rank is not placed yet (symmetry);
//  - nothing can lie above the buffer that was tried last (hatless): what failed with it fails.
// If no buffer that is left crosses from one section to the next, the two sides are solved
// separately. Each is ranked anew by its own buffers.
#ifndef CGRUN_PACKING_PLANNERS_TREE_SEARCH_H_
#define CGRUN_PACKING_PLANNERS_TREE_SEARCH_H_

#include <array>
#include <cstdint>
#include <vector>

#include "src/packing/memory_problem.h"
#include "src/packing/planners/effort.h"
#include "src/packing/planners/time_sections.h"

namespace cgrun {

enum class SearchOutcome {
  kFound,
  kNone,     // proved: no plan keeps the capacity
  kStopped,  // out of nodes or time
};

// Ranks buffers, the largest first. The later keys count where the earlier ones are equal.
enum class Key { kLength, kArea, kTotal };  // kTotal: of what is left in the fullest section
using Preorder = std::array<Key, 3>;
// These are MiniMalloc's WAT, TAW and TWA.
inline constexpr Preorder kPreorders[] = {{Key::kLength, Key::kArea, Key::kTotal},
                                          {Key::kTotal, Key::kArea, Key::kLength},
                                          {Key::kTotal, Key::kLength, Key::kArea}};

class TreeSearch {
 public:
  // At most this many buffers: a path is as deep.
  static constexpr size_t kMostBuffers = 2000;

  // Searches over all buffers that have bytes. Keeps nothing of its arguments.
  TreeSearch(const MemoryProblem& problem, const TimeSections& sections);

  // Looks for a plan that ends at or below `capacity`, in at most `nodes` nodes of `effort`.
  // Buffers with equal floors are tried in the sequence that `order` gives. Each `variation` but 0
  // changes the ranks a little, in a way of its own.
  SearchOutcome Run(Bytes capacity, const Preorder& order, int64_t nodes, Effort& effort,
                    uint64_t variation = 0);

  // After kFound, this holds the offsets, one per buffer of the problem (0 for those without
  // bytes).
  const std::vector<Bytes>& offsets() const { return offsets_; }

 private:
  using Index = int32_t;  // of a buffer of the problem, or of a section

  struct Item {
    Bytes bytes = 0;
    Bytes alignment = 1;
    SectionRange time;
    double length = 0;  // steps
    bool fixed = false;
    Index twin = -1;  // the interchangeable buffer before it in the order
  };
  // Holds the buffers left to place in some sections, independent of everything else. They are
  // pool_[begin, end) in the order of rank, placed ones among them.
  struct Part {
    SectionRange sections;
    size_t begin = 0;
    size_t end = 0;
    size_t left = 0;  // not placed
  };
  struct Candidate {
    Bytes floor;
    Index rank;
    Index item;
    bool operator<(const Candidate& other) const {
      return floor != other.floor ? floor < other.floor : rank < other.rank;
    }
  };
  struct FloorChange {
    Index item;
    Bytes old;
  };
  struct BottomChange {
    Index section;
    Index witness;
    Bytes old;
  };
  // Holds the lengths of the trails to which an undo goes back.
  struct Mark {
    size_t placed, floors, bottoms, pool;
  };

  void ResetState();
  void VaryRanks(uint64_t variation);
  void Rank(size_t begin, size_t end);
  void LinkTwins();
  SearchOutcome Solve(const Part& part, Bytes last_floor, Index last_rank);
  SearchOutcome Try(const Part& part, const Candidate& candidate);
  SearchOutcome SolveRest(const Part& part, const Candidate& candidate);
  Bytes FindCandidates(const Part& part, Bytes last_floor, Index last_rank);
  size_t CountUseful(const Part& part, size_t begin, Bytes lowest_end);
  bool Place(const Candidate& candidate);
  bool RaiseNeighbours(Index item, Bytes top, SectionRange& touched);
  bool RaiseBottoms(SectionRange touched, Bytes floor);
  bool SectionsHold(SectionRange sections, Bytes floor) const;
  bool IsHatless(Index item) const;
  bool IsCut(const Part& part, SectionRange time) const;
  std::vector<Part> Pieces(const Part& part);
  void Undo(const Mark& mark);

  std::vector<Item> items_;
  std::vector<std::vector<Index>> neighbours_;  // of each item: those that it meets in time
  std::vector<std::vector<Index>> alive_;       // of each section: the items that hold it
  std::vector<Bytes> first_floor_;              // of each item, where nothing is placed

  std::vector<std::array<double, 3>> keys_;  // of each item, what ranks it in its part
  std::vector<Bytes> floor_;                 // of each item; kNoLimit once it is placed
  std::vector<Bytes> bottom_;    // of each section: the lowest floor of what is not placed
  std::vector<Index> witness_;   // of each section: an item with that floor
  std::vector<Bytes> total_;     // of each section: the bytes not placed
  std::vector<Index> crossing_;  // of each section: items left that hold it and the one before
  std::vector<Index> lowest_;    // of each section: the last candidate that can be its lowest
  std::vector<Bytes> offsets_;
  Bytes capacity_ = 0;
  Preorder order_ = {};
  std::vector<double> factors_;  // of each item, on what ranks it: 1, but for a variation
  int64_t nodes_left_ = 0;
  int64_t steps_ = 0;  // looks at a buffer, not yet counted as nodes
  Effort* effort_ = nullptr;

  std::vector<Index> placed_;  // trails
  std::vector<FloorChange> floors_;
  std::vector<BottomChange> bottoms_;
  std::vector<Index> pool_;
  std::vector<Candidate> candidates_;  // of all nodes of the path
};

}  // namespace cgrun

#endif  // CGRUN_PACKING_PLANNERS_TREE_SEARCH_H_
