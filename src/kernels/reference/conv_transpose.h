// Computes the transpose of a convolution, which conv_transpose and conv_input_grad share. A panel
// holds what the outputs that read a few inputs hold. It is multiplied by the filters.
#ifndef CGRUN_KERNELS_REFERENCE_CONV_TRANSPOSE_H_
#define CGRUN_KERNELS_REFERENCE_CONV_TRANSPOSE_H_

#include "src/kernels/reference/conv.h"

namespace cgrun::reference {

// The output that reads input `i` at kernel position `k`, or −1.
inline int64_t OutputOf(const WindowAxis& axis, int64_t i, int64_t k) {
  const int64_t from_first = i - axis.InputOf(0, k);
  if (from_first < 0 || from_first % axis.stride != 0) return -1;
  const int64_t output = from_first / axis.stride;
  return output < axis.output ? output : -1;
}

// Goes from the output of a convolution back to its images.
template <class T>
struct TransposedConv {
  using C = Compute<T>;
  static constexpr int64_t kColumns = kPanelColumns<C>;

  // panel[f][j]: dy of filter f where it reads input first + j at (u, v); 0 where it does not.
  // Returns false if it reads none of them there.
  static bool PackReaders(const ConvSizes& p, const T* dy, int64_t first, int64_t count, int64_t u,
                          int64_t v, C* panel) {
    std::array<int64_t, kColumns> readers;
    readers.fill(-1);
    bool any = false;
    for (int64_t j = 0; j < count; ++j) {
      const int64_t row = OutputOf(p.window.y, (first + j) / p.window.x.input, u);
      const int64_t column = OutputOf(p.window.x, (first + j) % p.window.x.input, v);
      if (row < 0 || column < 0) continue;
      readers[static_cast<size_t>(j)] = row * p.window.x.output + column;
      any = true;
    }
    if (!any) return false;
    for (int64_t f = 0; f < p.filters; ++f, dy += p.output_plane(), panel += kColumns) {
      for (size_t j = 0; j < kColumns; ++j) panel[j] = readers[j] < 0 ? C(0) : Load(dy[readers[j]]);
    }
    return true;
  }

  // One group of one image. `bias`, a number a channel of dx, may be null.
  static void RunGroup(const ConvSizes& p, const T* dy, const T* weight, const T* bias, T* dx,
                       C* workspace) {
    const LeftFactor left{p.channels, p.filters, p.kernel_plane(), p.taps()};
    C* sums = workspace + p.filters * kColumns;
    for (int64_t first = 0; first < p.input_plane(); first += kColumns) {
      const int64_t count = std::min(kColumns, p.input_plane() - first);
      std::fill(sums, sums + p.channels * kColumns, C(0));
      for (int64_t tap = 0; tap < p.kernel_plane(); ++tap) {
        const int64_t u = tap / p.window.x.kernel, v = tap % p.window.x.kernel;
        if (!PackReaders(p, dy, first, count, u, v, workspace)) continue;
        AddProduct(left, weight + tap, workspace, sums);
      }
      if (bias != nullptr) AddToRows(bias, p.channels, sums);
      StoreSums(sums, p.channels, count, dx + first, p.input_plane());
    }
  }

  static void Run(const ConvSizes& p, const T* dy, const T* weight, const T* bias, T* dx,
                  C* workspace) {
    for (int64_t n = 0; n < p.images; ++n) {
      for (int64_t g = 0; g < p.groups; ++g) {
        RunGroup(p, dy, weight + g * p.group_weight(),
                 bias == nullptr ? nullptr : bias + g * p.channels, dx, workspace);
        dy += p.group_output();
        dx += p.group_input();
      }
    }
  }
};

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_CONV_TRANSPOSE_H_
