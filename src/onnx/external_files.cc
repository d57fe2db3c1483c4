// Looking up external data, one name at a time, without leaving the model's folder.
#include "src/onnx/external_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "src/io/file_error.h"
#include "src/onnx/wire.h"

namespace cgrun::onnx {
namespace {

// A pipe is not waited for.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;

class OpenFile {
 public:
  explicit OpenFile(int fd) : fd_(fd) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(OpenFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

// It holds the values of the keys as views.
struct Place {
  std::optional<std::string_view> location, offset, length, checksum;
};

// ONNX names four keys. Others are left alone: ONNX Runtime adds some of its own (prepacked_0), and
// Python's package wrote `basepath`, which must not be followed. The checksum is not compared: it
// is of the whole file, and no reader known to us does.
Place PlaceOf(const Tensor& tensor, std::string_view path) {
  Place place;
  for (const Entry& entry : tensor.external_data) {
    std::optional<std::string_view>* const value = entry.key == "location"   ? &place.location
                                                   : entry.key == "offset"   ? &place.offset
                                                   : entry.key == "length"   ? &place.length
                                                   : entry.key == "checksum" ? &place.checksum
                                                                             : nullptr;
    if (value == nullptr) continue;
    if (*value)
      ThrowTensorError(tensor, path, "has the key `" + entry.key + "` of external data twice");
    *value = entry.value;
  }
  return place;
}

// Digits of a number below 2⁶³.
int64_t ParseCount(const Tensor& tensor, std::string_view path, std::string_view key,
                   std::string_view text) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc() && end == text.data() + text.size() && count >= 0 && text[0] != '-') {
    return count;
  }
  ThrowTensorError(tensor, path,
                   "has external data with the " + std::string(key) + " '" + Shown(text) +
                       "', which is no number of bytes");
}

// The parts of a name; empty if it is absolute, leaves the folder or has a NUL.
std::vector<std::string> PartsOf(std::string_view location) {
  if (location.starts_with('/') || location.find('\0') != location.npos) return {};
  std::vector<std::string> parts;
  for (const auto& part : std::filesystem::path(location)) {
    if (part == "..") return {};
    if (!part.empty() && part != ".") parts.push_back(part.string());
  }
  return parts;
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string path;
  for (const std::string& part : parts) path += (path.empty() ? "" : "/") + part;
  return path;
}

// Returns a file, or -1 and errno. No part of the name may be a link.
int OpenBySystem(int folder, const std::vector<std::string>& parts) {
  open_how how{};
  how.flags = static_cast<uint64_t>(kOpenFlags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(syscall(SYS_openat2, folder, Joined(parts).c_str(), &how, sizeof(how)));
}

int OpenByHand(int folder, const std::vector<std::string>& parts) {
  OpenFile inner(-1);
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    inner =
        OpenFile(openat(folder, parts[i].c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    folder = inner.fd();
    if (folder < 0) return -1;
  }
  return openat(folder, parts.back().c_str(), kOpenFlags);
}

int OpenBeneath(int folder, const std::vector<std::string>& parts, Lookup lookup) {
  if (lookup == Lookup::kSystem) {
    const int fd = OpenBySystem(folder, parts);
    // Old kernels do not have the call; filters of containers answer EPERM to what they do not
    // know.
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return fd;
  }
  return OpenByHand(folder, parts);
}

// Returns whether a part of the name is a link: the two ways report it by different errors.
bool HasLink(const std::string& folder, const std::vector<std::string>& parts) {
  std::filesystem::path path = folder;
  std::error_code error;
  for (const std::string& part : parts) {
    path /= part;
    if (std::filesystem::is_symlink(path, error)) return true;
  }
  return false;
}

}  // namespace

ExternalFiles::ExternalFiles(std::string model_path, Lookup lookup)
    : model_path_(std::move(model_path)), lookup_(lookup) {
  folder_ = std::filesystem::path(model_path_).parent_path().string();
  if (folder_.empty()) folder_ = ".";
}

ExternalFiles::~ExternalFiles() {
  if (folder_fd_ >= 0) close(folder_fd_);
}

const MappedFile& ExternalFiles::Open(const Tensor& tensor, const std::string& location) {
  std::unique_ptr<MappedFile>& file = files_[location];
  if (file) return *file;
  const auto refuse = [&](const std::string& what, std::string_view help) {
    ThrowTensorError(tensor, model_path_, "has external data in '" + Shown(location) + "', " + what,
                     help);
  };
  const std::vector<std::string> parts = PartsOf(location);
  if (parts.empty()) {
    refuse("which is no name of a file inside the model's folder",
           "such a model may have been made to read other files: do not use it");
  }
  if (folder_fd_ < 0) folder_fd_ = open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_fd_ < 0) ThrowSystemError("open", folder_, errno);
  const std::string path = (std::filesystem::path(folder_) / Joined(parts)).string();
  const OpenFile opened(OpenBeneath(folder_fd_, parts, lookup_));
  if (opened.fd() < 0) {
    const int error = errno;
    if (HasLink(folder_, parts)) {
      refuse("which is a link or lies behind one", "copy the file to its place: `cp -L`");
    }
    if (error == ENOENT) {
      refuse("and that file is not there",
             "it holds weights of the model: put it into the folder of '" + model_path_ + "'");
    }
    ThrowSystemError("open", path, error, "the file belongs beside '" + model_path_ + "'");
  }
  RegularSize(opened.fd(), path);
  struct stat status;
  if (fstat(opened.fd(), &status) != 0) ThrowSystemError("open", path, errno);
  if (status.st_nlink != 1) {
    refuse("which has " + std::to_string(status.st_nlink) + " hard links",
           "it may be a file of somebody else: copy it to its place");
  }
  file = std::make_unique<MappedFile>(opened.fd(), path);
  return *file;
}

TensorBytes ExternalFiles::Bytes(const Tensor& tensor) {
  const int64_t bytes = ByteSize(tensor, model_path_);
  const Place place = PlaceOf(tensor, model_path_);
  const auto refuse = [&](const std::string& what) { ThrowTensorError(tensor, model_path_, what); };
  if (!place.location) refuse("has external data without a location");
  if (tensor.raw_data) refuse("has both raw_data and external data");
  const int64_t offset =
      place.offset ? ParseCount(tensor, model_path_, "offset", *place.offset) : 0;
  const int64_t length =
      place.length ? ParseCount(tensor, model_path_, "length", *place.length) : bytes;
  if (length != bytes) {
    refuse("has external data of " + std::to_string(length) + " bytes, but its elements take " +
           std::to_string(bytes));
  }
  const MappedFile& file = Open(tensor, std::string(*place.location));
  const auto size = static_cast<int64_t>(file.bytes().size());
  if (offset > size || length > size - offset) {
    refuse("has " + std::to_string(length) + " bytes of external data at byte " +
           std::to_string(offset) + " of '" + file.path() + "', which has " + std::to_string(size));
  }
  const ByteSpan view =
      file.bytes().subspan(static_cast<size_t>(offset), static_cast<size_t>(length));
  CheckBools(tensor, model_path_, view);
  return TensorBytes(view);
}

void ExternalFiles::CheckWhole() const {
  for (const auto& [location, file] : files_) {
    if (file) file->CheckWhole();
  }
}

}  // namespace cgrun::onnx
