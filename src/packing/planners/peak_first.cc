// The part at the peak, and what is placed around it.
#include "src/packing/planners/peak_first.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/packing/planners/ladder.h"
#include "src/packing/planners/squeaky_wheel.h"

namespace cgrun {
namespace {

// From what is hardly more than the peak to nearly all: the less there is, the sooner it is placed,
// and the less is known of what comes around it.
constexpr double kShareOf[PeakFirst::kShares] = {0.9, 0.75, 0.97, 0.5};

}  // namespace

PeakProblem PeakProblemOf(const MemoryProblem& problem, const TimeSections& sections,
                          double share) {
  const std::vector<Bytes> totals = sections.Totals();
  Bytes fullest = 0;
  for (const Bytes total : totals) fullest = std::max(fullest, total);
  std::vector<int32_t> full = {0};  // of each section: how many before it are full
  for (const Bytes total : totals) {
    const bool is_full = static_cast<double>(total) >= share * static_cast<double>(fullest);
    full.push_back(full.back() + (is_full ? 1 : 0));
  }
  PeakProblem peak;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    const SectionRange range = sections.ranges()[i];
    const bool at_peak =
        full[static_cast<size_t>(range.begin)] < full[static_cast<size_t>(range.end)];
    if (!at_peak && !(buffer.offset && buffer.bytes > 0)) continue;
    peak.problem.buffers.push_back(buffer);
    peak.problem.buffers.back().name.clear();
    peak.ids.push_back(BufferId(static_cast<int64_t>(i)));
  }
  return peak;
}

PeakFirst::PeakFirst(const MemoryProblem& problem, const TimeSections& sections)
    : problem_(problem), sections_(sections), peaks_(std::size(kShareOf)) {}

PeakFirst::Peak& PeakFirst::PeakOf(size_t share) {
  std::unique_ptr<Peak>& peak = peaks_[share];
  if (peak) return *peak;
  peak = std::make_unique<Peak>();
  peak->part = PeakProblemOf(problem_, sections_, kShareOf[share]);
  peak->sections = std::make_unique<TimeSections>(peak->part.problem);
  if (Ladder::Fits(peak->part.problem, *peak->sections)) {
    peak->search = std::make_unique<TreeSearch>(peak->part.problem, *peak->sections);
  }
  return *peak;
}

SearchOutcome PeakFirst::Run(Bytes capacity, int64_t nodes, Effort& effort) {
  const size_t share = turn_ % std::size(kShareOf), round = turn_ / std::size(kShareOf);
  ++turn_;
  effort.Spend(1);
  const Peak& peak = PeakOf(share);
  if (!peak.search) return SearchOutcome::kStopped;
  const Preorder& order = kPreorders[(round + share) % std::size(kPreorders)];
  const uint64_t variation = round / std::size(kPreorders);
  const SearchOutcome outcome = peak.search->Run(capacity, order, nodes, effort, variation);
  if (outcome != SearchOutcome::kFound) return outcome;
  return PlaceAround(peak, capacity, nodes, effort) ? SearchOutcome::kFound
                                                    : SearchOutcome::kStopped;
}

bool PeakFirst::PlaceAround(const Peak& peak, Bytes capacity, int64_t nodes, Effort& effort) {
  MemoryProblem around = problem_;
  for (size_t k = 0; k < peak.part.ids.size(); ++k) {
    around.buffers[static_cast<size_t>(peak.part.ids[k].index)].offset = peak.search->offsets()[k];
  }
  SqueakyWheel wheel(around, sections_);
  if (!wheel.Run(capacity, nodes, effort)) return false;
  offsets_ = wheel.offsets();
  return true;
}

}  // namespace cgrun
