// Two passes of weighted sums: along each stored row, then down the columns into sums that all rows
// of the result keep. Rows and columns are taken in the order in which they are seen, so that a
// flipped image gives the same numbers.
#include "src/data/image_resample.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/base/check.h"
#include "src/data/exif.h"

namespace cgrun {
namespace {

// Says which part of the source fills which part of the result, along one axis, in the order in
// which it is seen.
struct AxisFit {
  int64_t source = 0;     // pixels of the image
  int64_t length = 0;     // pixels of the result
  int64_t out_begin = 0;  // those that the image covers
  int64_t out_count = 0;
  double origin = 0.0;  // the place in the source where the first of them begins
  double scale = 1.0;   // source pixels a pixel of the result
};

AxisFit Stretch(int64_t source, int64_t length) {
  return {source, length, 0,
          length, 0.0,    static_cast<double>(source) / static_cast<double>(length)};
}

// The centre, cut at a whole pixel of the result, so that nothing is blurred at scale 1.
AxisFit Cover(int64_t source, int64_t length, double scale) {
  const double spare = static_cast<double>(source) / scale - static_cast<double>(length);
  return {source, length, 0, length, std::max(0.0, std::floor(spare / 2.0)) * scale, scale};
}

AxisFit Contain(int64_t source, int64_t length, double scale) {
  const auto count =
      std::clamp<int64_t>(std::llround(static_cast<double>(source) / scale), 1, length);
  AxisFit fit = Stretch(source, count);
  fit.length = length;
  fit.out_begin = (length - count) / 2;
  return fit;
}

// The source pixel in which the middle of a pixel of the result lies.
int64_t NearestPixel(const AxisFit& fit, int64_t i) {
  const double middle = fit.origin + (static_cast<double>(i) + 0.5) * fit.scale;
  return std::clamp<int64_t>(static_cast<int64_t>(std::floor(middle)), 0, fit.source - 1);
}

struct ImageFits {
  AxisFit x, y;  // as seen
};

ImageFits FitImage(int64_t width, int64_t height, const ImageTarget& target) {
  const AxisFit x = Stretch(width, target.width), y = Stretch(height, target.height);
  switch (target.fit) {
    case ImageFit::kCover: {
      const double scale = std::min(x.scale, y.scale);
      return {Cover(width, target.width, scale), Cover(height, target.height, scale)};
    }
    case ImageFit::kContain: {
      const double scale = std::max(x.scale, y.scale);
      return {Contain(width, target.width, scale), Contain(height, target.height, scale)};
    }
    case ImageFit::kStretch:
      break;
  }
  return {x, y};
}

// The source pixels that make one pixel of the result, with their weights.
struct Tap {
  int64_t first = 0, count = 0;
  const float* weights = nullptr;

