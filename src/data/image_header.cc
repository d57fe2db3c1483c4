// Parses the markers of JPEG (ITU-T T.81) and the chunks of PNG (ISO/IEC 15948).
#include "src/data/image_header.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "src/data/exif.h"
#include "src/data/scratch_arena.h"
#include "src/io/checksum.h"
#include "src/io/endian.h"

namespace cgrun {
namespace {

constexpr int64_t kMostDecoded = INT32_MAX;  // bytes of pixels, the decoder's own limit
constexpr int64_t kDeflateRatio = 1032;      // 258 bytes out of two bits
constexpr int64_t kSlack = 1 << 16;          // for what does not grow with the image
constexpr std::string_view kPngMagic("\x89PNG\r\n\x1A\n", 8);

int ByteAt(std::span<const std::byte> bytes, size_t at) { return std::to_integer<int>(bytes[at]); }

bool StartsWith(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

std::string SizeText(const ImageHeader& header) {
  return std::to_string(header.width) + " x " + std::to_string(header.height) + " pixels";
}

// The sizes come from a file and have 32 bits each, with up to eight bytes a pixel: nothing
// overflows.
void CheckSize(const ImageHeader& header, int64_t bytes_per_pixel, bool fits_file) {
  if (header.width < 1 || header.height < 1) {
    throw DamagedImage("declares an image of " + SizeText(header));
  }
  const bool fits = header.width <= kMostDecoded / bytes_per_pixel / header.height;
  if (!fits) {
    throw ImageError("declares " + SizeText(header) + ", more than 2 GiB",
                     "make the image smaller before it is used");
  }
  if (!fits_file) {
    throw DamagedImage("declares " + SizeText(header) + ", more than a file of its size can hold");
  }
}

// Parses the segments of a JPEG file up to the first scan.
class JpegParser {
 public:
  JpegParser(std::span<const std::byte> start, int64_t file_bytes, int64_t* wanted)
      : start_(start), file_bytes_(file_bytes), wanted_(wanted) {}

  std::optional<ImageHeader> Parse() {
    at_ = 2;
    while (true) {
      if (!FindMarker()) return std::nullopt;
      const int marker = ByteAt(start_, at_++);
      if (marker == 0xD9) throw DamagedImage("ends before its pixels");
      const bool bare = marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8);
      if (bare) continue;
      if (!Have(2)) return std::nullopt;
      const size_t length = LoadBig<uint16_t>(&start_[at_]);
      if (length < 2) throw DamagedImage("is damaged: a segment of no length");
      if (!Have(length)) return std::nullopt;
      const auto segment = start_.subspan(at_ + 2, length - 2);
      at_ += length;
      if (marker == 0xDA) break;
      ReadSegment(marker, segment);
    }
    if (!seen_frame_) throw DamagedImage("has pixels before it tells their size");
    return header_;
  }

 private:
  // Returns whether `count` more bytes are there; where the file itself ends, it is cut off.
  bool Have(size_t count) {
    if (count <= start_.size() - at_) return true;
    const auto end = static_cast<int64_t>(at_ + count);
    if (end > file_bytes_) throw DamagedImage("is cut off inside its header");
    *wanted_ = end;
    return false;
  }

  // Moves behind the next 0xFF; what fills the gap between two segments is left out.
  bool FindMarker() {
    while (true) {
      if (!Have(2)) return false;
      if (ByteAt(start_, at_) != 0xFF) {
        ++at_;
        continue;
      }
      ++at_;
      if (ByteAt(start_, at_) != 0xFF && ByteAt(start_, at_) != 0x00) return true;
    }
  }

  void ReadSegment(int marker, std::span<const std::byte> segment) {
    const bool frame =
        marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (frame) ReadFrame(marker, segment);
    constexpr std::string_view kExif("Exif\0", 5);
    if (marker != 0xE1 || seen_exif_ || segment.size() < 6 || !StartsWith(segment, kExif)) return;
    header_.orientation = ExifOrientation(segment.subspan(6));
    seen_exif_ = true;
  }

  void ReadFrame(int marker, std::span<const std::byte> segment) {
    if (seen_frame_) throw DamagedImage("is damaged: it tells its size twice");
    seen_frame_ = true;
    if (marker >= 0xC9) Refuse("arithmetic coding");
    if (marker >= 0xC3) Refuse(marker == 0xC3 ? "lossless coding" : "hierarchical coding");
    if (segment.size() < 6) throw DamagedImage("is damaged: its frame header is too short");
    const int bits = ByteAt(segment, 0);
    if (bits != 8) Refuse(std::to_string(bits) + " bits a colour");
    header_.height = LoadBig<uint16_t>(&segment[1]);
    header_.width = LoadBig<uint16_t>(&segment[3]);
    const auto components = static_cast<size_t>(ByteAt(segment, 5));
    if (segment.size() < 6 + 3 * components) {
      throw DamagedImage("is damaged: its frame header is too short");
    }
    if (components != 1 && components != 3 && components != 4) {
      Refuse(std::to_string(components) + " colours");
    }
    header_.channels = static_cast<int>(components);
    Measure(segment.subspan(6, 3 * components), marker == 0xC2);
  }

  // The decoder keeps the planes of all components in whole blocks (of a progressive image their
  // coefficients too), a line of each, and the pixels.
  void Measure(std::span<const std::byte> components, bool progressive) {
    CheckSize(header_, 4, true);
    int64_t h_most = 1, v_most = 1;
    for (size_t i = 0; i < components.size(); i += 3) {
      const int64_t h = ByteAt(components, i + 1) >> 4, v = ByteAt(components, i + 1) & 15;
      if (h < 1 || h > 4 || v < 1 || v > 4) {
        throw DamagedImage("is damaged: colours are sampled " + std::to_string(h) + " x " +
                           std::to_string(v) + " times");
      }
      h_most = std::max(h_most, h);
      v_most = std::max(v_most, v);
    }
    const int64_t units_x = (header_.width + 8 * h_most - 1) / (8 * h_most);
    const int64_t units_y = (header_.height + 8 * v_most - 1) / (8 * v_most);
    int64_t blocks = 0;
    header_.decoder_bytes = kSlack;
    for (size_t i = 0; i < components.size(); i += 3) {
      const int64_t h = ByteAt(components, i + 1) >> 4, v = ByteAt(components, i + 1) & 15;
      blocks += units_x * units_y * h * v;
      header_.decoder_bytes += header_.width;
    }
    header_.decoder_bytes += blocks * 64 * (progressive ? 3 : 1);
    header_.decoder_bytes += header_.width * header_.height * (components.size() >= 9 ? 3 : 1);
    // Each block takes a bit at least; edges that are padded may be left out.
    CheckSize(header_, 4, blocks / 4 <= file_bytes_ * 8);
  }

  [[noreturn]] static void Refuse(const std::string& what) {
    throw ImageError("is a JPEG image with " + what + ", which is not supported",
                     "convert it to a plain JPEG or PNG file");
  }

  std::span<const std::byte> start_;
  int64_t file_bytes_;
  int64_t* wanted_;
  size_t at_ = 0;
  ImageHeader header_;
  bool seen_frame_ = false, seen_exif_ = false;
};

// Parses the chunks of a PNG file up to the first one of pixels.
class PngParser {
 public:
  PngParser(std::span<const std::byte> start, int64_t file_bytes, int64_t* wanted)
      : start_(start), file_bytes_(file_bytes), wanted_(wanted) {
    header_.format = ImageHeader::Format::kPng;
  }

