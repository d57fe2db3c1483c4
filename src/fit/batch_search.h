// The search for the largest batch that fits into memory.
#ifndef CGRUN_FIT_BATCH_SEARCH_H_
#define CGRUN_FIT_BATCH_SEARCH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace cgrun {

// `batch` fits. Its successor does not, unless it has all samples; nor do those of `larger`.
struct LargestBatch {
  int64_t batch = 0;  // 0: not even one sample fits
  std::vector<int64_t> larger;
};

// Totals do not grow evenly with the batch: kernels are chosen for it, and those for whole blocks
// can need less. The search doubles the batch until one does not fit. It then goes back by halves,
// until a batch fits and its successor does not. Then it tries multiples of 8 to 64 beyond that, up
// to a quarter more. If one of them fits, the search goes on from there. `fits` is asked once at
// most about each batch. If it does not know, the result is nothing.
std::optional<LargestBatch> FindLargestBatch(
    int64_t samples, const std::function<std::optional<bool>(int64_t batch)>& fits);

}  // namespace cgrun

#endif  // CGRUN_FIT_BATCH_SEARCH_H_
