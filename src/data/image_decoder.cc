// stb_image, with the arena of the thread that decodes in place of malloc.
#include "src/data/image_decoder.h"

#include <climits>
#include <string>
#include <string_view>

namespace cgrun {
namespace {

thread_local ScratchArena* decoder_arena = nullptr;

// A damaged file must not end the process.
void Expect(bool condition) {
  if (!condition) throw ImageError("is damaged: its parts contradict each other");
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

}  // namespace

DecodedImage DecodeImage(const ImageHeader& header, std::span<const std::byte> file,
                         ScratchArena& arena) {
  if (file.size() > INT_MAX) throw ImageError("is larger than 2 GiB");
  CheckImageData(header, file);
  int width = 0, height = 0, channels = 0;
  decoder_arena = &arena;
  const stbi_uc* pixels =
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(file.data()),
                            static_cast<int>(file.size()), &width, &height, &channels, 0);
  if (pixels == nullptr) throw ImageError(ReasonText(stbi_failure_reason()));
  if (width != header.width || height != header.height) {
    throw ImageError("is damaged: it tells two sizes");
  }
  const auto size = static_cast<size_t>(width) * static_cast<size_t>(height);
  return {{pixels, size * static_cast<size_t>(channels)}, width, height, channels};
}

}  // namespace cgrun
