// SwapFile: the arena of kind kFile, a temporary file that one thread writes and reads while the
// others compute.
//
//   steps     … conv3 … | StartWrite |  relu3, pool3, …  | Wait |   the bytes are free for others
//   its thread          |            writes              |
//
// Bytes that are on their way belong to the file's thread: nothing writes those that are being
// written to the file, and nothing touches those that are being read from it, until Wait() has
// returned. After the constructor nothing allocates.
#ifndef CGRUN_DEVICE_SWAP_FILE_H_
#define CGRUN_DEVICE_SWAP_FILE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace cgrun {

class SwapFile {
 public:
  // Makes a file of `bytes` in `folder`, where its place is taken at once, so that a disk that is
  // too full says so now; it has no name there, and is gone with the process. At most
  // `most_in_flight` transfers are under way at a time. Throws UserError.
  SwapFile(const std::string& folder, int64_t bytes, size_t most_in_flight);
  ~SwapFile();
  SwapFile(const SwapFile&) = delete;
  SwapFile& operator=(const SwapFile&) = delete;

  // Begins to copy `bytes` to or from the file's byte `offset` on, in the order of the calls.
  void StartWrite(int64_t offset, std::byte* from, int64_t bytes) noexcept;
  void StartRead(int64_t offset, std::byte* to, int64_t bytes) noexcept;
  // Returns when nothing is under way any more at that offset. Where a transfer has failed, the
  // bytes are anything, and Check() says so.
  void Wait(int64_t offset) noexcept;
  // Throws UserError with what went wrong first, if anything ever did: what was computed since is
  // worth nothing.
  void Check() const;

 private:
  enum class Direction : uint8_t { kWrite, kRead };
  struct Transfer {
    Direction direction = Direction::kWrite;
    int64_t offset = 0;
    std::byte* memory = nullptr;
    int64_t bytes = 0;
  };

  void Start(const Transfer& transfer) noexcept;
  void Serve() noexcept;
  // 0, or the error's number.
  int Move(const Transfer& transfer) const noexcept;
  bool IsUnderWay(int64_t offset) const noexcept;

  const std::string folder_;
  int file_ = -1;
  mutable std::mutex mutex_;
  std::condition_variable started_, finished_;
  std::vector<Transfer> ring_;  // of those under way, from first_ on
  size_t first_ = 0, count_ = 0;
  bool ends_ = false;
  int error_ = 0;  // of the first transfer that failed
  Direction failed_ = Direction::kWrite;
  std::thread thread_;
};

// A temporary file of `bytes` without a name in `folder`, with its place on the disk taken. The
// caller closes it. Throws UserError.
int OpenTemporary(const std::string& folder, int64_t bytes);

}  // namespace cgrun

#endif  // CGRUN_DEVICE_SWAP_FILE_H_