  std::optional<ImageHeader> Parse() {
    size_t at = kPngMagic.size();
    for (bool first = true;; first = false) {
      if (!Have(at + 8)) return std::nullopt;
      const size_t length = LoadBig<uint32_t>(&start_[at]);
      const std::string_view type(reinterpret_cast<const char*>(&start_[at + 4]), 4);
      if (first != (type == "IHDR"))
        throw DamagedImage("is damaged: its header is not in its place");
      if (type == "IDAT") break;
      if (type == "IEND") throw DamagedImage("ends before its pixels");
      if (!Have(at + 12 + length)) return std::nullopt;
      const auto data = start_.subspan(at + 8, length);
      if (first) ReadHeader(data);
      if (type == "eXIf") header_.orientation = ExifOrientation(data);
      at += 12 + length;
    }
    return header_;
  }

 private:
  bool Have(size_t end) {
    if (end <= start_.size()) return true;
    if (static_cast<int64_t>(end) > file_bytes_) throw DamagedImage("is cut off inside its header");
    *wanted_ = static_cast<int64_t>(end);
    return false;
  }

  void ReadHeader(std::span<const std::byte> data) {
    if (data.size() != 13) throw DamagedImage("is damaged: its header has another length");
    header_.width = LoadBig<uint32_t>(&data[0]);
    header_.height = LoadBig<uint32_t>(&data[4]);
    const int bits = ByteAt(data, 8), colour = ByteAt(data, 9);
    const int64_t channels = colour == 2 ? 3 : colour == 4 ? 2 : colour == 6 ? 4 : 1;
    const bool bits_fit = bits == 8 || (bits == 16 && colour != 3) ||
                          ((bits == 1 || bits == 2 || bits == 4) && (colour == 0 || colour == 3));
    const bool known = (colour == 0 || colour == 2 || colour == 3 || colour == 4 || colour == 6) &&
                       bits_fit && ByteAt(data, 10) == 0 && ByteAt(data, 11) == 0 &&
                       ByteAt(data, 12) <= 1;
    if (!known) throw DamagedImage("is damaged: no PNG image has colours like these");
    header_.channels = static_cast<int>(channels);
    header_.bits = bits;
    CheckSize(header_, 8, true);
    const int64_t line = (header_.width * bits * channels + 7) / 8 + 1;
    CheckSize(header_, 8, line * header_.height / kDeflateRatio <= file_bytes_);
    // The compressed data and its lines, in buffers that may double; the pixels, with a channel for
    // transparency, twice for an interlaced image; and what is made of a palette or of 16 bits.
    const bool interlaced = ByteAt(data, 12) == 1;
    const int64_t pixels = header_.width * header_.height;
    const int64_t out = pixels * (channels + 1) * (bits == 16 ? 2 : 1);
    const int64_t lines = (line + 8) * (header_.height + 8) * (bits < 8 ? 2 : 1);
    header_.decoder_bytes = kSlack + 2 * file_bytes_ + 2 * lines + out * (interlaced ? 2 : 1) +
                            (colour == 3 || bits == 16 ? 4 * pixels : 0);
  }

