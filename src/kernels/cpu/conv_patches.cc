// Gathering and scattering, row by row of the output: along a row, what lies inside is one
// interval.
#include "src/kernels/cpu/conv_patches.h"

#include <algorithm>

#include "src/kernels/cpu/blas.h"
#include "src/kernels/cpu/number.h"

namespace cgrun::cpu {
namespace {

// The outputs [first, last) of an axis that read inside the image at kernel position k.
struct Interval {
  int64_t first = 0;
  int64_t last = 0;
};

Interval InsideOf(const WindowAxis& axis, int64_t k) {
  const int64_t begin = -axis.InputOf(0, k);            // first output·stride that reads inside
  const int64_t end = axis.input - axis.InputOf(0, k);  // the first one that does not
  const auto up = [&](int64_t n) { return n <= 0 ? 0 : (n + axis.stride - 1) / axis.stride; };
  const int64_t first = std::min(up(begin), axis.output);
  return {first, std::clamp(up(end), first, axis.output)};
}

// Calls row(image row, patch row, interval of columns, first input column), or gap(patch row) for
// rows of padding alone.
template <class Row, class Gap>
void EachRow(const ConvPatches& p, Row row, Gap gap) {
  const WindowAxis &wy = p.window.y, &wx = p.window.x;
  int64_t patch = 0;  // offset in the matrix
  for (int64_t c = 0; c < p.channels; ++c) {
    for (int64_t u = 0; u < wy.kernel; ++u) {
      for (int64_t v = 0; v < wx.kernel; ++v) {
        const Interval inside = InsideOf(wx, v);
        for (int64_t o = 0; o < wy.output; ++o, patch += wx.output) {
          const int64_t y = wy.InputOf(o, u);
          if (y < 0 || y >= wy.input) {
            gap(patch);
          } else {
            row((c * wy.input + y) * wx.input, patch, inside, wx.InputOf(inside.first, v));
          }
        }
      }
    }
  }
}

}  // namespace

bool ConvPatches::IsImage() const {
  const auto trivial = [](const WindowAxis& axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.before == 0 && axis.output == axis.input;
  };
  return trivial(window.y) && trivial(window.x);
}

bool FitsBlas(const NodeSignature& node) {
  if (!AllF32OrF64(node)) return false;
  const auto fits = [](const TensorType& type) {
    return type.shape.Elements() > 0 && type.shape.Elements() <= kMostBlasSize;
  };
  return std::all_of(node.inputs.begin(), node.inputs.end(), fits) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), fits);
}

template <class T>
void GatherPatches(const ConvPatches& p, const T* image, T* patches) noexcept {
  const int64_t width = p.window.x.output, stride = p.window.x.stride;
  EachRow(
      p,
      [&](int64_t row, int64_t patch, Interval inside, int64_t column) {
        T* to = patches + patch;
        const T* from = image + row + column;
        std::fill(to, to + inside.first, T(0));
        for (int64_t o = inside.first; o < inside.last; ++o, from += stride) to[o] = *from;
        std::fill(to + inside.last, to + width, T(0));
      },
      [&](int64_t patch) { std::fill_n(patches + patch, width, T(0)); });
}

template <class T>
void ScatterPatches(const ConvPatches& p, const T* patches, T* image) noexcept {
  const int64_t stride = p.window.x.stride;
  std::fill_n(image, p.group_input(), T(0));
  EachRow(
      p,
      [&](int64_t row, int64_t patch, Interval inside, int64_t column) {
        const T* from = patches + patch;
        T* to = image + row + column;
        for (int64_t o = inside.first; o < inside.last; ++o, to += stride) *to += from[o];
      },
      [](int64_t) {});
}

template <class T>
void MultiplyTransposed(const ConvPatches& p, const T* dy, const T* weight, T* dx,
                        T* workspace) noexcept {
  const bool scatters = !p.IsImage();
  for (int64_t n = 0; n < p.images; ++n) {
    for (int64_t g = 0; g < p.groups; ++g) {
      Multiply<T>(p.taps(), p.output_plane(), p.filters,
                  {weight + g * p.group_weight(), p.taps(), true}, {dy, p.output_plane(), false},
                  T(0), scatters ? workspace : dx, p.output_plane());
      if (scatters) ScatterPatches(p, workspace, dx);
      dx += p.group_input();
      dy += p.group_output();
    }
  }
}

template void GatherPatches(const ConvPatches&, const float*, float*) noexcept;
template void GatherPatches(const ConvPatches&, const double*, double*) noexcept;
template void ScatterPatches(const ConvPatches&, const float*, float*) noexcept;
template void ScatterPatches(const ConvPatches&, const double*, double*) noexcept;
template void MultiplyTransposed(const ConvPatches&, const float*, const float*, float*,
                                 float*) noexcept;
template void MultiplyTransposed(const ConvPatches&, const double*, const double*, double*,
                                 double*) noexcept;

}  // namespace cgrun::cpu
