// Headers of JPEG and PNG: sizes, orientation, the kinds that are refused, bombs.
#include "src/data/image_header.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/data/exif.h"
#include "tests/data/test_images.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

const std::string kAgain = "\nhelp: copy or fetch the file again, or leave it out";

ImageHeader Parse(const std::string& file) {
  int64_t wanted = 0;
  const auto header = ParseImageHeader(Bytes(file), static_cast<int64_t>(file.size()), &wanted);
  EXPECT_TRUE(header.has_value());
  return header.value_or(ImageHeader());
}

std::string HeaderError(const std::string& file, int64_t bytes = 0) {
  return ErrorOf([&] {
    int64_t wanted = 0;
    const auto size = static_cast<int64_t>(file.size());
    ParseImageHeader(Bytes(file), bytes == 0 ? size : bytes, &wanted);
  });
}

TEST(ImageHeaderTest, ReadsSizesAndOrientation) {
  for (bool jpeg : {false, true}) {
    for (int orientation = 1; orientation <= 8; ++orientation) {
      for (bool big : {false, true}) {
        const TestImage image = TestImage::Smooth(37, 21, 3);
        const std::string tiff = ExifTiff(orientation, big);
        const ImageHeader header = Parse(jpeg ? EncodeJpeg(image, tiff) : EncodePng(image, tiff));
        EXPECT_EQ(header.width, 37);
        EXPECT_EQ(header.height, 21);
        EXPECT_EQ(header.orientation, orientation);
      }
    }
  }
}

TEST(ImageHeaderTest, ThePartThatIsWantedIsEnough) {
  const TestImage image = TestImage::Smooth(64, 64, 3);
  for (const std::string& file :
       {EncodeJpeg(image, ExifTiff(6, true)), EncodePng(image, ExifTiff(6, true))}) {
    const auto size = static_cast<int64_t>(file.size());
    std::optional<ImageHeader> header;
    int64_t wanted = 1;
    int rounds = 0;
    while (!header) {
      const int64_t given = std::max<int64_t>(wanted, 12);
      header = ParseImageHeader(Bytes(file).first(static_cast<size_t>(given)), size, &wanted);
      ASSERT_TRUE(header || wanted > given);
      ++rounds;
    }
    EXPECT_GT(rounds, 3);
    EXPECT_EQ(*header, Parse(file));
  }
}

TEST(ExifTest, WhatIsDamagedSaysNothing) {
  const std::string tiff = ExifTiff(6, false);
  EXPECT_EQ(ExifOrientation(Bytes(tiff)), 6);
  for (size_t size = 0; size < 34; ++size) {
    EXPECT_EQ(ExifOrientation(Bytes(tiff).first(size)), 1) << size;
  }
  EXPECT_EQ(ExifOrientation(Bytes(ExifTiff(0, false))), 1);
  EXPECT_EQ(ExifOrientation(Bytes(ExifTiff(9, true))), 1);
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const std::string damaged = Damage(tiff, seed);
    const int orientation = ExifOrientation(Bytes(damaged));
    EXPECT_TRUE(orientation >= 1 && orientation <= 8);
  }
}

TEST(ImageHeaderTest, WhatIsNoImage) {
  EXPECT_EQ(HeaderError(""), "is empty" + kAgain);
  EXPECT_EQ(HeaderError("GIF89a"),
            "is neither a JPEG nor a PNG image\nhelp: the ending of its name does not make it one: "
            "convert it, or leave it out");
  EXPECT_EQ(HeaderError("\xFF\xD8"), "is cut off inside its header" + kAgain);
  EXPECT_EQ(HeaderError("\xFF\xD8\xFF\xD9"), "ends before its pixels" + kAgain);
  const std::string jpeg = EncodeJpeg(TestImage::Smooth(8, 8, 3));
  const std::string png = EncodePng(TestImage::Smooth(8, 8, 3));
  EXPECT_EQ(HeaderError(jpeg.substr(0, 100)), "is cut off inside its header" + kAgain);
  EXPECT_EQ(HeaderError(png.substr(0, 30)), "is cut off inside its header" + kAgain);
}

// A JPEG header that ends with its frame, and a scan of no bytes.
std::string JpegFrame(int marker, int bits, int height, int width, int components = 3) {
  std::string body = {static_cast<char>(bits),   static_cast<char>(height >> 8),
                      static_cast<char>(height), static_cast<char>(width >> 8),
                      static_cast<char>(width),  static_cast<char>(components)};
  for (int i = 0; i < components; ++i) body += {static_cast<char>(i + 1), '\x11', '\0'};
  return std::string("\xFF\xD8\xFF") + static_cast<char>(marker) + '\0' +
         static_cast<char>(body.size() + 2) + body + std::string("\xFF\xDA\0\2", 4);
}

