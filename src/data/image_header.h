// Reads the headers of JPEG and PNG files, before their pixels: ParseImageHeader() is the entry
// point.
#ifndef CGRUN_DATA_IMAGE_HEADER_H_
#define CGRUN_DATA_IMAGE_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "src/base/diagnostics.h"

namespace cgrun {

// The message says what is wrong with an image. It continues a sentence that begins with the image
// ("is cut off").
class ImageError : public InputError {
 public:
  using InputError::InputError;
};

// The file is not whole, or not as it was written.
class DamagedImage : public ImageError {
 public:
  explicit DamagedImage(const std::string& what)
      : ImageError(what, "copy or fetch the file again, or leave it out") {}
};

struct ImageHeader {
  enum class Format { kJpeg, kPng };

  Format format = Format::kJpeg;
  int64_t width = 0, height = 0;  // in pixels, as stored
  int orientation = 1;            // Exif's
  int channels = 3;               // as stored: 1 of a palette's numbers
  int bits = 8;                   // of a channel
  int64_t decoder_bytes = 0;      // the most that DecodeImage() takes from its arena for this image

  friend bool operator==(const ImageHeader&, const ImageHeader&) = default;
};

// The header of a file of `file_bytes` bytes that begins with `start`; nothing where more of the
// file is wanted: then `wanted` is how much. ImageError for what is no JPEG or PNG file, for the
// kinds that are not supported (arithmetic coding, 12 bits, lossless), and for sizes that the
// file's bytes cannot hold.
std::optional<ImageHeader> ParseImageHeader(std::span<const std::byte> start, int64_t file_bytes,
                                            int64_t* wanted);

// ImageError where a whole file is damaged in a way that its decoder does not look for: a JPEG file
// that is cut off or has tables too large for its decoder, a PNG file with a wrong checksum.
void CheckImageData(const ImageHeader& header, std::span<const std::byte> file);

}  // namespace cgrun

#endif  // CGRUN_DATA_IMAGE_HEADER_H_
