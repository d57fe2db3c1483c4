// Says which windows see which inputs, axis by axis, as tables that are made for pooling when it is
// prepared.
#ifndef CGRUN_KERNELS_REFERENCE_REACH_H_
#define CGRUN_KERNELS_REFERENCE_REACH_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/ops/window.h"

namespace cgrun::reference {

// The kernel positions [first, last) at which an output sees the image, not padding.
struct Reach {
  int64_t first = 0;
  int64_t last = 0;
  int64_t origin = 0;  // the input at kernel position 0, maybe outside
};

// Returns a reach for each output.
inline std::vector<Reach> ReachesOf(const WindowAxis& axis) {
  std::vector<Reach> reaches;
  for (int64_t o = 0; o < axis.output; ++o) {
    Reach reach{0, axis.kernel, axis.InputOf(o, 0)};
    while (reach.first < reach.last && axis.InputOf(o, reach.first) < 0) ++reach.first;
    while (reach.last > reach.first && axis.InputOf(o, reach.last - 1) >= axis.input) --reach.last;
    reaches.push_back(reach);
  }
  return reaches;
}

// Counts, for each output, the positions of its window in the padded image, or in the image. An
// average of a window divides by the product of both axes' counts.
inline std::vector<int64_t> CountsOf(const WindowAxis& axis, bool include_padding) {
  std::vector<int64_t> counts;
  for (const Reach& reach : ReachesOf(axis)) {
    const int64_t end = std::min(reach.origin + axis.kernel, axis.input + axis.after);
    counts.push_back(include_padding ? end - reach.origin : reach.last - reach.first);
  }
  return counts;
}

// An output that sees an input at a kernel position.
struct Reader {
  int64_t output = 0;
  int64_t position = 0;
};

// The readers of input i, in order, are all[begin[i]] to all[begin[i + 1]].
struct Readers {
  std::vector<Reader> all;
  std::vector<size_t> begin;
};

inline Readers ReadersOf(const WindowAxis& axis) {
  std::vector<std::vector<Reader>> by_input(static_cast<size_t>(axis.input));
  const std::vector<Reach> reaches = ReachesOf(axis);
  for (int64_t o = 0; o < axis.output; ++o) {
    const Reach& reach = reaches[static_cast<size_t>(o)];
    for (int64_t k = reach.first; k < reach.last; ++k) {
      by_input[static_cast<size_t>(axis.InputOf(o, k))].push_back({o, k});
    }
  }
  Readers readers;
  for (const std::vector<Reader>& some : by_input) {
    readers.begin.push_back(readers.all.size());
    readers.all.insert(readers.all.end(), some.begin(), some.end());
  }
  readers.begin.push_back(readers.all.size());
  return readers;
}

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_REACH_H_
