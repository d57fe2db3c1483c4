// Resampling: sizes, fits, colours and the eight orientations, against what is plain to see.
#include "src/data/image_resample.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstdlib>

#include "tests/data/test_images.h"

namespace cgrun {
namespace {

// The sample [channels, height, width] that becomes of an image.
std::vector<uint8_t> Resample(const TestImage& image, const ImageTarget& target,
                              int orientation = 1) {
  const DecodedImage decoded{image.pixels, image.width, image.height, image.channels};
  ScratchArena arena(static_cast<size_t>(ResampleBytes(image.width, image.height, target)));
  std::vector<uint8_t> out(static_cast<size_t>(target.bytes()), 77);
  ResampleImage(decoded, orientation, target, arena, out);
  return out;
}

// The planes of an image of the target's colours.
std::vector<uint8_t> Planes(const TestImage& image) {
  std::vector<uint8_t> planes;
  for (int c = 0; c < image.channels; ++c) {
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) planes.push_back(image.At(x, y, c));
    }
  }
  return planes;
}

int LargestDifference(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  int largest = a.size() == b.size() ? 0 : 256;
  for (size_t i = 0; i < a.size() && largest < 256; ++i)
    largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

constexpr ImageFit kFits[] = {ImageFit::kCover, ImageFit::kContain, ImageFit::kStretch};

TEST(ResampleTest, AnImageOfTheTargetsSizeKeepsItsValues) {
  for (int channels : {1, 3}) {
    const TestImage image = TestImage::Noise(19, 11, channels);
    for (ImageFit fit : kFits) {
      EXPECT_EQ(Resample(image, {channels, 11, 19, fit}), Planes(image));
    }
  }
}

TEST(ResampleTest, TheCentreIsCutWithoutBlur) {
  const TestImage image = TestImage::Noise(20, 11, 1);
  const std::vector<uint8_t> cut = Resample(image, {1, 11, 11, ImageFit::kCover});
  for (int y = 0; y < 11; ++y) {
    for (int x = 0; x < 11; ++x)
      EXPECT_EQ(cut[static_cast<size_t>(y * 11 + x)], image.At(x + 4, y, 0));
  }
}

TEST(ResampleTest, ContainedImagesHaveBlackBars) {
  const TestImage image = TestImage::Constant(40, 20, {200});
  const std::vector<uint8_t> out = Resample(image, {1, 8, 8, ImageFit::kContain});
  for (size_t y = 0; y < 8; ++y) {
    for (size_t x = 0; x < 8; ++x) EXPECT_EQ(out[y * 8 + x], y >= 2 && y < 6 ? 200 : 0);
  }
}

TEST(ResampleTest, HalvingTakesMeansAndDoublingLiesBetween) {
  // The filter is a triangle two pixels wide on either side: its weights are 1 3 3 1 over 8, and
  // the edge has its own.
  const TestImage image{8, 1, 1, {0, 0, 0, 80, 80, 0, 0, 0}};
  const std::vector<uint8_t> half = Resample(image, {1, 1, 4, ImageFit::kStretch});
  EXPECT_EQ(half, (std::vector<uint8_t>{0, 40, 40, 0}));
  const TestImage step{2, 1, 1, {0, 100}};
  EXPECT_EQ(Resample(step, {1, 1, 4, ImageFit::kStretch}), (std::vector<uint8_t>{0, 25, 75, 100}));
}

TEST(ResampleTest, FineStripesBecomeGrey) {  // and do not alias
  TestImage image{512, 64, 1, {}};
  for (int i = 0; i < 512 * 64; ++i) image.pixels.push_back(i % 2 == 0 ? 0 : 255);
  for (uint8_t value : Resample(image, {1, 12, 96, ImageFit::kStretch}))
    EXPECT_NEAR(value, 127.5, 12);
}

TEST(ResampleTest, Colours) {
  const TestImage red = TestImage::Constant(5, 5, {255, 0, 0});
  EXPECT_EQ(Resample(red, {1, 1, 1, {}}), (std::vector<uint8_t>{76}));
  EXPECT_EQ(Resample(red, {3, 1, 1, {}}), (std::vector<uint8_t>{255, 0, 0}));
  const TestImage grey = TestImage::Constant(5, 5, {130});
  EXPECT_EQ(Resample(grey, {3, 1, 1, {}}), (std::vector<uint8_t>{130, 130, 130}));
  const TestImage clear = TestImage::Constant(5, 5, {200, 100, 50, 51});
  EXPECT_EQ(Resample(clear, {3, 1, 1, {}}), (std::vector<uint8_t>{40, 20, 10}));
  const TestImage clear_grey = TestImage::Constant(5, 5, {200, 51});
  EXPECT_EQ(Resample(clear_grey, {3, 1, 1, {}}), (std::vector<uint8_t>{40, 40, 40}));
  EXPECT_EQ(Resample(clear_grey, {1, 1, 1, {}}), (std::vector<uint8_t>{40}));
}

TEST(ResampleTest, TheEightOrientations) {
  const TestImage stored = TestImage::Noise(23, 14, 3);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const TestImage seen = Turned(stored, orientation);
    EXPECT_EQ(Resample(stored, {3, seen.height, seen.width, ImageFit::kCover}, orientation),
              Planes(seen))
        << orientation;
    for (ImageFit fit : kFits) {
      const ImageTarget target{3, 9, 12, fit};
      EXPECT_LE(LargestDifference(Resample(stored, target, orientation), Resample(seen, target)), 1)
          << orientation;
    }
  }
}

TEST(ResampleProperty, OneColourStaysIt) {
  EXPECT_TRUE(rc::check("at any size", [] {
    const auto size = [](int most) { return *rc::gen::inRange(1, most); };
    const auto colour = *rc::gen::container<std::vector<uint8_t>>(3, rc::gen::arbitrary<uint8_t>());
    const TestImage image = TestImage::Constant(size(90), size(90), colour);
    const ImageFit fit = *rc::gen::element(ImageFit::kCover, ImageFit::kStretch);
    const ImageTarget target{3, size(60), size(60), fit};
    const std::vector<uint8_t> out = Resample(image, target, size(9));
    for (size_t i = 0; i < out.size(); ++i) {
      RC_ASSERT(out[i] == colour[i * 3 / out.size()]);
    }
  }));
}

TEST(ResampleProperty, ValuesStayBetweenTheSmallestAndTheLargest) {
  EXPECT_TRUE(rc::check("at any size", [] {
    const auto size = [](int most) { return *rc::gen::inRange(1, most); };
    TestImage image = TestImage::Noise(size(50), size(50), 1, *rc::gen::arbitrary<uint64_t>());
    for (uint8_t& value : image.pixels) value = static_cast<uint8_t>(50 + value % 100);
    const ImageTarget target{1, size(50), size(50), ImageFit::kCover};
    for (uint8_t value : Resample(image, target, size(9))) RC_ASSERT(value >= 50 && value < 150);
  }));
}

}  // namespace
}  // namespace cgrun
