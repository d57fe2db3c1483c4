// Draws boxes, each from a block of random words.
#include "src/ops/random_box.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/base/random.h"

namespace cgrun {
namespace {

constexpr uint64_t kTries = 10;

// Every whole number from 0 to `most` is equally likely.
int64_t Place(uint32_t bits, int64_t most) {
  return static_cast<int64_t>(uint64_t{bits} * static_cast<uint64_t>(most + 1) >> 32);
}

int64_t Side(double length) { return static_cast<int64_t>(std::nearbyint(length)); }

bool IsRange(const RealList& list) { return list.size() == 2 && list[0] <= list[1]; }

}  // namespace

BoxRange BoxRange::Of(const RealList& scale, const RealList& ratio) {
  return {scale[0], scale[1], ratio[0], ratio[1]};
}

std::string FaultOfBoxRange(const RealList& scale, const RealList& ratio) {
  if (!IsRange(scale) || scale[0] <= 0 || scale[1] > 1) {
    return "`scale` needs two numbers from above 0 to 1, the smaller one first";
  }
  if (!IsRange(ratio) || ratio[0] <= 0) {
    return "`ratio` needs two numbers above 0, the smaller one first";
  }
  return "";
}

std::optional<Box> DrawBox(const BoxRange& range, uint64_t key, uint64_t step, int64_t n,
                           int64_t height, int64_t width) {
  const double area = static_cast<double>(height) * static_cast<double>(width);
  const double low = std::log(range.least_ratio), high = std::log(range.most_ratio);
  for (uint64_t i = 0; i < kTries; ++i) {
    const std::array<uint32_t, 4> words =
        Philox(key, step, static_cast<uint64_t>(n) * kBoxBlocks + i);
    const double scale =
        range.least_scale + (range.most_scale - range.least_scale) * UniformFloat(words[0]);
    const double ratio = std::exp(low + (high - low) * UniformFloat(words[1]));
    const int64_t w = Side(std::sqrt(area * scale * ratio));
    const int64_t h = Side(std::sqrt(area * scale / ratio));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    return Box{Place(words[2], height - h), Place(words[3], width - w), h, w};
  }
  return std::nullopt;
}

Box MiddleBox(double ratio, int64_t height, int64_t width) {
  Box box{0, 0, height, width};
  const double h = static_cast<double>(height), w = static_cast<double>(width);
  if (w < h * ratio) {
    box.height = std::clamp<int64_t>(Side(w / ratio), 1, height);
  } else {
    box.width = std::clamp<int64_t>(Side(h * ratio), 1, width);
  }
  box.top = (height - box.height) / 2;
  box.left = (width - box.width) / 2;
  return box;
}

}  // namespace cgrun
