// Keeps the bytes that are taken in one stretch of time, sorted by address, and finds the gaps
// between. Every placement of every planner but the tree's asks it. A question is one pass over all
// that is placed, eight at a time where the processor can.
#ifndef CGRUN_PACKING_PLANNERS_TAKEN_LIST_H_
#define CGRUN_PACKING_PLANNERS_TAKEN_LIST_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <variant>
#include <vector>

#include "src/packing/memory_problem.h"

namespace cgrun {

// Sections [begin, end) of a time axis that was cut where buffers begin (see TimeSections).
struct SectionRange {
  int32_t begin = 0;
  int32_t end = 0;
};

inline bool Meet(SectionRange a, SectionRange b) { return a.begin < b.end && b.begin < a.end; }

// Bytes [begin, end). The highest of those that are free ends at kNoLimit.
struct AddressRange {
  Bytes begin = 0;
  Bytes end = 0;
};
inline constexpr Bytes kNoLimit = std::numeric_limits<Bytes>::max();

// Holds the unit in which addresses are counted.
struct AddressUnit {
  Bytes bytes = 1;         // divides all sizes, fixed offsets and the places that they lead to
  bool is_narrow = false;  // no plan in which buffers rest on each other has 2^30 of it
};

AddressUnit UnitOf(const MemoryProblem& problem);

// TakenList in units, of Number's width.
template <class Number>
class TakenBlocks {
 public:
  // As TakenList.
  explicit TakenBlocks(int32_t sections = 0)
      : slot_width_(sections == 0 ? std::numeric_limits<int32_t>::max()
                                  : (sections - 1) / kSlots + 1) {}

  void Take(SectionRange time, Number begin, Number end, int32_t id);
  // Calls `visit` with each gap that holds `bytes`, from its aligned begin to its end, from the
  // lowest to the one above everything, which ends at Number's maximum, until it returns false.
  template <class Visitor>
  void VisitGaps(SectionRange time, Number bytes, Number alignment, const Visitor& visit) const;

  // Forgets what `keep` is false for, by its id.
  template <class Keep>
  void KeepIf(const Keep& keep) {
    pool_.swap(spare_pool_);
    order_.swap(spare_order_);
    Clear();
    for (const int32_t block_id : spare_order_) {
      const Block& block = spare_pool_[static_cast<size_t>(block_id)];
      for (int lane = 0; lane < block.count; ++lane) {
        if (keep(block.id[lane])) Append(block, lane);
      }
    }
  }
  void Clear();
  size_t size() const { return size_; }

 private:
  static constexpr int kLanes = 64;
  static constexpr int kFill = 48;  // of a block that is written anew: some can be inserted
  static constexpr int kSlots = 64;
  // Each bit stands for one slot of the time axis.
  using Slots = uint64_t;
  // Sorted by `begin`, then by `from`. Behind `count` there is nothing, at no time.
  struct Block {
    Number begin[kLanes], end[kLanes];
    int32_t from[kLanes], to[kLanes];  // time
    int32_t id[kLanes];
    int count;
    Number top;         // the largest end
    Slots any;          // in which any of them is there
    SectionRange hull;  // from the first birth to the last death
    SectionRange core;  // from the last birth to the first death, which can be before it
    bool has_hole;      // between them, were they all there at once
  };

  // Those that a stretch of time has a section of.
  Slots TouchedBy(SectionRange time) const;
  void AddTime(Block& block, SectionRange time) const;
  void Note(Block& block, int lane) const;
  void NoteAll(Block& block) const;

  Block& NewBlock(size_t place);
  Block& BlockFor(Number begin, int32_t from);
  void Append(const Block& block, int lane);
  static int FindGap(const Block& block, int lane, SectionRange time, Number bytes, Number& top);

  std::vector<Block> pool_;
  std::vector<int32_t> order_;     // of those in use, which are the first of the pool
  std::vector<Block> spare_pool_;  // scratch
  std::vector<int32_t> spare_order_;
  size_t size_ = 0;
  int32_t slot_width_;  // sections
};

class TakenList {
 public:
  // `sections` of the time axis; 0 where their number is not known. A question passes over blocks
  // of many at once, then, that have nothing at its time, or no gap.
  explicit TakenList(AddressUnit unit = {}, int32_t sections = 0);

  // `begin` and `end` are multiples of the unit.
  void Take(SectionRange time, Bytes begin, Bytes end, size_t id = 0);
  // Forgets what `keep` is false for, by its id.
  template <class Keep>
  void KeepIf(const Keep& keep) {
    const auto keeps = [&keep](int32_t id) { return keep(static_cast<size_t>(id)); };
    std::visit([&keeps](auto& blocks) { blocks.KeepIf(keeps); }, blocks_);
  }
  // Returns the lowest aligned offset of a gap. In all three, `bytes` > 0 is a multiple of the
  // unit. The ranges of `always` are sorted, lie apart from each other, and are taken at all times
  // besides.
  Bytes FirstFit(SectionRange time, Bytes bytes, Bytes alignment,
                 std::span<const AddressRange> always = {}) const;
  // The tightest, the lowest of equals; above everything only if no gap holds it.
  Bytes BestFit(SectionRange time, Bytes bytes, Bytes alignment,
                std::span<const AddressRange> always = {}) const;
  // The highest of a buffer that ends at or below `limit`; -1 where there is none.
  Bytes LastFit(SectionRange time, Bytes bytes, Bytes alignment, Bytes limit) const;

  void Clear();
  size_t size() const;

 private:
  // Calls `visit` with gaps from the lowest on, until it returns false.
  template <class Visitor>
  void VisitGaps(SectionRange time, Bytes bytes, Bytes alignment,
                 std::span<const AddressRange> always, const Visitor& visit) const;

  Bytes unit_;
  std::variant<TakenBlocks<int32_t>, TakenBlocks<int64_t>> blocks_;
};

}  // namespace cgrun

#endif  // CGRUN_PACKING_PLANNERS_TAKEN_LIST_H_
