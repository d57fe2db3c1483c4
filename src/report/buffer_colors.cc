// Hues in OKLCH (Ottosson, A perceptual color space for image processing, 2020), in which equal
// steps look equal.
#include "src/report/buffer_colors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cgrun {
namespace {

struct Family {
  double first, last;  // hues, in degrees
};

Family FamilyOf(Zone zone) {
  switch (zone) {
    case Zone::kForward:
      return {140, 270};  // greens and blues
    case Zone::kGradient:
      return {15, 112};  // reds and yellows
    case Zone::kOptimizer:
      return {285, 350};  // violets
    case Zone::kWorkspace:
      break;
  }
  return {250, 250};
}

int Channel(double linear) {
  const double c = std::clamp(linear, 0.0, 1.0);
  const double coded = c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
  return static_cast<int>(std::lround(255 * coded));
}

std::string FromOklch(double lightness, double chroma, double hue) {
  const double angle = hue * std::numbers::pi / 180;
  const double a = chroma * std::cos(angle), b = chroma * std::sin(angle);
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  return fmt::format("#{:02x}{:02x}{:02x}",
                     Channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                     Channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                     Channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s));
}

BufferColor OfHue(Zone zone, double hue, bool deep) {
  const bool grey = zone == Zone::kWorkspace;
  return {FromOklch(deep ? 0.88 : 0.945, grey ? 0.01 : (deep ? 0.075 : 0.042), hue),
          FromOklch(deep ? 0.50 : 0.60, grey ? 0.02 : 0.125, hue)};
}

}  // namespace

BufferColor ColorOfBuffer(Zone zone, int index) {
  constexpr int kHues = kZoneColors / 2;
  constexpr int kStride = 3;  // no divisor of kHues, so that neighbours are far apart
  const Family family = FamilyOf(zone);
  const int place = index * kStride % kHues;
  const double hue = family.first + (family.last - family.first) * place / (kHues - 1);
  return OfHue(zone, hue, index / kHues % 2 == 1);
}

}  // namespace cgrun
