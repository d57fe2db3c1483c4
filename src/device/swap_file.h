// SwapFile: a swap space of devices on the host, a temporary file that one thread writes and reads
// while the others compute. Wait() returns when the thread is done. After the constructor nothing
// allocates.
#ifndef CGRUN_DEVICE_SWAP_FILE_H_
#define CGRUN_DEVICE_SWAP_FILE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "src/device/swap_space.h"

namespace cgrun {

class SwapFile final : public SwapSpace {
 public:
  // Makes a file of `bytes` in `folder`, where its place is taken at once, so that a disk that is
  // too full says so now; it has no name there, and is gone with the process. At most
  // `most_in_flight` transfers are under way at a time. Throws UserError.
  SwapFile(const std::string& folder, int64_t bytes, size_t most_in_flight);
  ~SwapFile() override;
  SwapFile(const SwapFile&) = delete;
  SwapFile& operator=(const SwapFile&) = delete;

  void StartWrite(int64_t offset, std::byte* from, int64_t bytes) noexcept override;
  void StartRead(int64_t offset, std::byte* to, int64_t bytes) noexcept override;
  void Wait(int64_t offset) noexcept override;
  void Check() const override;

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
