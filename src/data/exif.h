// The orientation that cameras write (Exif 2.3, tag 274): how stored pixels are turned to be seen.
#ifndef CGRUN_DATA_EXIF_H_
#define CGRUN_DATA_EXIF_H_

#include <cstddef>
#include <span>

namespace cgrun {

// 1 (as stored) to 8. `tiff` is the TIFF structure, behind "Exif\0\0" in a JPEG file. 1 where it is
// damaged or says nothing.
int ExifOrientation(std::span<const std::byte> tiff);

// Maps a pixel (x, y) as seen to the stored one at column x and row y, or at column y and row x
// where `transposed`. An axis is counted from its other end where it is flipped.
struct Orientation {
  bool transposed = false;
  bool flip_x = false;  // along stored rows
  bool flip_y = false;

  static Orientation Of(int orientation);
};

}  // namespace cgrun

#endif  // CGRUN_DATA_EXIF_H_
