// Encoders: zlib for PNG, stb_image_write for JPEG.
#include "tests/data/test_images.h"

#include <zlib.h>

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

#include "src/base/check.h"
#include "src/base/random.h"
#include "src/io/checksum.h"

namespace cgrun {
namespace {

std::string Word(uint64_t value, int bytes, bool big_endian) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text += static_cast<char>(value >> (8 * (big_endian ? bytes - 1 - i : i)));
  }
  return text;
}

}  // namespace

TestImage TestImage::Noise(int width, int height, int channels, uint64_t seed) {
  TestImage image{width, height, channels, {}};
  for (int i = 0; i < width * height * channels; ++i) {
    image.pixels.push_back(
        static_cast<uint8_t>(RandomBits(RandomKey(seed, "image"), 0, static_cast<uint64_t>(i))));
  }
  return image;
}

TestImage TestImage::Smooth(int width, int height, int channels) {
  TestImage image{width, height, channels, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const int value = c == 0 ? 20 + 200 * x / width : c == 1 ? 20 + 200 * y / height : 120;
        image.pixels.push_back(static_cast<uint8_t>(value));
      }
    }
  }
  return image;
}

TestImage TestImage::Constant(int width, int height, std::vector<uint8_t> colour) {
  TestImage image{width, height, static_cast<int>(colour.size()), {}};
  for (int i = 0; i < width * height; ++i) {
    image.pixels.insert(image.pixels.end(), colour.begin(), colour.end());
  }
  return image;
}

std::string ExifTiff(int orientation, bool big_endian) {
  const auto number = [&](uint64_t value, int bytes) { return Word(value, bytes, big_endian); };
  // The header, a directory of two entries (a width that comes first, the orientation), no next
  // one.
  return (big_endian ? "MM" : "II") + number(42, 2) + number(8, 4) + number(2, 2) + number(256, 2) +
         number(4, 2) + number(1, 4) + number(640, 4) + number(274, 2) + number(3, 2) +
         number(1, 4) + number(static_cast<uint64_t>(orientation), 2) + number(0, 2) + number(0, 4);
}

std::string PngChunk(std::string_view type, std::string_view data) {
  const std::string body = std::string(type) + std::string(data);
  const uint32_t crc = Crc32(std::as_bytes(std::span(body)));
  return Word(data.size(), 4, true) + body + Word(crc, 4, true);
}

std::string PngHeader(uint32_t width, uint32_t height, int bits, int colour, int interlaced) {
  const std::string data = Word(width, 4, true) + Word(height, 4, true) + static_cast<char>(bits) +
                           static_cast<char>(colour) + std::string(2, '\0') +
                           static_cast<char>(interlaced);
  return std::string("\x89PNG\r\n\x1A\n", 8) + PngChunk("IHDR", data);
}

std::string Deflated(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  CGRUN_CHECK(compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                        reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 6) == Z_OK);
  packed.resize(size);
  return packed;
}

std::string EncodePng(const TestImage& image, std::string_view tiff) {
  constexpr int kColours[] = {0, 0, 4, 2, 6};
  const auto line = static_cast<size_t>(image.width * image.channels);
  std::string lines;
  for (size_t y = 0; y < static_cast<size_t>(image.height); ++y) {
    lines += '\0';
    lines.append(reinterpret_cast<const char*>(image.pixels.data()) + y * line, line);
  }
  return PngHeader(static_cast<uint32_t>(image.width), static_cast<uint32_t>(image.height), 8,
                   kColours[image.channels]) +
         (tiff.empty() ? "" : PngChunk("eXIf", tiff)) + PngChunk("IDAT", Deflated(lines)) +
         PngChunk("IEND", "");
}

std::string EncodeJpeg(const TestImage& image, std::string_view tiff) {
  std::string file;
  const auto append = [](void* context, void* data, int size) {
    static_cast<std::string*>(context)->append(static_cast<char*>(data), static_cast<size_t>(size));
  };
  CGRUN_CHECK(stbi_write_jpg_to_func(append, &file, image.width, image.height, image.channels,
                                     image.pixels.data(), 95) != 0);
  if (tiff.empty()) return file;
  const std::string body = std::string("Exif\0\0", 6) + std::string(tiff);
  return file.insert(2, "\xFF\xE1" + Word(body.size() + 2, 2, true) + body);
}

TestImage Turned(const TestImage& stored, int orientation) {
  const bool transposed = orientation >= 5;
  TestImage seen{transposed ? stored.height : stored.width,
                 transposed ? stored.width : stored.height,
                 stored.channels,
                 {}};
  const int right = stored.width - 1, bottom = stored.height - 1;
  for (int y = 0; y < seen.height; ++y) {
    for (int x = 0; x < seen.width; ++x) {
      const int columns[] = {x, right - x, right - x, x, y, y, right - y, right - y};
      const int rows[] = {y, y, bottom - y, bottom - y, x, bottom - x, bottom - x, x};
      for (int c = 0; c < stored.channels; ++c) {
        seen.pixels.push_back(stored.At(columns[orientation - 1], rows[orientation - 1], c));
      }
    }
  }
  return seen;
}

}  // namespace cgrun
