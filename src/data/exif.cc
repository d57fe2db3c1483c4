// The first directory of a TIFF structure, of either byte order, looked through for one tag.
#include "src/data/exif.h"

#include <cstdint>

#include "src/io/endian.h"

namespace cgrun {
namespace {

constexpr uint16_t kOrientationTag = 274;
constexpr uint16_t kShort = 3;
constexpr size_t kEntryBytes = 12;

class TiffReader {
 public:
  TiffReader(std::span<const std::byte> bytes, bool big) : bytes_(bytes), big_(big) {}

  bool Has(size_t at, size_t count) const {
    return at <= bytes_.size() && count <= bytes_.size() - at;
  }
  uint16_t Short(size_t at) const {
    return big_ ? LoadBig<uint16_t>(&bytes_[at]) : LoadLittle<uint16_t>(&bytes_[at]);
  }
  uint32_t Long(size_t at) const {
    return big_ ? LoadBig<uint32_t>(&bytes_[at]) : LoadLittle<uint32_t>(&bytes_[at]);
  }

 private:
  std::span<const std::byte> bytes_;
  bool big_;
};

}  // namespace

int ExifOrientation(std::span<const std::byte> tiff) {
  if (tiff.size() < 8) return 1;
  const bool big = tiff[0] == std::byte{'M'} && tiff[1] == std::byte{'M'};
  const bool little = tiff[0] == std::byte{'I'} && tiff[1] == std::byte{'I'};
  const TiffReader reader(tiff, big);
  if ((!big && !little) || reader.Short(2) != 42) return 1;
  const size_t directory = reader.Long(4);
  if (!reader.Has(directory, 2)) return 1;
  const size_t entries = reader.Short(directory);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (!reader.Has(entry, kEntryBytes)) return 1;
    if (reader.Short(entry) != kOrientationTag) continue;
    const int value = reader.Short(entry + 8);
    const bool valid = reader.Short(entry + 2) == kShort && value >= 1 && value <= 8;
    return valid ? value : 1;
  }
  return 1;
}

Orientation Orientation::Of(int orientation) {
  switch (orientation) {
    case 2:
      return {false, true, false};
    case 3:
      return {false, true, true};
    case 4:
      return {false, false, true};
    case 5:
      return {true, false, false};
    case 6:
      return {true, false, true};
    case 7:
      return {true, true, true};
    case 8:
      return {true, true, false};
    default:
      return {};
  }
}

}  // namespace cgrun
