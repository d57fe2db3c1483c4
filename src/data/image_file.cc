// Files are read into the arena by system calls: no stream, no heap.
#include "src/data/image_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "src/data/exif.h"
#include "src/data/image_decoder.h"
#include "src/data/options.h"
#include "src/io/file_error.h"
#include "src/io/read_file.h"

namespace cgrun {
namespace {

constexpr size_t kFirstRead = 4096;  // most headers are shorter
constexpr int64_t kArenaSlack = 4096;
constexpr char kMaskHelp[] =
    "a mask is a PNG file of one channel of 8 bits, grey or a palette, whose numbers are the "
    "labels; an array of labels makes one with Pillow: "
    "`Image.fromarray(labels.astype('uint8')).save('1.png')`";

class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : path_(path), fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0) ThrowSystemError("open", path, errno);
  }
  ~OpenFile() { close(fd_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // Reads up to out.size() bytes; fewer where the file ends.
  size_t Read(std::span<std::byte> out) { return ReadFully(fd_, path_, out); }

 private:
  const std::string& path_;
  int fd_;
};

std::span<std::byte> ReadInto(const std::string& path, int64_t bytes, ScratchArena& arena) {
  const std::span<std::byte> file = arena.Take<std::byte>(static_cast<size_t>(bytes) + 1);
  if (file.empty()) throw ImageError("has changed since the run began");
  OpenFile open_file(path);
  if (open_file.Read(file) + 1 != file.size()) throw ImageError("has changed since the run began");
  return file.first(file.size() - 1);
}

// Width and height, turned as the image is seen.
std::pair<int64_t, int64_t> SeenSize(const ImageHeader& header) {
  if (Orientation::Of(header.orientation).transposed) return {header.height, header.width};
  return {header.width, header.height};
}

std::string SizeText(const std::pair<int64_t, int64_t>& size) {
  return std::to_string(size.first) + " x " + std::to_string(size.second) + " pixels";
}

// Numbers of a byte each, at the end of `out`, become int32 in all of it. The first are never
// written over before they are read, as each goes to a place below those behind it.
void WidenToInt32(std::span<std::byte> out) {
  const size_t count = out.size() / sizeof(int32_t), first = out.size() - count;
  for (size_t i = 0; i < count; ++i) {
    const auto number = std::to_integer<int32_t>(out[first + i]);
    std::memcpy(&out[i * sizeof(number)], &number, sizeof(number));
  }
}

}  // namespace

ImageInfo ReadImageInfo(const std::string& path) {
  FileReader reader(path, FileReader::Gzip::kNever);
  const int64_t file_bytes = reader.max_bytes();
  std::vector<std::byte> start;
  int64_t wanted = std::min<int64_t>(kFirstRead, file_bytes);
  while (true) {
    const size_t before = start.size();
    // Each parse begins at the file's first byte: twice as many bytes each time keep all linear.
    const int64_t more = std::max<int64_t>(wanted, static_cast<int64_t>(2 * before));
    start.resize(static_cast<size_t>(std::min(more, file_bytes)));
    reader.Read(std::span(start).subspan(before), "its header");
    if (const auto header = ParseImageHeader(start, file_bytes, &wanted)) {
      return {*header, file_bytes};
    }
  }
}

int64_t ImageScratchBytes(const ImageInfo& image, const ImageTarget& target) {
  return image.file_bytes + image.header.decoder_bytes +
         ResampleBytes(image.header.width, image.header.height, target) + kArenaSlack;
}

void LoadImage(const std::string& path, const ImageInfo& image, const ImageTarget& target,
               ScratchArena& arena, std::span<uint8_t> out) {
  arena.Reset();
  const std::span<const std::byte> file = ReadInto(path, image.file_bytes, arena);
  const DecodedImage decoded = DecodeImage(image.header, file, arena);
  ResampleImage(decoded, image.header.orientation, target, arena, out);
}

void CheckMask(const ImageInfo& mask, const ImageInfo* image) {
  const ImageHeader& header = mask.header;
  if (header.format == ImageHeader::Format::kJpeg) {
    throw ImageError("is a JPEG image, and JPEG changes the labels", kMaskHelp);
  }
  if (header.channels != 1) {
    throw ImageError("has " + std::to_string(header.channels) + " channels, not a label a pixel",
                     kMaskHelp);
  }
  if (header.bits > 8) {
    throw ImageError("has " + std::to_string(header.bits) + " bits a pixel, not 8", kMaskHelp);
  }
  if (image == nullptr || SeenSize(header) == SeenSize(image->header)) return;
  throw ImageError(
      "has " + SizeText(SeenSize(header)) + ", and its image " + SizeText(SeenSize(image->header)),
      "a mask has a label for each pixel of its image, as it is seen: turned as its "
      "Exif orientation says");
}

int64_t MaskScratchBytes(const ImageInfo& mask) {
  return mask.file_bytes + mask.header.decoder_bytes + kArenaSlack;
}

void LoadMask(const std::string& path, const ImageInfo& mask, const ImageTarget& target,
              DType dtype, ScratchArena& arena, std::span<std::byte> out) {
  arena.Reset();
  const std::span<std::byte> file = ReadInto(path, mask.file_bytes, arena);
  const DecodedImage decoded = DecodeNumbers(mask.header, file, arena);
  const auto count = static_cast<size_t>(target.height * target.width);
  const std::span<std::byte> labels = out.last(count);
  ResampleNumbers(decoded, mask.header.orientation, target,
                  {reinterpret_cast<uint8_t*>(labels.data()), count});
  if (dtype == DType::kI32) WidenToInt32(out);
}

void CheckScratch(const ImageHeader& image, int64_t bytes, const MemoryLeft& left) {
  if (bytes <= left.bytes) return;
  throw ImageError("of " + std::to_string(image.width) + " x " + std::to_string(image.height) +
                       " pixels takes " + MemoryText(bytes) + " while it is decoded, more than " +
                       left.Text(),
                   left.Help("make the image smaller"));
}

HostTensor LoadImage(const std::string& path, const ImageTarget& target, const MemoryLeft& left) {
  try {
    const ImageInfo image = ReadImageInfo(path);
    const int64_t scratch = ImageScratchBytes(image, target);
    MemoryLeft beside = left;
    beside.bytes -= std::min(left.bytes, target.bytes());
    CheckScratch(image.header, scratch, beside);
    ScratchArena arena(static_cast<size_t>(scratch));
    HostTensor sample =
        AllocateTensor(path, DType::kU8, {target.channels, target.height, target.width});
    LoadImage(path, image, target, arena, sample.data<uint8_t>());
    return sample;
  } catch (const ImageError& error) {
    ThrowFileError(path, error.what(), error.help());
  } catch (const std::bad_alloc&) {
    ThrowFileError(path, ": there is not enough memory to decode it");
  }
}

}  // namespace cgrun
