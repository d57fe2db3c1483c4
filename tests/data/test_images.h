// Images of tests: PNG and JPEG files made in memory, with Exif's orientation, whole or damaged.
#ifndef CGRUN_TESTS_DATA_TEST_IMAGES_H_
#define CGRUN_TESTS_DATA_TEST_IMAGES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cgrun {

// Holds rows of pixels, `channels` bytes each: grey, grey and alpha, RGB, RGB and alpha.
struct TestImage {
  int width = 0, height = 0, channels = 3;
  std::vector<uint8_t> pixels;

  // Every pixel another colour, as far as there are; `seed` changes them.
  static TestImage Noise(int width, int height, int channels, uint64_t seed = 0);
  // Colours that change slowly, so that JPEG keeps them.
  static TestImage Smooth(int width, int height, int channels);
  static TestImage Constant(int width, int height, std::vector<uint8_t> colour);

  uint8_t At(int x, int y, int c) const {
    return pixels[static_cast<size_t>((y * width + x) * channels + c)];
  }
};

// The TIFF structure that says one orientation.
std::string ExifTiff(int orientation, bool big_endian);

// A PNG file; `tiff`, if there is one, in a chunk eXIf.
std::string EncodePng(const TestImage& image, std::string_view tiff = "");
// These make the parts of a PNG file with a header of one's own: width, height, bits, colour type,
// interlacing.
std::string PngChunk(std::string_view type, std::string_view data);
std::string PngHeader(uint32_t width, uint32_t height, int bits, int colour, int interlaced = 0);

// The data of a PNG file's pixels: each line begins with the number of its filter, 0 for none.
std::string Deflated(std::string_view lines);

// A JPEG file of quality 95; `tiff`, if there is one, in a segment APP1.
std::string EncodeJpeg(const TestImage& image, std::string_view tiff = "");

// Returns the stored image as it is to be seen with `orientation`, by Exif's table of where row 0
// and column 0 are.
TestImage Turned(const TestImage& stored, int orientation);

}  // namespace cgrun

#endif  // CGRUN_TESTS_DATA_TEST_IMAGES_H_
