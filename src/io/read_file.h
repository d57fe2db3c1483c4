// Reading files from front to end, plain or compressed by gzip, with errors that name the file.
#ifndef CGRUN_IO_READ_FILE_H_
#define CGRUN_IO_READ_FILE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/host_tensor.h"

namespace cgrun {

// A caller without a cap of its own passes this as the largest size.
inline constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// Every call throws UserError: the system's reason ("cannot open 'x': Permission denied"), or that
// compressed data is cut off or corrupt (its checksum is tested where it ends).
class FileReader {
 public:
  enum class Gzip { kDetect, kNever };

  // Opens a regular file. With kDetect, one that begins as gzip does is inflated while it is read;
  // several gzip members in a row are one text.
  explicit FileReader(std::string path, Gzip gzip = Gzip::kDetect);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  const std::string& path() const { return path_; }
  bool compressed() const { return inflater_ != nullptr; }
  // Bytes that were read so far.
  int64_t position() const { return position_; }
  // Returns the most bytes that can come out. They are known before any is read, so that a header
  // that declares more is refused before memory is taken. They are the file's size, or 1032 times
  // as much where it is compressed (deflate cannot do better).
  int64_t max_bytes() const { return max_bytes_; }

  // Reads up to out.size() bytes; fewer only where the file ends.
  size_t ReadSome(std::span<std::byte> out);
  // Fills `out`, a part of the file called `what` ("its header"); an error where the file ends.
  void Read(std::span<std::byte> out, std::string_view what);
  // An error where the file goes on.
  void ExpectEnd();

 private:
  class Inflater;

  std::string path_;
  int fd_ = -1;
  int64_t position_ = 0, max_bytes_ = 0;
  std::unique_ptr<Inflater> inflater_;
};

// Reads up to out.size() bytes from the file `path` that is open as `fd`; fewer where it ends. Does
// not allocate. UserError where the system cannot.
size_t ReadFully(int fd, const std::string& path, std::span<std::byte> out);

// A whole file, inflated where it is gzip. UserError where it has more than `limit` bytes or than
// are free (CheckRoom), for compressed ones once that many have come out.
std::vector<std::byte> ReadFile(const std::string& path, int64_t limit);
std::string ReadTextFile(const std::string& path, int64_t limit = int64_t{1} << 30);

// A tensor of zeros for what `path` declares. UserError where memory is short.
HostTensor AllocateTensor(std::string_view path, DType dtype, const std::vector<int64_t>& sizes);

// The next bytes of `reader` as a row-major, little-endian tensor, a part of the file called
// `what`. UserError where they are not there, and for a bool that is neither 0 nor 1.
HostTensor ReadTensor(FileReader& reader, DType dtype, const std::vector<int64_t>& sizes,
                      std::string_view what);

}  // namespace cgrun

#endif  // CGRUN_IO_READ_FILE_H_
