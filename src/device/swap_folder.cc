// One file, written and read once, in chunks.
#include "src/device/swap_folder.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/device/swap_file.h"

namespace cgrun {
namespace {

constexpr int64_t kChunk = 4 << 20;
constexpr int kMostChunks = 8;
constexpr double kLeastSeconds = 1e-6;  // for a coarse clock

using Clock = std::chrono::steady_clock;

class File {
 public:
  explicit File(const std::string& folder) : folder_(folder), file_(Open()) {}
  ~File() { close(file_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  TransferSpeed Measure() {
    std::vector<char> bytes(kChunk, 'x');
    TransferSpeed speed;
    speed.write_bytes_per_second = Rate([&](int64_t at) {
      Expect(pwrite(file_, bytes.data(), kChunk, at));
      if (fdatasync(file_) != 0) Fail();
    });
    posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED);
    speed.read_bytes_per_second =
        Rate([&](int64_t at) { Expect(pread(file_, bytes.data(), kChunk, at)); });
    return speed;
  }

 private:
  // Opens a file of as many chunks as the disk can take. The file that a run wants can be smaller
  // than all of them.
  int Open() {
    while (true) {
      try {
        return OpenTemporary(folder_, kChunk * chunks_);
      } catch (const UserError&) {
        if (chunks_ == 1) throw;
      }
      chunks_ /= 2;
    }
  }

  // Returns the rate of the quickest chunk, because others use the disk too. It is rounded to a
  // power of two, so that a plan seldom depends on when it was made.
  template <class Work>
  double Rate(const Work& work) const {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < chunks_; ++i) {
      const Clock::time_point start = Clock::now();
      work(i * kChunk);
      const std::chrono::duration<double> seconds = Clock::now() - start;
      least = std::min(least, std::max(seconds.count(), kLeastSeconds));
    }
    return std::exp2(std::round(std::log2(static_cast<double>(kChunk) / least)));
  }

  // A chunk that a signal has cut short only makes the disk look a little faster.
  void Expect(ssize_t moved) const {
    if (moved < 0 && errno != EINTR) Fail();
  }

  [[noreturn]] void Fail() const {
    throw UserError("cannot use a swap file in " + folder_ + ": " + std::strerror(errno),
                    "`--swap DIR` takes another folder");
  }

  const std::string& folder_;
  int chunks_ = kMostChunks;
  const int file_;
};

}  // namespace

TransferSpeed MeasureTransfers(const std::string& folder) { return File(folder).Measure(); }

bool LiesInMemory(const std::string& folder) {
  struct statfs system = {};
  if (statfs(folder.c_str(), &system) != 0) return false;
  return system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC;
}

}  // namespace cgrun
