// Makes the tables of offsets, once for a node.
#include "src/kernels/cpu/conv_geometry.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/ir/op_def.h"
#include "src/ops/conv.h"
#include "src/ops/conv_transpose.h"

namespace cgrun::cpu {
namespace {

// Inputs that the windows of an axis reach over, from the first corner on.
int64_t Span(const WindowAxis& axis) {
  return (axis.output - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
}

bool StaysInside(const WindowAxis& axis) { return axis.before == 0 && Span(axis) <= axis.input; }

// Returns how many inputs of an axis a padded plane holds.
int64_t Held(const WindowAxis& axis, int64_t size) {
  return std::clamp<int64_t>(size - axis.before, 0, axis.input);
}

// Returns whether images are one pixel wide. They lie in memory as images that are one pixel high,
// whose pixels are side by side, as vectors want them.
bool IsColumn(const Window& window) {
  const WindowAxis& x = window.x;
  return x.input == 1 && x.output == 1 && x.kernel == 1 && x.before == 0 && x.after == 0;
}

ConvSizes SizesOf(const NodeSignature& node) {
  if (node.op == OpId::fused) {
    const std::vector<NodeSignature> body = SignaturesInBody(node);
    return SizesOf(body[0].op == OpId::conv ? body[0] : body[1]);
  }
  const Shape &first = node.inputs[0].shape, &result = node.outputs[0].shape;
  if (node.op == OpId::conv) {
    const auto& conv = node.attributes.As<ConvAttributes>();
    return ConvSizesOf(first, result, conv.window(), conv.groups);
  }
  if (node.op == OpId::conv_transpose) {
    const auto& up = node.attributes.As<ConvTransposeAttributes>();
    return TransposedConvSizesOf(first, result, up.window(), up.groups);
  }
  const Shape& dy = node.op == OpId::conv_input_grad ? first : node.inputs[1].shape;
  const auto& grad = node.attributes.As<ConvGradAttributes>();
  return ConvSizesOf(grad.input, dy, grad.window(), grad.groups);
}

}  // namespace

std::vector<int64_t> ConvGeometry::TapOffsets() const {
  std::vector<int64_t> offsets;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t u = 0; u < window.y.kernel; ++u) {
      for (int64_t v = 0; v < window.x.kernel; ++v) {
        offsets.push_back((c * rows + u * window.y.dilation) * columns + v * window.x.dilation);
      }
    }
  }
  return offsets;
}

std::vector<int64_t> ConvGeometry::PixelOffsets() const {
  std::vector<int64_t> offsets;
  for (int64_t y = 0; y < window.y.output; ++y) {
    for (int64_t x = 0; x < window.x.output; ++x) {
      offsets.push_back(y * window.y.stride * columns + x * window.x.stride);
    }
  }
  return offsets;
}

ConvGeometry ConvGeometryOf(const NodeSignature& node) {
  ConvGeometry g{SizesOf(node)};
  if (IsColumn(g.window)) std::swap(g.window.y, g.window.x);
  g.padded = !StaysInside(g.window.y) || !StaysInside(g.window.x);
  g.rows = g.padded ? Span(g.window.y) : g.window.y.input;
  g.columns = g.padded ? Span(g.window.x) : g.window.x.input;
  return g;
}

PixelTiles PixelTilesOf(const ConvGeometry& geometry, int64_t width, int64_t most) {
  const WindowAxis &y = geometry.window.y, &x = geometry.window.x;
  const int64_t pixels = geometry.output_plane(), row = x.output;
  PixelTiles tiles{width, {}, {}};
  for (int64_t first = 0; first < pixels; first += width) {
    tiles.begin.push_back(static_cast<int64_t>(tiles.runs.size()));
    const int64_t end = std::min(first + width, pixels);
    for (int64_t pixel = first; pixel < end;) {
      const int64_t count = std::min({most, end - pixel, row - pixel % row});
      const int64_t from = pixel / row * y.stride * geometry.columns + pixel % row * x.stride;
      tiles.runs.push_back(
          {from, static_cast<int32_t>(pixel - first), static_cast<int32_t>(count)});
      pixel += count;
    }
  }
  tiles.begin.push_back(static_cast<int64_t>(tiles.runs.size()));
  return tiles;
}

void CopyIntoPadded(const ConvGeometry& g, const float* image, float* planes) noexcept {
  const WindowAxis &y = g.window.y, &x = g.window.x;
  const int64_t height = Held(y, g.rows), width = Held(x, g.columns);
  for (int64_t c = 0; c < g.channels; ++c) {
    const float* from = image + c * g.input_plane();
    float* to = planes + (c * g.rows + y.before) * g.columns + x.before;
    for (int64_t row = 0; row < height && width > 0; ++row) {
      std::memcpy(to + row * g.columns, from + row * x.input,
                  static_cast<size_t>(width) * sizeof(float));
    }
  }
}

void CopyFromPadded(const ConvGeometry& g, const float* planes, float* image) noexcept {
  const WindowAxis &y = g.window.y, &x = g.window.x;
  const int64_t height = Held(y, g.rows), width = Held(x, g.columns);
  std::fill_n(image, g.group_input(), 0.0F);
  for (int64_t c = 0; c < g.channels; ++c) {
    float* to = image + c * g.input_plane();
    const float* from = planes + (c * g.rows + y.before) * g.columns + x.before;
    for (int64_t row = 0; row < height && width > 0; ++row) {
      std::memcpy(to + row * x.input, from + row * g.columns,
                  static_cast<size_t>(width) * sizeof(float));
    }
  }
}

}  // namespace cgrun::cpu
