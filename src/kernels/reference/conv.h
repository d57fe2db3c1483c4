// Finds inputs of a convolution for the kernels of conv and its gradients.
#ifndef CGRUN_KERNELS_REFERENCE_CONV_H_
#define CGRUN_KERNELS_REFERENCE_CONV_H_

#include <array>

#include "src/kernels/conv_sizes.h"
#include "src/kernels/reference/panel.h"
#include "src/ops/conv.h"

namespace cgrun::reference {

inline bool IsInside(int64_t y, int64_t x, const Window& window) {
  return y >= 0 && y < window.y.input && x >= 0 && x < window.x.input;
}

// The first inputs, at kernel position 0, of the columns [first, first + count) of a row-major
// plane of outputs; the missing ones of a panel read far outside.
template <int kColumns>
struct Origins {
  std::array<int64_t, kColumns> y, x;

  Origins(const Window& window, int64_t first, int64_t count) {
    y.fill(-(int64_t{1} << 60));
    x.fill(0);
    for (int64_t j = 0; j < count; ++j) {
      y[static_cast<size_t>(j)] = window.y.InputOf((first + j) / window.x.output, 0);
      x[static_cast<size_t>(j)] = window.x.InputOf((first + j) % window.x.output, 0);
    }
  }
};

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_CONV_H_
