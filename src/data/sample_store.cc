// While it is written, a file without a name is mapped: its pages are the file's, not the
// process's.
#include "src/data/sample_store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include "src/base/check.h"
#include "src/data/unnamed_file.h"
#include "src/io/file_error.h"

namespace cgrun {

SampleStore::SampleStore() : memory_(nullptr, &std::free) {}

SampleStore::SampleStore(SampleStore&& other) noexcept
    : bytes_(std::exchange(other.bytes_, 0)),
      memory_(std::move(other.memory_)),
      writable_(std::exchange(other.writable_, nullptr)),
      mapped_(std::exchange(other.mapped_, false)),
      file_(std::exchange(other.file_, -1)),
      begin_(other.begin_),
      path_(std::move(other.path_)) {}

SampleStore& SampleStore::operator=(SampleStore&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(memory_, other.memory_);
  std::swap(writable_, other.writable_);
  std::swap(mapped_, other.mapped_);
  std::swap(file_, other.file_);
  std::swap(begin_, other.begin_);
  std::swap(path_, other.path_);
  return *this;
}

SampleStore::~SampleStore() {
  Seal();
  if (file_ >= 0) close(file_);
}

SampleStore SampleStore::InMemory(int64_t bytes) {
  SampleStore store;
  store.memory_.reset(static_cast<std::byte*>(std::calloc(1, static_cast<size_t>(bytes))));
  if (store.memory_ == nullptr && bytes > 0) throw std::bad_alloc();
  store.bytes_ = bytes;
  store.writable_ = store.memory_.get();
  return store;
}

SampleStore SampleStore::InUnnamedFile(const std::string& path, int64_t bytes,
                                       const std::string& folder) {
  SampleStore store;
  store.path_ = path;
  std::error_code ignored;  // opening says what is wrong
  std::filesystem::create_directories(folder, ignored);
  store.file_ = OpenUnnamedFile(folder);
  int error = store.file_ < 0 ? errno : ReserveFile(store.file_, bytes);
  void* mapping = MAP_FAILED;
  if (error == 0) {
    mapping = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED,
                   store.file_, 0);
    error = mapping == MAP_FAILED ? errno : 0;
  }
  if (error != 0) {
    ThrowFileError(path,
                   ": its decoded samples are to lie in a file of " + MemoryText(bytes) + " in " +
                       folder + ", which cannot be made: " + std::strerror(error),
                   "free some room there, or name another folder: `TMPDIR=DIR cgrun …`");
  }
  store.bytes_ = bytes;
  store.writable_ = static_cast<std::byte*>(mapping);
  store.mapped_ = true;
  return store;
}

SampleStore SampleStore::OfFile(const std::string& path, int64_t begin, int64_t bytes) {
  SampleStore store;
  store.path_ = path;
  store.file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (store.file_ < 0) ThrowSystemError("open", path, errno);
  store.begin_ = begin;
  store.bytes_ = bytes;
  return store;
}

void SampleStore::Seal() {
  if (mapped_) munmap(writable_, static_cast<size_t>(bytes_));
  mapped_ = false;
  writable_ = nullptr;
}

void SampleStore::Read(int64_t at, std::span<std::byte> out) const {
  CGRUN_CHECK(at >= 0 && at + std::ssize(out) <= bytes_) << at << " of " << bytes_;
  if (memory_ != nullptr) {
    std::memcpy(out.data(), memory_.get() + at, out.size());
    return;
  }
  while (!out.empty()) {
    const ssize_t size = pread(file_, out.data(), out.size(), begin_ + at);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) ThrowSystemError("read", path_, errno);
    if (size == 0) ThrowFileError(path_, "has become shorter since the run began");
    at += size;
    out = out.subspan(static_cast<size_t>(size));
  }
}

std::span<const std::byte> SampleStore::View(int64_t at, int64_t bytes,
                                             std::vector<std::byte>& buffer) const {
  const auto size = static_cast<size_t>(bytes);
  if (memory_ != nullptr) return {memory_.get() + at, size};
  buffer.resize(size);
  Read(at, buffer);
  return buffer;
}

SampleRoom::SampleRoom(const DataOptions& options)
    : left_(MemoryLeft::Of(options)), in_memory_(left_.bytes), folder_(options.stream_folder) {
  if (streams()) in_memory_ = std::min(in_memory_, options.most_in_memory);
}

SampleStore SampleRoom::Take(const std::string& path, const std::string& what,
                             std::optional<int64_t> bytes) {
  if (bytes && Fits(*bytes)) return TakeMemory(path, *bytes);
  if (!bytes || !streams()) {
    MemoryLeft left = left_;
    left.bytes = in_memory_;
    ThrowFileError(
        path,
        what + " " + (bytes ? MemoryText(*bytes) + ", more than " : "more than ") + left.Text(),
        left.Help("use fewer samples"));
  }
  SampleStore store = SampleStore::InUnnamedFile(path, *bytes, folder_);
  Note(path, *bytes, /*in_own_file=*/false);
  return store;
}

SampleStore SampleRoom::TakeAsTheyAre(const std::string& path, const std::string& what,
                                      int64_t begin, int64_t bytes) {
  if (Fits(bytes) || !streams()) return Take(path, what, bytes);
  Note(path, bytes, /*in_own_file=*/true);
  return SampleStore::OfFile(path, begin, bytes);
}

SampleStore SampleRoom::TakeMemory(const std::string& path, int64_t bytes) {
  try {
    SampleStore store = SampleStore::InMemory(bytes);
    in_memory_ -= bytes;
    return store;
  } catch (const std::bad_alloc&) {
    ThrowFileError(path, ": there is not enough memory for " + MemoryText(bytes) + " of samples");
  }
}

void SampleRoom::Note(const std::string& path, int64_t bytes, bool in_own_file) {
  const bool more = !streamed_.empty() && streamed_.back().path == path;
  if (!more) streamed_.push_back({path, in_own_file});
  streamed_.back().bytes += bytes;
}

std::vector<std::string> SampleRoom::notes() const {
  std::vector<std::string> notes;
  for (const Streamed& file : streamed_) {
    notes.push_back("'" + file.path + "' does not fit in memory (" + MemoryText(file.bytes) +
                    "): its samples are read from " +
                    (file.in_own_file ? "the file itself" : "a temporary file in " + folder_));
  }
  return notes;
}

}  // namespace cgrun
