// Windows of time that keep lists of what is taken short.
#include "src/packing/planners/occupancy.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace cgrun {
namespace {

constexpr int64_t kFew = 1000;  // buffers, of which one list is short enough

// Returns half the width of windows, in sections.
int64_t HalfWidthFor(const std::vector<SectionRange>& lifespans, int32_t sections) {
  std::vector<int32_t> lengths;
  lengths.reserve(lifespans.size());
  int64_t sum = 0;
  for (const SectionRange& lifespan : lifespans) {
    const int32_t length = lifespan.end - lifespan.begin;
    if (length > 0) lengths.push_back(length);
    sum += length;
  }
  const int64_t count = std::ssize(lengths);
  if (count == 0) return sections + 1;  // no window
  const int64_t mean = sum / count, of_mean = 4 * (mean + 1);
  if (of_mean <= sections / 4 || count < kFew) return of_mean;
  const auto median = lengths.begin() + count / 2;
  std::nth_element(lengths.begin(), median, lengths.end());
  const double of_copies = 8 * static_cast<double>(mean) / std::sqrt(static_cast<double>(count));
  return std::max<int64_t>(4 * (int64_t{*median} + 1), std::llround(of_copies));
}

}  // namespace

Occupancy::Occupancy(const std::vector<SectionRange>& lifespans, AddressUnit unit) {
  int32_t sections = 0;
  for (const SectionRange& lifespan : lifespans) sections = std::max(sections, lifespan.end);
  everything_ = TakenList(unit, sections);
  const int64_t half_width = HalfWidthFor(lifespans, sections);
  if (half_width > sections / 4) return;
  half_width_ = static_cast<int32_t>(half_width);
  windows_.assign(static_cast<size_t>((sections - 1) / half_width_) + 1,
                  {TakenList(unit, sections), {}});
}

const Occupancy::Window* Occupancy::WindowFor(SectionRange time) const {
  const bool is_short = time.end - time.begin <= half_width_;
  return is_short ? &windows_[static_cast<size_t>(time.begin / half_width_)] : nullptr;
}

Bytes Occupancy::FirstFit(SectionRange time, Bytes bytes, Bytes alignment) const {
  const Window* window = WindowFor(time);
  if (window == nullptr) return everything_.FirstFit(time, bytes, alignment);
  return window->list.FirstFit(time, bytes, alignment, window->always);
}

Bytes Occupancy::BestFit(SectionRange time, Bytes bytes, Bytes alignment) const {
  const Window* window = WindowFor(time);
  if (window == nullptr) return everything_.BestFit(time, bytes, alignment);
  return window->list.BestFit(time, bytes, alignment, window->always);
}

void Occupancy::Take(SectionRange time, Bytes offset, Bytes bytes) {
  everything_.Take(time, offset, offset + bytes);
  if (windows_.empty()) return;
  const int32_t first = std::max(time.begin / half_width_ - 1, 0);
  for (int32_t i = first; i * half_width_ < time.end; ++i) {
    Window& window = windows_[static_cast<size_t>(i)];
    const int32_t begin = i * half_width_;
    if (time.begin <= begin && time.end >= begin + 2 * half_width_) {
      AddAlways(window, {offset, offset + bytes});
    } else {
      window.list.Take(time, offset, offset + bytes);
    }
  }
}

void Occupancy::AddAlways(Window& window, AddressRange range) {
  std::vector<AddressRange>& always = window.always;
  const auto behind = std::ranges::lower_bound(always, range.begin, {}, &AddressRange::begin);
  const bool joins_next = behind != always.end() && behind->begin == range.end;
  const bool joins_last = behind != always.begin() && std::prev(behind)->end == range.begin;
  if (joins_last && joins_next) {
    std::prev(behind)->end = behind->end;
    always.erase(behind);
  } else if (joins_last) {
    std::prev(behind)->end = range.end;
  } else if (joins_next) {
    behind->begin = range.begin;
  } else {
    always.insert(behind, range);
  }
}

}  // namespace cgrun
