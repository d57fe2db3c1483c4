// Computes color_jitter sample by sample. If contrast needs the mean grey, it is computed first.
// The pixels follow one by one.
#include "src/ops/color_jitter.h"

#include <algorithm>
#include <cmath>

#include "src/kernels/reference/bilinear.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct ColorJitterParameters {
  ColorRange range;
  int64_t samples = 0;
  int64_t channels = 3;
  int64_t pixels = 0;  // of a plane
  double unit = 1;     // the number that stands for 1: 255 of uint8
};

// From 0 to 1 each. Those of a grey image are the same.
struct Colour {
  double red = 0;
  double green = 0;
  double blue = 0;

  double Grey() const { return 0.2989 * red + 0.587 * green + 0.114 * blue; }
};

// NaN stays.
double Within(double value) { return std::isnan(value) ? value : std::clamp(value, 0.0, 1.0); }

// factor·x + (1 − factor)·other.
Colour Blend(const Colour& x, double other, double factor) {
  const double rest = (1 - factor) * other;
  return {Within(factor * x.red + rest), Within(factor * x.green + rest),
          Within(factor * x.blue + rest)};
}

// The colour `turn` turns of the colour circle further, with the same value and saturation in HSV.
Colour Turned(const Colour& x, double turn) {
  const double value = std::max({x.red, x.green, x.blue});
  const double range = value - std::min({x.red, x.green, x.blue});
  if (!(range > 0)) return x;
  double sixth = value == x.red     ? (x.green - x.blue) / range
                 : value == x.green ? 2 + (x.blue - x.red) / range
                                    : 4 + (x.red - x.green) / range;
  sixth += 6 * turn;
  sixth -= 6 * std::floor(sixth / 6);
  // A channel falls by `range` over the sixths that lie further than two from its own.
  const auto channel = [&](double own) {
    const double distance = std::abs(std::remainder(sixth - own, 6));
    return value - range * std::clamp(distance - 1, 0.0, 1.0);
  };
  return {channel(0), channel(2), channel(4)};
}

template <class T>
struct Planes {
  const T* x;
  int64_t channels;
  int64_t pixels;
  double unit;

  Colour At(int64_t pixel) const {
    const double red = LoadF64(x[pixel]) / unit;
    if (channels == 1) return {red, red, red};
    return {red, LoadF64(x[pixels + pixel]) / unit, LoadF64(x[2 * pixels + pixel]) / unit};
  }
  double Grey(const Colour& colour) const { return channels == 1 ? colour.red : colour.Grey(); }
};

template <class T>
double MeanGrey(const Planes<T>& planes, double brightness) {
  double sum = 0;
  for (int64_t i = 0; i < planes.pixels; ++i) {
    sum += planes.Grey(Blend(planes.At(i), 0, brightness));
  }
  return sum / static_cast<double>(planes.pixels);
}

template <class T>
void Change(const Planes<T>& planes, const ColorChange& change, T* y) {
  const double mean = change.contrast == 1 ? 0 : MeanGrey(planes, change.brightness);
  for (int64_t i = 0; i < planes.pixels; ++i) {
    Colour colour = planes.At(i);
    if (change.brightness != 1) colour = Blend(colour, 0, change.brightness);
    if (change.contrast != 1) colour = Blend(colour, mean, change.contrast);
    if (planes.channels == 3) {
      if (change.saturation != 1) colour = Blend(colour, colour.Grey(), change.saturation);
      if (change.hue != 0) colour = Turned(colour, change.hue);
      y[planes.pixels + i] = RoundPixel<T>(colour.green * planes.unit);
      y[2 * planes.pixels + i] = RoundPixel<T>(colour.blue * planes.unit);
    }
    y[i] = RoundPixel<T>(colour.red * planes.unit);
  }
}

template <class T>
struct ColorJitter {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ColorJitterParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    const auto step = static_cast<uint64_t>(*Data<const int64_t>(context, i, 1));
    T* y = Data<T>(context, i, 2);
    const int64_t elements = p.channels * p.pixels;
    for (int64_t n = 0; n < p.samples; ++n, x += elements, y += elements) {
      const ColorChange change = p.range.ChangeOf(step, n);
      Change(Planes<T>{x, p.channels, p.pixels, p.unit}, change, y);
    }
  }
};

PreparedKernel PrepareColorJitter(const KernelRequest& request) {
  const TensorType& x = request.node.inputs[0];
  const auto& a = request.node.attributes.As<ColorJitterAttributes>();
  return PreparedKernel::Of(
      ForPixels<ColorJitter>(x.dtype),
      ColorJitterParameters{ColorRange::Of(a), x.shape[0].size, x.shape[1].size,
                            x.shape[2].size * x.shape[3].size,
                            x.dtype == DType::kU8 ? 255.0 : 1.0});
}

}  // namespace

KernelDef color_jitter() {
  return {.name = "reference.color_jitter",
          .supports = HasReferencePixels,
          .prepare = PrepareColorJitter};
}

}  // namespace cgrun::reference
