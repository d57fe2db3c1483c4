// A gap is closed by other choices, spent for time, or packed longer.
#include "src/budget/close_gap.h"

#include <algorithm>
#include <utility>

#include "src/budget/fit_cap.h"
#include "src/budget/plan_once.h"
#include "src/budget/recompute_at_peak.h"
#include "src/budget/spend_share.h"

namespace cgrun {
namespace {

constexpr int kFewPackings = 3;            // on the way to a bound that was missed
constexpr int kMostGapsTried = 6;          // ways to close a gap
constexpr int64_t kLeastGap = 2000;        // a gap is more than such a part of the bound
constexpr int64_t kLeastGapLeft = 20'000;  // a gap is packed longer if it is more than such a part
constexpr int64_t kGapParts = 8;           // of a gap, from none to all of which may stay
constexpr int64_t kGapPartsMore = 2;       // parts that may stay besides in the next try
constexpr int64_t kGapPartsSpent = 4;      // parts that are spent less in the next try
constexpr double kGapShare = 1.05;         // of BudgetOptions::recompute_share, without a gap

// Looks for other choices of what is recomputed, as under a cap, that take no longer, or at most a
// twentieth more than may be spent. The first aim is the bound. If that takes too long or does not
// pack, parts of the gap may stay.
MemoryLayout CloseGap(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                      const Target& target, const BudgetOptions& asked) {
  BudgetOptions options = asked;
  options.swap.reset();
  int64_t part = 0;  // of kGapParts of the gap, that may stay
  for (int tries = 0; tries < kMostGapsTried && part < kGapParts; ++tries) {
    const int64_t bound = layout.lower_bound_bytes, gap = layout.arena_bytes - bound;
    if (gap <= bound / kLeastGap) break;
    options.arena_cap = bound + part * gap / kGapParts;
    std::vector<CompiledEntry> tried = entries;
    MemoryLayout closer = PlanWithin(tried, layout, target, options,
                                     {kFewPackings, kNodesSearched, kNodesSearchedAgain});
    closer.cap_out_of_reach = false;
    const bool is_lower = closer.arena_bytes < layout.arena_bytes;
    if (part > 0 && !is_lower) break;
    const bool is_taken =
        is_lower && TakesNoLonger(tried, entries, kGapShare * asked.recompute_share);
    part = is_taken && closer.arena_bytes <= options.arena_cap ? 0 : part + kGapPartsMore;
    if (!is_taken) continue;
    entries = std::move(tried);
    layout = std::move(closer);
  }
  return layout;
}

// Spends a gap that cannot be closed: values are kept instead of recomputed, as long as the arena
// is not larger for it.
MemoryLayout SpendGap(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                      const Target& target, const BudgetOptions& options) {
  for (int64_t part = kGapParts; part > 0; part -= kGapPartsSpent) {
    const Bytes bound = layout.lower_bound_bytes, gap = layout.arena_bytes - bound;
    if (gap <= 0) break;
    std::vector<CompiledEntry> tried = entries;
    bool changed = false;
    for (CompiledEntry& entry : tried) {
      const Bytes bytes = bound + gap * part / kGapParts - layout.persistent_bytes;
      changed |= KeepWhatFits(entry, target, options, bytes);
    }
    if (!changed) continue;
    MemoryLayout spent = PlanOnce(tried, options.layout);
    const bool is_closer = spent.arena_bytes - spent.lower_bound_bytes < gap;
    if (spent.arena_bytes > layout.arena_bytes || !is_closer) continue;
    spent.recompute_saved_bytes = layout.recompute_saved_bytes;
    layout = std::move(spent);
    entries = std::move(tried);
  }
  return layout;
}

// A longer search for the same plan, where a gap is left.
MemoryLayout PackLonger(const std::vector<CompiledEntry>& entries, MemoryLayout layout,
                        LayoutOptions options) {
  const Bytes gap = layout.arena_bytes - layout.lower_bound_bytes;
  if (gap <= layout.lower_bound_bytes / kLeastGapLeft) return layout;
  options.packs_longer = true;
  MemoryLayout packed = PlanOnce(entries, options);
  if (packed.arena_bytes >= layout.arena_bytes) return layout;
  packed.recompute_saved_bytes = layout.recompute_saved_bytes;
  return packed;
}

}  // namespace

bool ClosesGaps(const BudgetOptions& options) {
  const bool is_full =
      options.effort == PlanEffort::kFull && options.layout.planner == LayoutOptions().planner;
  return is_full && options.closes_gaps && options.recompute_share > 0 &&
         !options.passes.Disabled(kRematerialisePass);
}

MemoryLayout WithoutGap(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                        const Target& target, const BudgetOptions& options) {
  if (!ClosesGaps(options) || TakesLong(entries[0].graph)) return layout;
  layout = CloseGap(entries, std::move(layout), target, options);
  layout = SpendGap(entries, std::move(layout), target, options);
  return PackLonger(entries, std::move(layout), options.layout);
}

}  // namespace cgrun