TEST(ImageHeaderTest, KindsThatAreNotSupportedSayWhich) {
  const std::string help = ", which is not supported\nhelp: convert it to a plain JPEG or PNG file";
  EXPECT_EQ(HeaderError(JpegFrame(0xC0, 8, 8, 8)), "no error");
  EXPECT_EQ(HeaderError(JpegFrame(0xC9, 8, 8, 8)), "is a JPEG image with arithmetic coding" + help);
  EXPECT_EQ(HeaderError(JpegFrame(0xC3, 8, 8, 8)), "is a JPEG image with lossless coding" + help);
  EXPECT_EQ(HeaderError(JpegFrame(0xC5, 8, 8, 8)),
            "is a JPEG image with hierarchical coding" + help);
  EXPECT_EQ(HeaderError(JpegFrame(0xC1, 12, 8, 8)), "is a JPEG image with 12 bits a colour" + help);
  EXPECT_EQ(HeaderError(JpegFrame(0xC0, 8, 8, 8, 2)), "is a JPEG image with 2 colours" + help);
  EXPECT_EQ(HeaderError(JpegFrame(0xC0, 8, 0, 8)), "declares an image of 8 x 0 pixels" + kAgain);
  EXPECT_EQ(HeaderError(PngHeader(8, 8, 8, 5)),
            "is damaged: no PNG image has colours like these" + kAgain);
  EXPECT_EQ(HeaderError(PngHeader(8, 8, 16, 3)),
            "is damaged: no PNG image has colours like these" + kAgain);
  EXPECT_EQ(HeaderError(PngHeader(0, 8, 8, 2)), "declares an image of 0 x 8 pixels" + kAgain);
}

TEST(ImageHeaderTest, BombsAreRefused) {
  const auto png = [](uint32_t width, uint32_t height) {
    return PngHeader(width, height, 8, 2) + PngChunk("IDAT", std::string(1000, 'x'));
  };
  EXPECT_EQ(HeaderError(png(100000, 100000)),
            "declares 100000 x 100000 pixels, more than 2 GiB\n"
            "help: make the image smaller before it is used");
  EXPECT_EQ(HeaderError(png(10000, 10000)),
            "declares 10000 x 10000 pixels, more than a file of its size can hold" + kAgain);
  EXPECT_EQ(HeaderError(png(4294967295, 4294967295)),
            "declares 4294967295 x 4294967295 pixels, more than 2 GiB\n"
            "help: make the image smaller before it is used");
  EXPECT_EQ(HeaderError(png(500, 500)), "no error");
  EXPECT_EQ(HeaderError(JpegFrame(0xC0, 8, 20000, 20000)),
            "declares 20000 x 20000 pixels, more than a file of its size can hold" + kAgain);
  EXPECT_EQ(HeaderError(JpegFrame(0xC0, 8, 65535, 65535)),
            "declares 65535 x 65535 pixels, more than 2 GiB\n"
            "help: make the image smaller before it is used");
}

TEST(ImageDataTest, DamageThatDecodersOverlookIsFound) {
  const std::string jpeg = EncodeJpeg(TestImage::Noise(32, 32, 3));
  const std::string png = EncodePng(TestImage::Noise(32, 32, 3));
  const auto error = [](const std::string& whole, const std::string& file) {
    return ErrorOf([&] { CheckImageData(Parse(whole), Bytes(file)); });
  };
  EXPECT_EQ(error(jpeg, jpeg), "no error");
  EXPECT_EQ(error(png, png), "no error");
  EXPECT_EQ(error(jpeg, jpeg + "trailing bytes"), "no error");
  EXPECT_EQ(error(jpeg, jpeg.substr(0, jpeg.size() - 20)),
            "is cut off: its end is missing" + kAgain);
  EXPECT_EQ(error(png, png.substr(0, png.size() - 20)), "is cut off" + kAgain);
  std::string table = jpeg;  // of 255 codes of each length
  const size_t counts = table.find("\xFF\xC4") + 5;
  table.replace(counts, 16, std::string(16, '\xFF'));
  EXPECT_EQ(error(jpeg, table), "is damaged: a Huffman table of too many codes" + kAgain);
  std::string flipped = png;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 4);
  EXPECT_EQ(error(png, flipped), "is damaged: the checksum of its part IDAT is wrong" + kAgain);
}

}  // namespace
}  // namespace cgrun
