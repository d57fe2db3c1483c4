// Which bytes are taken in which sections of time, built so that a placement costs about log² of
// the number of buffers, however many of them overlap. Entry points: Occupancy::FirstFit, BestFit,
// Take.
#ifndef CGRUN_PLAN_PLANNERS_OCCUPANCY_H_
#define CGRUN_PLAN_PLANNERS_OCCUPANCY_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "src/plan/memory_problem.h"

namespace cgrun {

// Sections [begin, end) of a time axis that was cut where buffers begin (see TimeSections).
struct SectionRange {
  int32_t begin = 0;
  int32_t end = 0;
};

inline constexpr Bytes kNoLimit = std::numeric_limits<Bytes>::max();

// Disjoint ranges of bytes, sorted, ranges that touch merged: a well-packed set is very short.
class ByteSet {
 public:
  struct Range {
    Bytes begin, end;
  };
  void Add(Range range);
  // The lowest multiple of `alignment`, at least `from`, where `bytes` bytes are free.
  Bytes FreeFrom(Bytes from, Bytes bytes, Bytes alignment) const;
  // The begin of the first range that ends above `from`; kNoLimit where there is none.
  Bytes NextBegin(Bytes from) const;

 private:
  std::vector<Range> ranges_;
};

// A segment tree over time. Each node knows two sets: `within`, the bytes that any buffer takes in
// any section below the node, and `across`, the bytes of buffers that span all sections below it
// but are noted here, not further down. What is taken in a range of sections is the union of
// `within` of the O(log n) nodes that make up the range and `across` of the nodes above them.
class Occupancy {
 public:
  // `granularity` divides every offset that will be asked for: the rest of a grain cannot be used.
  Occupancy(int32_t sections, Bytes granularity);

  // The lowest aligned offset where `bytes` > 0 bytes are free in all sections of `time`.
  Bytes FirstFit(SectionRange time, Bytes bytes, Bytes alignment) const;
  // The lowest such offset of the gap that leaves the fewest bytes free above the buffer; above
  // everything only if no gap holds it.
  Bytes BestFit(SectionRange time, Bytes bytes, Bytes alignment) const;
  void Take(SectionRange time, Bytes offset, Bytes bytes);

 private:
  struct Node {
    ByteSet within;
    ByteSet across;
  };
  using Sets = std::vector<const ByteSet*>;

  void Collect(size_t node, SectionRange span, SectionRange time) const;
  void Add(size_t node, SectionRange span, SectionRange time, ByteSet::Range range);
  Bytes FreeFrom(Bytes from, Bytes bytes, Bytes alignment) const;
  SectionRange Everything() const { return {0, sections_}; }

  int32_t sections_;
  Bytes granularity_;
  std::vector<Node> nodes_;  // node 1 is the root; 2i and 2i+1 are below i
  mutable Sets sets_;        // of the question being answered; kept to save allocations
};

}  // namespace cgrun

#endif  // CGRUN_PLAN_PLANNERS_OCCUPANCY_H_
