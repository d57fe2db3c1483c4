// FileReader: the file's bytes as they are, or through zlib's inflate.
#include "src/io/read_file.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <new>
#include <stdexcept>

#include "src/base/check.h"
#include "src/base/diagnostics.h"
#include "src/io/file_error.h"
#include "src/io/mapped_file.h"
#include "src/io/memory_room.h"

namespace cgrun {
namespace {

constexpr int64_t kDeflateRatio = 1032;  // 258 bytes out of two bits
constexpr int kGzipOnly = 15 + 16;       // zlib: the largest window, gzip's header and trailer
constexpr Bytef kGzipByte = 0x1F;        // the first of each member
constexpr size_t kBlock = size_t{1} << 16;

int64_t SaturatedProduct(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kNoLimit : product;
}

// "99 bytes", "150.0 MiB". Below 10 MiB, a size that is rounded has its bytes too, so that it
// differs from a limit near to it: "1.0 MiB (1048577 bytes)".
std::string BytesText(int64_t bytes) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  if (bytes < kMiB) return CountText(bytes, "byte");
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f MiB", static_cast<double>(bytes) / kMiB);
  const bool rounded = bytes % kMiB != 0 && bytes < 10 * kMiB;
  return text + (rounded ? " (" + CountText(bytes, "byte") + ")" : "");
}

bool BeginsAsGzip(int fd) {
  std::array<unsigned char, 3> magic = {};
  return pread(fd, magic.data(), magic.size(), 0) == 3 && magic[0] == 0x1F && magic[1] == 0x8B &&
         magic[2] == Z_DEFLATED;
}

// Makes room for `size` elements of one byte, if the memory is there.
template <class Bytes>
void Reserve(const FileReader& reader, size_t size, Bytes* bytes) {
  if (size <= bytes->capacity()) return;
  CheckRoom(reader.path(), static_cast<int64_t>(size), "what it holds");
  bytes->reserve(size);
}

// Reads up to `most` bytes into a vector or a string that grows with what is there.
template <class Bytes>
void ReadAll(FileReader& reader, int64_t most, Bytes* bytes) {
  if (!reader.compressed())
    Reserve(reader, static_cast<size_t>(reader.max_bytes()) + kBlock, bytes);
  while (static_cast<int64_t>(bytes->size()) < most) {
    const size_t size = bytes->size();
    const size_t room = std::min(std::max(kBlock, size / 2), static_cast<size_t>(most) - size);
    Reserve(reader, size + room, bytes);
    bytes->resize(size + room);
    const size_t got = reader.ReadSome(std::as_writable_bytes(std::span(*bytes)).subspan(size));
    bytes->resize(size + got);
    if (got < room) return;
  }
}

}  // namespace

// The decompression state of one file, which its reader feeds.
class FileReader::Inflater {
 public:
  explicit Inflater(FileReader& reader) : reader_(reader) {
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }

  size_t Read(std::span<std::byte> out) {
    size_t done = 0;
    while (done < out.size() && !end_) done += Step(out.subspan(done));
    return done;
  }

 private:
  // One call of zlib; returns the bytes that it gave.
  size_t Step(std::span<std::byte> out) {
    if (other_behind_) ThrowOtherBehind();
    if (stream_.avail_in == 0 && !Refill()) {
      ThrowFileError(
          reader_.path_,
          ": the gzip data is cut off after " + std::to_string(compressed_bytes_) + " bytes",
          "the file is not whole: fetch or copy it again");
    }
    const size_t room = std::min(out.size(), size_t{1} << 30);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(room);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      end_ = !SkipPadding();
      if (!end_) BeginNextMember();
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      const std::string reason = stream_.msg != nullptr ? stream_.msg : zError(result);
      if (member_begin_ > 0 && reason == "incorrect header check") ThrowOtherBehind();
      ThrowFileError(reader_.path_, ": the gzip data is corrupt (" + reason + ")",
                     "fetch or copy the file again: `gzip -t` says of it whether it is whole");
    }
    return room - stream_.avail_out;
  }

  void BeginNextMember() {
    member_begin_ = compressed_bytes_ - static_cast<int64_t>(stream_.avail_in);
    other_behind_ = *stream_.next_in != kGzipByte;
    inflateReset(&stream_);
  }

  [[noreturn]] void ThrowOtherBehind() const {
    ThrowFileError(reader_.path_,
                   ": something else stands behind the gzip data, from byte " +
                       std::to_string(member_begin_ + 1) + " on",
                   "`gzip -dc FILE > NEW` writes what is compressed, and leaves out the rest");
  }

  // Tapes and block devices fill their last block with zeros, which gzip passes over, too. Returns
  // false at the end of the file.
  bool SkipPadding() {
    do {
      for (; stream_.avail_in > 0; --stream_.avail_in, ++stream_.next_in) {
        if (*stream_.next_in != 0) return true;
      }
    } while (Refill());
    return false;
  }

  bool Refill() {
    const size_t size = ReadFully(reader_.fd_, reader_.path_, input_);
    compressed_bytes_ += static_cast<int64_t>(size);
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(size);
    return size > 0;
  }

  FileReader& reader_;
  std::vector<std::byte> input_ = std::vector<std::byte>(kBlock);
  z_stream stream_ = {};
  int64_t compressed_bytes_ = 0;  // that were read of the file
  int64_t member_begin_ = 0;      // byte of the file where the member begins
  bool end_ = false;
  bool other_behind_ = false;  // no member comes next: reading on is an error
};

