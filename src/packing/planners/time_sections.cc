// Sections of time and the figures over them are computed in O(n log n).
#include "src/packing/planners/time_sections.h"

#include <algorithm>
#include <bit>

namespace cgrun {

TimeSections::TimeSections(const MemoryProblem& problem) : problem_(problem) {
  std::vector<TimePoint> lowers, uppers;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.bytes == 0) continue;
    lowers.push_back(buffer.lower);
    uppers.push_back(buffer.upper);
  }
  std::sort(lowers.begin(), lowers.end());
  std::sort(uppers.begin(), uppers.end());
  // The last birth before each death: what is alive then is alive at no other birth together.
  for (size_t birth = 0; const TimePoint death : uppers) {
    if (birth < lowers.size() && lowers[birth] >= death) continue;
    while (birth < lowers.size() && lowers[birth] < death) ++birth;
    if (steps_.empty() || steps_.back() < lowers[birth - 1]) steps_.push_back(lowers[birth - 1]);
  }
  const auto section = [this](TimePoint time) {
    return static_cast<int32_t>(std::lower_bound(steps_.begin(), steps_.end(), time) -
                                steps_.begin());
  };
  for (const Buffer& buffer : problem.buffers) {
    const bool empty = buffer.bytes == 0;
    ranges_.push_back(empty ? SectionRange()
                            : SectionRange{section(buffer.lower), section(buffer.upper)});
  }
}

std::vector<Bytes> TimeSections::Totals() const {
  std::vector<Bytes> totals(steps_.size() + 1);
  for (size_t i = 0; i < ranges_.size(); ++i) {
    totals[static_cast<size_t>(ranges_[i].begin)] += problem_.buffers[i].bytes;
    totals[static_cast<size_t>(ranges_[i].end)] -= problem_.buffers[i].bytes;
  }
  for (size_t i = 1; i < totals.size(); ++i) totals[i] += totals[i - 1];
  totals.pop_back();
  return totals;
}

std::vector<Bytes> TimeSections::LargestTotals() const {
  // levels[k][i] is the largest of the 2^k totals from i on.
  std::vector<std::vector<Bytes>> levels = {Totals()};
  for (size_t width = 2; width <= steps_.size(); width *= 2) {
    const std::vector<Bytes>& below = levels.back();
    std::vector<Bytes> level(steps_.size() - width + 1);
    for (size_t i = 0; i < level.size(); ++i) level[i] = std::max(below[i], below[i + width / 2]);
    levels.push_back(std::move(level));
  }
  std::vector<Bytes> largest;
  for (const SectionRange& range : ranges_) {
    if (range.begin == range.end) {
      largest.push_back(0);
      continue;
    }
    const auto begin = static_cast<size_t>(range.begin), end = static_cast<size_t>(range.end);
    const size_t k = std::bit_width(end - begin) - 1;
    largest.push_back(std::max(levels[k][begin], levels[k][end - (size_t{1} << k)]));
  }
  return largest;
}

std::vector<int64_t> TimeSections::ConflictCounts() const {
  std::vector<TimePoint> lowers, uppers;
  for (const Buffer& buffer : problem_.buffers) {
    if (buffer.bytes == 0) continue;
    lowers.push_back(buffer.lower);
    uppers.push_back(buffer.upper);
  }
  std::sort(lowers.begin(), lowers.end());
  std::sort(uppers.begin(), uppers.end());
  std::vector<int64_t> counts;
  for (const Buffer& buffer : problem_.buffers) {
    const auto born = std::lower_bound(lowers.begin(), lowers.end(), buffer.upper);
    const auto dead = std::upper_bound(uppers.begin(), uppers.end(), buffer.lower);
    counts.push_back((born - lowers.begin()) - (dead - uppers.begin()));
  }
  return counts;
}

}  // namespace cgrun
