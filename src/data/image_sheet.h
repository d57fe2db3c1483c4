// Images side by side in one PNG file: EncodeSheet() is the entry point.
#ifndef CGRUN_DATA_IMAGE_SHEET_H_
#define CGRUN_DATA_IMAGE_SHEET_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cgrun {

// Images of one size, [count, channels, height, width], as NCHW tensors have them.
struct ImageStack {
  std::span<const uint8_t> pixels;
  int64_t count = 0;
  int64_t channels = 1;  // 1 (grey) or 3 (RGB)
  int64_t height = 0, width = 0;
};

// IsSheet() looks at so many bytes.
inline constexpr size_t kSheetBegin = 64;
// Returns whether a file that begins so was written by EncodeSheet(), which says so in it.
bool IsSheet(std::string_view begin);

// A sheet of as many rows as columns, or one row fewer, row by row, with a margin of two white
// pixels around every image: the bytes of a PNG file.
std::vector<std::byte> EncodeSheet(const ImageStack& images);

}  // namespace cgrun

#endif  // CGRUN_DATA_IMAGE_SHEET_H_
