// stb_image, with the arena of the thread that decodes in place of malloc.
#include "src/data/image_decoder.h"

#include <climits>
#include <cstring>
#include <string>
#include <string_view>

#include "src/base/check.h"
#include "src/io/endian.h"

namespace cgrun {
namespace {

thread_local ScratchArena* decoder_arena = nullptr;

// A damaged file must not end the process.
void Expect(bool condition) {
  if (!condition) throw DamagedImage("is damaged: its parts contradict each other");
}

}  // namespace
}  // namespace cgrun

#define STBI_MALLOC(size) cgrun::decoder_arena->Allocate(size)
#define STBI_REALLOC(block, size) cgrun::decoder_arena->Reallocate(block, size)
#define STBI_FREE(block) cgrun::decoder_arena->Free(block)
#define STBI_ASSERT(condition) cgrun::Expect(condition)
#define STBI_MAX_DIMENSIONS INT_MAX
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image.h>
#pragma GCC diagnostic pop

namespace cgrun {
namespace {

// stb_image's reasons are a word or two.
std::string ReasonText(std::string_view reason) {
  if (reason == "outofmem") return "is damaged: it holds more data than its size can need";
  return "is damaged (" + std::string(reason) + ")";
}

// The pixels of a file that has been checked.
std::span<uint8_t> Decode(const ImageHeader& header, std::span<const std::byte> file,
                          ScratchArena& arena, int* channels) {
  int width = 0, height = 0;
  decoder_arena = &arena;
  stbi_uc* pixels =
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(file.data()),
                            static_cast<int>(file.size()), &width, &height, channels, 0);
  if (pixels == nullptr) throw DamagedImage(ReasonText(stbi_failure_reason()));
  if (width != header.width || height != header.height) {
    throw DamagedImage("is damaged: it tells two sizes");
  }
  const auto size = static_cast<size_t>(width) * static_cast<size_t>(height);
  return {pixels, size * static_cast<size_t>(*channels)};
}

void Check(const ImageHeader& header, std::span<const std::byte> file) {
  if (file.size() > INT_MAX) throw ImageError("is larger than 2 GiB");
  CheckImageData(header, file);
}

// These offsets in bytes hold for a PNG file that has been checked.
constexpr size_t kFirstChunk = 8, kColourType = kFirstChunk + 17;

// Makes a palette's numbers grey, and hides the chunks that tell what is transparent.
void ForgetColours(std::span<std::byte> file) {
  constexpr std::string_view kTransparency = "tRNS", kNothing = "noNE";
  file[kColourType] = std::byte{0};
  for (size_t at = kFirstChunk; at + 8 <= file.size();) {
    if (std::memcmp(&file[at + 4], kTransparency.data(), 4) == 0) {
      std::memcpy(&file[at + 4], kNothing.data(), 4);
    }
    at += 12 + size_t{LoadBig<uint32_t>(&file[at])};
  }
}

}  // namespace

DecodedImage DecodeImage(const ImageHeader& header, std::span<const std::byte> file,
                         ScratchArena& arena) {
  Check(header, file);
  int channels = 0;
  const std::span<const uint8_t> pixels = Decode(header, file, arena, &channels);
  return {pixels, header.width, header.height, channels};
}

DecodedImage DecodeNumbers(const ImageHeader& header, std::span<std::byte> file,
                           ScratchArena& arena) {
  CGRUN_CHECK(header.format == ImageHeader::Format::kPng && header.channels == 1 &&
              header.bits <= 8);
  Check(header, file);
  ForgetColours(file);
  int channels = 0;
  const std::span<uint8_t> pixels = Decode(header, file, arena, &channels);
  if (channels != 1) throw DamagedImage("is damaged: it tells two kinds of colours");
  const int scale = 255 / ((1 << header.bits) - 1);  // the decoder makes the largest number white
  for (uint8_t& pixel : pixels) pixel = static_cast<uint8_t>(pixel / scale);
  return {pixels, header.width, header.height, 1};
}

}  // namespace cgrun
