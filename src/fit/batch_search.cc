#include "src/fit/batch_search.h"

#include <algorithm>
#include <array>
#include <set>

namespace cgrun {
namespace {

constexpr std::array<int64_t, 4> kBlocks = {8, 16, 32, 64};
constexpr int64_t kNear = 4;  // batches up to a quarter larger are tried

// Batches beyond `batch` + 1 that could fit though that does not.
std::vector<int64_t> LargerBatches(int64_t batch, int64_t samples) {
  std::vector<int64_t> larger;
  for (const int64_t block : kBlocks) {
    const int64_t next = ((batch + 1) / block + 1) * block;
    const bool is_near = kNear * (next - batch) <= batch;
    if (is_near && next <= samples && (larger.empty() || larger.back() != next)) {
      larger.push_back(next);
    }
  }
  return larger;
}

}  // namespace

std::optional<LargestBatch> FindLargestBatch(
    int64_t samples, const std::function<std::optional<bool>(int64_t batch)>& fits) {
  LargestBatch found;
  std::set<int64_t> too_large;
  while (found.batch < samples) {
    const auto above = too_large.upper_bound(found.batch);
    const bool bounded = above != too_large.end();
    const bool beyond = bounded && *above == found.batch + 1;
    const std::vector<int64_t> larger = LargerBatches(found.batch, samples);
    if (beyond && found.larger.size() == larger.size()) break;
    const int64_t batch = beyond    ? larger[found.larger.size()]
                          : bounded ? (found.batch + *above) / 2
                                    : std::clamp<int64_t>(2 * found.batch, 1, samples);
    const std::optional<bool> it_fits = too_large.contains(batch) ? false : fits(batch);
    if (!it_fits) return std::nullopt;
    if (*it_fits) {
      found = {batch, {}};
    } else {
      too_large.insert(batch);
      if (beyond) found.larger.push_back(batch);
    }
  }
  return found;
}

}  // namespace cgrun
