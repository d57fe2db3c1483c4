// Temporary file, write, fsync, rename, fsync of the folder: AtomicFile::Commit().
#include "src/io/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "src/base/check.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

constexpr size_t kPathRoom = 1024;     // bytes reserved for a path
constexpr int kMostTemporaries = 100;  // writers of one path at a time
constexpr std::string_view kTemporary = ".tmp";

// If the file system knows no locks, one writer a path is taken for granted.
bool Lock(int fd) {
  int result;
  do {
    result = flock(fd, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result == 0 || errno != EWOULDBLOCK;
}

bool SameFile(int fd, const char* path) {
  struct stat opened, named;
  return fstat(fd, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

}  // namespace

AtomicFile::AtomicFile(size_t buffer_bytes) : buffer_(std::max<size_t>(buffer_bytes, 1)) {
  path_.reserve(kPathRoom);
  temporary_.reserve(kPathRoom);
}

AtomicFile::~AtomicFile() { Discard(); }

void AtomicFile::Open(std::string_view path) {
  Discard();
  path_ = path;
  if (path.find('\0') != path.npos) Fail(EINVAL);
  RefuseSpecialFile();
  OpenTemporary();
}

// A rename would replace a device, and fail late on a folder.
void AtomicFile::RefuseSpecialFile() {
  struct stat status;
  if (stat(path_.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return;
  if (S_ISDIR(status.st_mode)) Fail(EISDIR);
  ThrowFileError(path_, "is not a regular file, so it cannot be replaced");
}

void AtomicFile::OpenTemporary() {
  for (int number = 0; number < kMostTemporaries;) {
    temporary_ = path_;
    temporary_ += kTemporary;
    char digits[8];
    if (number > 0) temporary_.append(digits, std::to_chars(digits, digits + 8, number).ptr);
    fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (fd_ < 0) Fail(errno);
    if (!Lock(fd_)) {  // another writer's
      close(fd_);
      fd_ = -1;
      ++number;
    } else if (!SameFile(fd_, temporary_.c_str())) {  // its writer renamed it before we locked it
      close(fd_);
      fd_ = -1;
    } else {
      if (ftruncate(fd_, 0) != 0) Fail(errno);
      return;
    }
  }
  Fail(EBUSY);
}

void AtomicFile::Write(std::span<const std::byte> bytes) {
  CGRUN_CHECK(fd_ >= 0) << "write without Open()";
  if (bytes.size() > buffer_.size() - buffered_) Flush();
  if (bytes.size() >= buffer_.size()) {
    WriteOut(bytes);
  } else if (!bytes.empty()) {
    std::memcpy(buffer_.data() + buffered_, bytes.data(), bytes.size());
    buffered_ += bytes.size();
  }
}

void AtomicFile::Write(std::string_view text) { Write(std::as_bytes(std::span(text))); }

void AtomicFile::Flush() {
  const size_t size = buffered_;
  buffered_ = 0;
  WriteOut(std::span(buffer_).first(size));
}

void AtomicFile::WriteOut(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) Fail(errno);
    if (written > 0) bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void AtomicFile::Rewrite(int64_t offset, std::string_view text) {
  CGRUN_CHECK(fd_ >= 0) << "write without Open()";
  Flush();
  while (!text.empty()) {
    const ssize_t written = pwrite(fd_, text.data(), text.size(), offset);
    if (written < 0 && errno != EINTR) Fail(errno);
    if (written <= 0) continue;
    text.remove_prefix(static_cast<size_t>(written));
    offset += written;
  }
}

void AtomicFile::Commit() {
  CGRUN_CHECK(fd_ >= 0) << "commit without Open()";
  Flush();
  if (fsync(fd_) != 0) Fail(errno);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) Fail(errno);
  close(fd_);  // nothing is left to be written
  fd_ = -1;
  SyncFolder();
}

// The rename itself must reach the disk too. Some file systems cannot sync a folder; they are as
// good as they are.
void AtomicFile::SyncFolder() {
  const size_t slash = path_.rfind('/');
  temporary_.assign(path_, 0, slash == std::string::npos ? 0 : slash + 1);
  if (temporary_.empty()) temporary_ = ".";
  const int folder = open(temporary_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;  // a folder that may be written but not read
  const int error = fsync(folder) == 0 ? 0 : errno;
  close(folder);
  if (error != 0 && error != EINVAL && error != ENOTSUP && error != EROFS) Fail(error);
}

void AtomicFile::Discard() noexcept {
  if (fd_ < 0) return;
  unlink(temporary_.c_str());  // before the lock goes
  close(fd_);
  fd_ = -1;
  buffered_ = 0;
}

void AtomicFile::Fail(int error) {
  Discard();
  ThrowSystemError("write", path_, error);
}

void WriteFileAtomically(std::string_view path, std::span<const std::byte> bytes) {
  AtomicFile file(/*buffer_bytes=*/1);
  file.Open(path);
  file.Write(bytes);
  file.Commit();
}

std::string_view PathOfTemporary(std::string_view path) {
  const size_t end = path.find_last_not_of("0123456789");
  const std::string_view name = path.substr(0, end == path.npos ? 0 : end + 1);
  return name.ends_with(kTemporary) ? name.substr(0, name.size() - kTemporary.size()) : "";
}

void RemoveLeftTemporary(const std::string& temporary) {
  const int fd = open(temporary.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return;
  if (Lock(fd) && SameFile(fd, temporary.c_str())) unlink(temporary.c_str());
  close(fd);
}

}  // namespace cgrun
