// Image files: what they hold, without their pixels, and samples made of them. LoadImage() is the
// entry point.
#ifndef CGRUN_DATA_IMAGE_FILE_H_
#define CGRUN_DATA_IMAGE_FILE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "src/base/host_tensor.h"
#include "src/data/image_header.h"
#include "src/data/image_resample.h"
#include "src/data/options.h"
#include "src/data/scratch_arena.h"
#include "src/io/read_file.h"

namespace cgrun {

// The names of image files have these endings, for HasEnding().
inline constexpr std::string_view kImageEndings[] = {".jpg", ".jpeg", ".png"};

struct ImageInfo {
  ImageHeader header;
  int64_t file_bytes = 0;
};

// Reads the front of a JPEG or PNG file. ImageError; UserError where the file cannot be read.
ImageInfo ReadImageInfo(const std::string& path);

// Bytes of an arena in which this image becomes a sample.
int64_t ImageScratchBytes(const ImageInfo& image, const ImageTarget& target);

// ImageError where an image takes more memory while it is decoded, `bytes`, than is `left`.
void CheckScratch(const ImageHeader& image, int64_t bytes, const MemoryLeft& left);

// Writes the sample [channels, height, width] to `out`, working in `arena` alone. ImageError where
// it is damaged or has changed since `image` was read; UserError where the file cannot be read.
void LoadImage(const std::string& path, const ImageInfo& image, const ImageTarget& target,
               ScratchArena& arena, std::span<uint8_t> out);

// A mask: an image of one label a pixel.
//
// ImageError where `mask` cannot be one, or is none of `image` by its size; null: of no size.
void CheckMask(const ImageInfo& mask, const ImageInfo* image);

// Bytes of an arena in which this mask becomes labels.
int64_t MaskScratchBytes(const ImageInfo& mask);

// Writes the labels [height, width], fitted as LoadImage() fits the mask's image, to `out` as
// uint8 or int32. Errors as above.
void LoadMask(const std::string& path, const ImageInfo& mask, const ImageTarget& target,
              DType dtype, ScratchArena& arena, std::span<std::byte> out);

// LoadImage() with memory of its own: no more than is `left`. UserError, which names the file.
HostTensor LoadImage(const std::string& path, const ImageTarget& target,
                     const MemoryLeft& left = {});

}  // namespace cgrun

#endif  // CGRUN_DATA_IMAGE_FILE_H_