  std::span<const std::byte> start_;
  int64_t file_bytes_;
  int64_t* wanted_;
  ImageHeader header_;
};

// The Huffman tables of one segment. The decoder would write beyond its own table.
void CheckHuffmanTables(std::span<const std::byte> segment) {
  constexpr size_t kCounts = 16, kMostCodes = 256;
  while (segment.size() > kCounts) {
    size_t codes = 0;
    for (size_t i = 1; i <= kCounts; ++i) codes += static_cast<size_t>(ByteAt(segment, i));
    if (codes > kMostCodes) throw DamagedImage("is damaged: a Huffman table of too many codes");
    segment = segment.subspan(std::min(segment.size(), 1 + kCounts + codes));
  }
  if (!segment.empty()) throw DamagedImage("is damaged: a Huffman table is cut off");
}

// The segments of a whole file, between scans too. In a scan, 0xFF is followed by 0, or by the
// number of a restart, and else it begins a segment.
void CheckJpegSegments(std::span<const std::byte> file) {
  for (size_t at = 2; at + 1 < file.size();) {
    const int first = ByteAt(file, at), marker = ByteAt(file, at + 1);
    if (first != 0xFF || marker == 0xFF) {
      ++at;
      continue;
    }
    at += 2;
    if (marker == 0xD9) return;
    if (marker <= 0x01 || (marker >= 0xD0 && marker <= 0xD8)) continue;
    if (file.size() - at < 2) break;
    const size_t length = LoadBig<uint16_t>(&file[at]);
    if (length < 2 || length > file.size() - at) break;
    if (marker == 0xC4) CheckHuffmanTables(file.subspan(at + 2, length - 2));
    at += length;
  }
  throw DamagedImage("is cut off: its end is missing");
}

void CheckPngChunks(std::span<const std::byte> file) {
  for (size_t at = kPngMagic.size();;) {
    if (file.size() - at < 12) throw DamagedImage("is cut off");
    const size_t length = LoadBig<uint32_t>(&file[at]);
    if (length > file.size() - at - 12) throw DamagedImage("is cut off");
    const std::string_view type(reinterpret_cast<const char*>(&file[at + 4]), 4);
    const bool critical = (type[0] & 0x20) == 0;
    if (critical &&
        Crc32(file.subspan(at + 4, length + 4)) != LoadBig<uint32_t>(&file[at + 8 + length])) {
      throw DamagedImage("is damaged: the checksum of its part " + std::string(type) + " is wrong");
    }
    if (type == "IEND") return;
    at += 12 + length;
  }
}

}  // namespace

std::optional<ImageHeader> ParseImageHeader(std::span<const std::byte> start, int64_t file_bytes,
                                            int64_t* wanted) {
  if (file_bytes == 0) throw DamagedImage("is empty");
  if (StartsWith(start, "\xFF\xD8")) return JpegParser(start, file_bytes, wanted).Parse();
  if (StartsWith(start, kPngMagic)) return PngParser(start, file_bytes, wanted).Parse();
  throw ImageError("is neither a JPEG nor a PNG image",
                   "the ending of its name does not make it one: convert it, or leave it out");
}

void CheckImageData(const ImageHeader& header, std::span<const std::byte> file) {
  if (header.format == ImageHeader::Format::kPng) return CheckPngChunks(file);
  CheckJpegSegments(file);
}

}  // namespace cgrun
