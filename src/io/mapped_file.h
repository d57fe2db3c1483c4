// A regular file that is mapped instead of read: it takes no memory of the process's own.
#ifndef CGRUN_IO_MAPPED_FILE_H_
#define CGRUN_IO_MAPPED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace cgrun {

// Opens the regular file `path` for reading and gives its size. A pipe is not waited for. UserError
// for every other kind of file, and for one that cannot be opened.
int OpenRegular(const std::string& path, int64_t* size);

// Returns the size of `fd`, which was opened as `path`. UserError where it is no regular file.
int64_t RegularSize(int fd, const std::string& path);

// Maps a file for as long as the object lives. Its bytes are those that the file has when they are
// looked at first.
//
// If another process makes the file shorter meanwhile, the bytes that are gone read as zeros, and
// CheckWhole() throws. The kernel's signal for them would end the process otherwise.
class MappedFile {
 public:
  struct Region;  // of addresses, for the handler of the signal

  explicit MappedFile(const std::string& path);
  // Maps what is open as `fd`, which stays the caller's. Errors name it `path`.
  MappedFile(int fd, const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  // UserError where bytes that were looked at were no longer in the file.
  void CheckWhole() const;

 private:
  void Map(int fd, int64_t size);

  std::string path_;
  std::span<const std::byte> bytes_;
  Region* region_ = nullptr;  // null for a file without bytes
};

}  // namespace cgrun

#endif  // CGRUN_IO_MAPPED_FILE_H_
