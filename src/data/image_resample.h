// Pixels of any size become a sample of one size: scaled, cut, turned and in the wanted colours.
// ResampleImage() is the entry point.
#ifndef CGRUN_DATA_IMAGE_RESAMPLE_H_
#define CGRUN_DATA_IMAGE_RESAMPLE_H_

#include <cstdint>
#include <optional>
#include <span>

#include "src/base/shape.h"
#include "src/data/image_decoder.h"
#include "src/data/scratch_arena.h"

namespace cgrun {

// If an image has other proportions than its sample, it is fitted in one of three ways. It is
// scaled to cover the sample, of which the centre is kept; scaled so that the sample contains it,
// with black bars; or stretched.
enum class ImageFit { kCover, kContain, kStretch };

struct ImageTarget {
  int64_t channels = 3;  // 1 (grey) or 3 (RGB)
  int64_t height = 0, width = 0;
  ImageFit fit = ImageFit::kCover;

  int64_t bytes() const { return channels * height * width; }
};

// The images that become samples of a shape: [channels, height, width], of 1 or 3 channels, or
// [height, width] of grey ones. Returns nothing for other shapes.
std::optional<ImageTarget> ImageTargetOf(const Shape& sample, ImageFit fit = ImageFit::kCover);

// Returns the most bytes that ResampleImage() takes from its arena for an image of this stored
// size.
int64_t ResampleBytes(int64_t width, int64_t height, const ImageTarget& target);

// Writes the image, turned as Exif's `orientation` says, to `out` as [channels, height, width]. It
// interpolates linearly with a triangle as wide as the pixels of the smaller side (antialiased). An
// image that has the target's size already keeps its values. Transparent pixels are blended with
// black; grey is 0.299 R + 0.587 G + 0.114 B.
void ResampleImage(const DecodedImage& image, int orientation, const ImageTarget& target,
                   ScratchArena& arena, std::span<uint8_t> out);

// Does the same for numbers that are no brightness, of one channel. Each pixel of [height, width]
// is the nearest one of the image, and 0 in the bars.
void ResampleNumbers(const DecodedImage& image, int orientation, const ImageTarget& target,
                     std::span<uint8_t> out);

}  // namespace cgrun

#endif  // CGRUN_DATA_IMAGE_RESAMPLE_H_
