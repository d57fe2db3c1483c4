// The sheet's pixels, and stb_image_write for the file.
#include "src/data/image_sheet.h"

#include "src/base/check.h"

#define STBI_WRITE_NO_STDIO
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace cgrun {
namespace {

constexpr int64_t kMargin = 2;
constexpr uint8_t kWhite = 255;

// The least number whose square is at least `count`.
int64_t Columns(int64_t count) {
  int64_t columns = 1;
  while (columns * columns < count) ++columns;
  return columns;
}

void Append(void* context, void* data, int size) {
  auto* file = static_cast<std::vector<std::byte>*>(context);
  const auto* bytes = static_cast<const std::byte*>(data);
  file->insert(file->end(), bytes, bytes + size);
}

// Behind the signature and the chunk IHDR of a PNG file, which both are of fixed size.
constexpr size_t kFirstChunk = 8 + 25;
constexpr std::string_view kChunk("tEXtSoftware\0cgrun", 18);  // its type, and what it holds

// A number of four bytes, the highest first.
void AppendNumber(uint32_t number, std::vector<std::byte>& bytes) {
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::byte>(number >> shift));
}

// Says in the file which program wrote it.
void Sign(std::vector<std::byte>& file) {
  std::vector<unsigned char> text(kChunk.begin(), kChunk.end());
  std::vector<std::byte> chunk;
  AppendNumber(static_cast<uint32_t>(text.size() - 4), chunk);
  for (const unsigned char c : text) chunk.push_back(static_cast<std::byte>(c));
  AppendNumber(stbiw__crc32(text.data(), static_cast<int>(text.size())), chunk);
  file.insert(file.begin() + kFirstChunk, chunk.begin(), chunk.end());
}

}  // namespace

bool IsSheet(std::string_view begin) {
  return begin.size() > kFirstChunk + 4 && begin.substr(kFirstChunk + 4).starts_with(kChunk);
}

std::vector<std::byte> EncodeSheet(const ImageStack& images) {
  CGRUN_CHECK(images.count > 0 && (images.channels == 1 || images.channels == 3));
  const int64_t columns = Columns(images.count);
  const int64_t rows = (images.count + columns - 1) / columns;
  const int64_t width = columns * (images.width + kMargin) + kMargin;
  const int64_t height = rows * (images.height + kMargin) + kMargin;
  std::vector<uint8_t> sheet(static_cast<size_t>(width * height * images.channels), kWhite);
  size_t from = 0;
  for (int64_t i = 0; i < images.count; ++i) {
    const int64_t left = kMargin + i % columns * (images.width + kMargin);
    const int64_t top = kMargin + i / columns * (images.height + kMargin);
    for (int64_t c = 0; c < images.channels; ++c) {
      for (int64_t y = 0; y < images.height; ++y) {
        for (int64_t x = 0; x < images.width; ++x, ++from) {
          const int64_t to = ((top + y) * width + left + x) * images.channels + c;
          sheet[static_cast<size_t>(to)] = images.pixels[from];
        }
      }
    }
  }
  std::vector<std::byte> file;
  const int written = stbi_write_png_to_func(
      &Append, &file, static_cast<int>(width), static_cast<int>(height),
      static_cast<int>(images.channels), sheet.data(), static_cast<int>(width * images.channels));
  CGRUN_CHECK(written != 0) << "no PNG of " << width << " x " << height;
  Sign(file);
  return file;
}

}  // namespace cgrun
