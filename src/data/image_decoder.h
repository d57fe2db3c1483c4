// JPEG and PNG files become pixels, without the heap: DecodeImage() is the entry point.
#ifndef CGRUN_DATA_IMAGE_DECODER_H_
#define CGRUN_DATA_IMAGE_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/data/image_header.h"
#include "src/data/scratch_arena.h"

namespace cgrun {

// Rows of pixels follow each other, with `channels` bytes a pixel: grey, grey and alpha, RGB, or
// RGB and alpha.
struct DecodedImage {
  std::span<const uint8_t> pixels;
  int64_t width = 0, height = 0;
  int channels = 0;
};

// The pixels of a whole file, in `arena`, of which header.decoder_bytes are enough. ImageError
// where it is damaged; nothing else allocates.
DecodedImage DecodeImage(const ImageHeader& header, std::span<const std::byte> file,
                         ScratchArena& arena);

// Returns the numbers that a PNG file of one channel of up to 8 bits stores. With a palette, they
// are the places in it. For grey, they are not scaled to 255. The chunks that say how to show them
// are removed from `file`.
DecodedImage DecodeNumbers(const ImageHeader& header, std::span<std::byte> file,
                           ScratchArena& arena);

}  // namespace cgrun

#endif  // CGRUN_DATA_IMAGE_DECODER_H_