  int64_t end() const { return first + count; }
};

double Radius(const AxisFit& fit) { return std::max(1.0, fit.scale); }

// Weights of one pixel, at most.
size_t WeightsEach(const AxisFit& fit) { return static_cast<size_t>(2.0 * Radius(fit)) + 3; }

std::span<const Tap> MakeTaps(const AxisFit& fit, ScratchArena& arena) {
  const auto count = static_cast<size_t>(fit.out_count);
  const std::span<Tap> taps = arena.Take<Tap>(count);
  std::span<float> weights = arena.Take<float>(count * WeightsEach(fit));
  CGRUN_CHECK(taps.size() == count && !weights.empty());
  const double radius = Radius(fit);
  for (size_t i = 0; i < count; ++i) {
    const double centre = fit.origin + (static_cast<double>(i) + 0.5) * fit.scale;
    const auto first = std::clamp<int64_t>(static_cast<int64_t>(std::floor(centre - radius + 0.5)),
                                           0, fit.source - 1);
    const auto end = std::clamp<int64_t>(static_cast<int64_t>(std::floor(centre + radius + 0.5)),
                                         first + 1, fit.source);
    const auto weight = [&](int64_t pixel) {
      const double distance = std::abs(static_cast<double>(pixel) + 0.5 - centre) / radius;
      return std::max(0.0, 1.0 - distance);
    };
    double sum = 0.0;
    for (int64_t pixel = first; pixel < end; ++pixel) sum += weight(pixel);
    for (int64_t pixel = first; pixel < end; ++pixel) {
      weights[static_cast<size_t>(pixel - first)] = sum > 0.0
                                                        ? static_cast<float>(weight(pixel) / sum)
                                                        : 1.0f / static_cast<float>(end - first);
    }
    taps[i] = {first, end - first, weights.data()};
    weights = weights.subspan(WeightsEach(fit));
  }
  return taps;
}

// Pixels `begin` to `end` of a row, in the order in which they are seen, as planes of floats
// without alpha: one plane of grey, or three colours.
void UnpackRow(const DecodedImage& image, int64_t row, bool flip, int64_t begin, int64_t end,
               bool grey, float* out) {
  const auto channels = static_cast<int64_t>(image.channels);
  const uint8_t* pixels = image.pixels.data() + row * image.width * channels;
  const bool colour = channels >= 3, alpha = channels % 2 == 0;
  for (int64_t i = begin; i < end; ++i) {
    const uint8_t* pixel = pixels + (flip ? image.width - 1 - i : i) * channels;
    const float shown = alpha ? static_cast<float>(pixel[channels - 1]) / 255.0f : 1.0f;
    if (!colour) {
      out[i] = static_cast<float>(pixel[0]) * shown;
    } else if (grey) {
      out[i] = (0.299f * static_cast<float>(pixel[0]) + 0.587f * static_cast<float>(pixel[1]) +
                0.114f * static_cast<float>(pixel[2])) *
               shown;
    } else {
      for (int64_t c = 0; c < 3; ++c) {
        out[c * image.width + i] = static_cast<float>(pixel[c]) * shown;
      }
    }
  }
}

void SumRow(std::span<const Tap> taps, const float* row, float* out) {
  for (const Tap& tap : taps) {
    float sum = 0.0f;
    for (int64_t k = 0; k < tap.count; ++k) sum += tap.weights[k] * row[tap.first + k];
    *out++ = sum;
  }
}

uint8_t ToByte(float value) { return static_cast<uint8_t>(std::clamp(value + 0.5f, 0.0f, 255.0f)); }

// Rounds the sums, lines of `planes` planes, and puts them where they are seen.
void WriteSample(std::span<const float> sums, int64_t planes, const AxisFit& along,
                 const AxisFit& down, bool transposed, const ImageTarget& target,
                 std::span<uint8_t> out) {
  std::ranges::fill(out, uint8_t{0});
  for (int64_t c = 0; c < target.channels; ++c) {
    const int64_t plane = planes == 1 ? 0 : c;
    for (int64_t b = 0; b < down.out_count; ++b) {
      const float* sum = sums.data() + (b * planes + plane) * along.out_count;
      for (int64_t a = 0; a < along.out_count; ++a) {
        const int64_t s = along.out_begin + a, t = down.out_begin + b;
        const int64_t x = transposed ? t : s, y = transposed ? s : t;
        out[static_cast<size_t>((c * target.height + y) * target.width + x)] = ToByte(sum[a]);
      }
    }
  }
}

}  // namespace

std::optional<ImageTarget> ImageTargetOf(const Shape& sample, ImageFit fit) {
  const std::vector<int64_t> sizes = sample.Sizes();
  if (sizes.size() == 2) return ImageTarget{1, sizes[0], sizes[1], fit};
  if (sizes.size() != 3 || (sizes[0] != 1 && sizes[0] != 3)) return std::nullopt;
  return ImageTarget{sizes[0], sizes[1], sizes[2], fit};
}

int64_t ResampleBytes(int64_t width, int64_t height, const ImageTarget& target) {
  const auto most_of = [](int64_t a, int64_t b) { return std::max(a, b); };
  // The axes may be exchanged: each is taken at its largest. Weights: two a source pixel, five a
  // pixel of the result.
  const int64_t length = most_of(target.width, target.height);
  const int64_t taps = length * int64_t{sizeof(Tap)} +
                       (2 * most_of(width, height) + 5 * length) * int64_t{sizeof(float)};
  const int64_t rows = 3 * (width + length) * int64_t{sizeof(float)};
  const int64_t sums = 3 * target.width * target.height * int64_t{sizeof(float)};
  return 2 * taps + rows + sums + 16 * int64_t{ScratchArena::BlockBytes(1)};
}

void ResampleImage(const DecodedImage& image, int orientation, const ImageTarget& target,
                   ScratchArena& arena, std::span<uint8_t> out) {
  const Orientation turn = Orientation::Of(orientation);
  const int64_t seen_width = turn.transposed ? image.height : image.width;
  const int64_t seen_height = turn.transposed ? image.width : image.height;
  const ImageFits fits = FitImage(seen_width, seen_height, target);
  const AxisFit& along = turn.transposed ? fits.y : fits.x;  // stored rows
  const AxisFit& down = turn.transposed ? fits.x : fits.y;

  const std::span<const Tap> along_taps = MakeTaps(along, arena), down_taps = MakeTaps(down, arena);
  const int64_t planes = image.channels <= 2 || target.channels == 1 ? 1 : 3;
  const auto line = static_cast<size_t>(planes * along.out_count);
  const std::span<float> row = arena.Take<float>(static_cast<size_t>(planes * image.width));
  const std::span<float> summed = arena.Take<float>(line);
  const std::span<float> sums = arena.Take<float>(line * static_cast<size_t>(down.out_count));
  CGRUN_CHECK(!row.empty() && !summed.empty() && !sums.empty());
  std::ranges::fill(sums, 0.0f);

  size_t next = 0;  // the first line of the result that is not done
  for (int64_t y = down_taps.front().first; y < down_taps.back().end(); ++y) {
    while (next < down_taps.size() && down_taps[next].end() <= y) ++next;
    if (next == down_taps.size()) break;
    if (down_taps[next].first > y) continue;
    UnpackRow(image, turn.flip_y ? image.height - 1 - y : y, turn.flip_x, along_taps.front().first,
              along_taps.back().end(), planes == 1, row.data());
    for (int64_t p = 0; p < planes; ++p) {
      SumRow(along_taps, row.data() + p * image.width, summed.data() + p * along.out_count);
    }
    for (size_t i = next; i < down_taps.size() && down_taps[i].first <= y; ++i) {
      if (down_taps[i].end() <= y) continue;
      const float weight = down_taps[i].weights[y - down_taps[i].first];
      float* sum = sums.data() + i * line;
      for (size_t k = 0; k < line; ++k) sum[k] += weight * summed[k];
    }
  }

  WriteSample(sums, planes, along, down, turn.transposed, target, out);
}

void ResampleNumbers(const DecodedImage& image, int orientation, const ImageTarget& target,
                     std::span<uint8_t> out) {
  CGRUN_CHECK(image.channels == 1);
  const Orientation turn = Orientation::Of(orientation);
  const ImageFits fits = turn.transposed ? FitImage(image.height, image.width, target)
                                         : FitImage(image.width, image.height, target);
  std::ranges::fill(out, uint8_t{0});
  for (int64_t j = 0; j < fits.y.out_count; ++j) {
    const int64_t y = NearestPixel(fits.y, j);
    const int64_t line = (fits.y.out_begin + j) * target.width + fits.x.out_begin;
    for (int64_t i = 0; i < fits.x.out_count; ++i) {
      const int64_t x = NearestPixel(fits.x, i);
      const int64_t a = turn.transposed ? y : x, b = turn.transposed ? x : y;
      const int64_t column = turn.flip_x ? image.width - 1 - a : a;
      const int64_t row = turn.flip_y ? image.height - 1 - b : b;
      out[static_cast<size_t>(line + i)] =
          image.pixels[static_cast<size_t>(row * image.width + column)];
    }
  }
}

}  // namespace cgrun
