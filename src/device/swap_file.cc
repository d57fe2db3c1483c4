// A ring of transfers between the threads that compute and the one that moves bytes.
#include "src/device/swap_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "src/base/block_signals.h"
#include "src/base/check.h"
#include "src/base/diagnostics.h"
#include "src/base/written_bytes.h"

namespace cgrun {
namespace {

UserError CannotOpen(const std::string& folder) {
  return UserError("cannot make a swap file in " + folder + ": " + std::strerror(errno),
                   "`--swap DIR` wants a folder that can be written to");
}

// If the file system has no files without a name, the function makes a file and removes its name.
int OpenWithoutName(const std::string& folder) {
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file >= 0) return file;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) throw CannotOpen(folder);
  std::string name = folder + "/cgrun-swap-XXXXXX";
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named < 0) throw CannotOpen(folder);
  unlink(name.c_str());
  return named;
}

}  // namespace

int OpenTemporary(const std::string& folder, int64_t bytes) {
  const int file = OpenWithoutName(folder);
  int error = 0;
  do {
    error = bytes > 0 ? posix_fallocate(file, 0, bytes) : 0;
  } while (error == EINTR);
  if (error == 0) return file;
  close(file);
  const std::string help = error == EFBIG
                               ? "the system limits the size of files (`ulimit -f`); a larger cap "
                                 "on memory swaps less"
                               : "free some, or give another folder, `--swap DIR`; a larger cap on "
                                 "memory swaps less";
  throw UserError("cannot take " + NeededMiB(bytes) + " for the swap file in " + folder + ": " +
                      std::strerror(error),
                  help);
}

SwapFile::SwapFile(const std::string& folder, int64_t bytes, size_t most_in_flight)
    : folder_(folder), file_(OpenTemporary(folder, bytes)), ring_(most_in_flight) {
  const BlockSignals block;
  try {
    thread_ = std::thread([this] { Serve(); });
  } catch (const std::system_error& error) {
    close(file_);
    throw UserError("cannot start the thread of the swap file: " + error.code().message(),
                    "without `--swap` there is none");
  }
}

SwapFile::~SwapFile() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  started_.notify_one();
  thread_.join();
  close(file_);
}

void SwapFile::StartWrite(int64_t offset, std::byte* from, int64_t bytes) noexcept {
  Start({Direction::kWrite, offset, from, bytes});
}

void SwapFile::StartRead(int64_t offset, std::byte* to, int64_t bytes) noexcept {
  Start({Direction::kRead, offset, to, bytes});
}

void SwapFile::Start(const Transfer& transfer) noexcept {
  {
    const std::lock_guard lock(mutex_);
    CGRUN_CHECK(count_ < ring_.size()) << "too many transfers are under way";
    ring_[(first_ + count_) % ring_.size()] = transfer;
    ++count_;
  }
  started_.notify_one();
}

void SwapFile::Wait(int64_t offset) noexcept {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return !IsUnderWay(offset); });
}

bool SwapFile::IsUnderWay(int64_t offset) const noexcept {
  for (size_t i = 0; i < count_; ++i) {
    if (ring_[(first_ + i) % ring_.size()].offset == offset) return true;
  }
  return false;
}

void SwapFile::Check() const {
  const std::lock_guard lock(mutex_);
  if (error_ == 0) return;
  throw UserError(
      std::string("cannot ") + (failed_ == Direction::kWrite ? "write to" : "read from") +
          " the swap file in " + folder_ + ": " + std::strerror(error_),
      "the last checkpoint is whole: `--resume` goes on from there, with `--swap DIR` on "
      "another disk");
}

// A transfer stays in the ring until it is done, so that Wait() sees it.
void SwapFile::Serve() noexcept {
  std::unique_lock lock(mutex_);
  while (true) {
    started_.wait(lock, [&] { return count_ > 0 || ends_; });
    if (count_ == 0) return;
    const Transfer transfer = ring_[first_];
    if (error_ == 0) {
      lock.unlock();
      const int error = Move(transfer);
      lock.lock();
      error_ = error;
      failed_ = transfer.direction;
    }
    first_ = (first_ + 1) % ring_.size();
    --count_;
    finished_.notify_all();
  }
}

int SwapFile::Move(const Transfer& transfer) const noexcept {
  int64_t done = 0;
  while (done < transfer.bytes) {
    std::byte* memory = transfer.memory + done;
    const auto bytes = static_cast<size_t>(transfer.bytes - done);
    const ssize_t moved = transfer.direction == Direction::kWrite
                              ? pwrite(file_, memory, bytes, transfer.offset + done)
                              : pread(file_, memory, bytes, transfer.offset + done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return errno;
    if (moved == 0) return transfer.direction == Direction::kWrite ? ENOSPC : EIO;
    done += moved;
  }
  return 0;
}

}  // namespace cgrun