FileReader::FileReader(std::string path, Gzip gzip) : path_(std::move(path)) {
  fd_ = OpenRegular(path_, &max_bytes_);
  if (gzip == Gzip::kNever || !BeginsAsGzip(fd_)) return;
  max_bytes_ = SaturatedProduct(max_bytes_, kDeflateRatio);
  try {
    inflater_ = std::make_unique<Inflater>(*this);
  } catch (...) {
    close(fd_);
    throw;
  }
}

FileReader::~FileReader() { close(fd_); }

size_t ReadFully(int fd, const std::string& path, std::span<std::byte> out) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t size = read(fd, out.data() + done, out.size() - done);
    if (size < 0 && errno != EINTR) ThrowSystemError("read", path, errno);
    if (size == 0) break;
    if (size > 0) done += static_cast<size_t>(size);
  }
  return done;
}

size_t FileReader::ReadSome(std::span<std::byte> out) {
  const size_t size = inflater_ ? inflater_->Read(out) : ReadFully(fd_, path_, out);
  position_ += static_cast<int64_t>(size);
  return size;
}

void FileReader::Read(std::span<std::byte> out, std::string_view what) {
  if (ReadSome(out) == out.size()) return;
  ThrowFileError(path_,
                 "ends after " + std::to_string(position_) + " bytes, inside " + std::string(what));
}

void FileReader::ExpectEnd() {
  std::byte next;
  const int64_t end = position_;
  if (ReadSome({&next, 1}) == 0) return;
  ThrowFileError(path_, "goes on after " + std::to_string(end) + " bytes, where it should end");
}

namespace {

template <class Bytes>
Bytes ReadWhole(const std::string& path, int64_t limit) {
  FileReader reader(path);
  const std::string at_most = BytesText(limit) + ", the most that is expected here";
  const std::string help = "look at what it holds: it may be another file than the one meant";
  if (!reader.compressed() && reader.max_bytes() > limit) {
    ThrowFileError(path, "has " + BytesText(reader.max_bytes()) + ", over " + at_most, help);
  }
  Bytes bytes;
  try {
    ReadAll(reader, std::min(limit, kNoLimit - 1) + 1, &bytes);
  } catch (const std::bad_alloc&) {
    ThrowFileError(path, ": there is not enough memory to read it");
  }
  if (static_cast<int64_t>(bytes.size()) > limit) {
    ThrowFileError(path, "inflates to more than " + at_most, help);
  }
  return bytes;
}

}  // namespace

std::vector<std::byte> ReadFile(const std::string& path, int64_t limit) {
  return ReadWhole<std::vector<std::byte>>(path, limit);
}

std::string ReadTextFile(const std::string& path, int64_t limit) {
  return ReadWhole<std::string>(path, limit);
}

HostTensor AllocateTensor(std::string_view path, DType dtype, const std::vector<int64_t>& sizes) {
  try {
    if (CheckedByteSize(dtype, sizes)) return HostTensor(dtype, Shape::Of(sizes));
  } catch (const std::exception&) {
    // bad_alloc, or length_error for what no vector can hold
  }
  ThrowFileError(path, ": there is not enough memory for its " + Shape::Of(sizes).ToString() +
                           " elements of " + std::string(Name(dtype)));
}

HostTensor ReadTensor(FileReader& reader, DType dtype, const std::vector<int64_t>& sizes,
                      std::string_view what) {
  HostTensor tensor = AllocateTensor(reader.path(), dtype, sizes);
  reader.Read(tensor.bytes(), what);
  const auto is_bool = [](std::byte byte) { return byte <= std::byte{1}; };
  if (dtype == DType::kBool && !std::ranges::all_of(tensor.bytes(), is_bool)) {
    ThrowFileError(reader.path(), "has a bool that is neither 0 nor 1 in " + std::string(what));
  }
  return tensor;
}

}  // namespace cgrun
