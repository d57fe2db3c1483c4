// The tree is updated from the leaves upwards, without recursion.
#include "src/plan/bytes_over_time.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace cgrun {

BytesOverTime::BytesOverTime(const std::vector<Bytes>& bytes)
    : steps_(bytes.empty() ? 0 : std::bit_ceil(bytes.size())),
      added_(2 * steps_ + 2),
      most_(2 * steps_ + 2, std::numeric_limits<Bytes>::min() / 2) {
  std::copy(bytes.begin(), bytes.end(), most_.begin() + static_cast<std::ptrdiff_t>(steps_));
  for (size_t i = steps_; i-- > 1;) most_[i] = std::max(most_[2 * i], most_[2 * i + 1]);
}

void BytesOverTime::Add(Bytes bytes, TimePoint lower, TimePoint upper) {
  if (lower >= upper) return;
  const auto add = [&](size_t i) {
    added_[i] += bytes;
    most_[i] += bytes;
  };
  const size_t first = steps_ + static_cast<size_t>(lower);
  const size_t last = steps_ + static_cast<size_t>(upper) - 1;
  for (size_t begin = first, end = last + 1; begin < end; begin /= 2, end /= 2) {
    if (begin % 2 == 1) add(begin++);
    if (end % 2 == 1) add(--end);
  }
  for (size_t of : {first, last}) {
    for (size_t i = of / 2; i >= 1; i /= 2) {
      most_[i] = std::max(most_[2 * i], most_[2 * i + 1]) + added_[i];
    }
  }
}

}  // namespace cgrun
