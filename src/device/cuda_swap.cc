// Copies tensors in a stream of its own, beside the run's stream. Each stream waits for events of
// the other:
//
//   run    … conv3 ──●── relu3, pool3, … ──○── what takes the bytes of conv3
//                     ╲                   ╱
//   copy               ● ── to the host ──○
//
// Nothing here waits on the host, so that all of it can be captured. If a stream waits for an event
// of a captured stream, it is captured too from there on. It must join the captured stream before
// the capture ends. It has joined when the captured stream waits for its last work. This is so at
// the end of each run: one stream does all transfers, and the run waits for each.
//
// A wait for an event is for the work behind which the event was last recorded before the call. A
// later record does not change that wait. A captured graph keeps dependencies and no events. So one
// event serves the beginnings of all transfers, since the wait comes right behind the record.
// Another event serves the end of a transfer, and serves the next one after the wait. Both hold in
// a capture and out of it. No mode waits for an event that the other has recorded, since no
// transfer outlives its run.
#include "src/device/cuda_swap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "src/base/check.h"
#include "src/device/cuda_status.h"

namespace cgrun {
namespace {

OwnedEvent MakeEvent(unsigned flags) {
  cudaEvent_t event = nullptr;
  Require(cudaEventCreateWithFlags(&event, flags), "cannot create an event");
  return OwnedEvent(event);
}

struct DestroyStream {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
using OwnedStream = std::unique_ptr<CUstream_st, DestroyStream>;

OwnedStream MakeStream() {
  cudaStream_t stream = nullptr;
  Require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cannot create a stream");
  return OwnedStream(stream);
}

class Arena {
 public:
  Arena(Device& device, ArenaKind kind, int64_t bytes)
      : device_(device), kind_(kind), bytes_(device.Allocate(kind, bytes)) {}
  ~Arena() { device_.Free(kind_, bytes_); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  std::byte* bytes() const { return bytes_; }

 private:
  Device& device_;
  ArenaKind kind_;
  std::byte* bytes_;
};

// If a transfer fails, the call that waits for the run's stream reports it, as for kernels.
class CudaSwapSpace final : public SwapSpace {
 public:
  CudaSwapSpace(Device& device, cudaStream_t run, int64_t bytes, size_t most_in_flight)
      : run_(run),
        memory_(device, ArenaKind::kPinnedHost, bytes),
        copy_(MakeStream()),
        begun_(MakeEvent(cudaEventDisableTiming)),
        transfers_(most_in_flight) {
    for (Transfer& transfer : transfers_) transfer.done = MakeEvent(cudaEventDisableTiming);
  }
  // A graph that was started copies in the run's stream.
  ~CudaSwapSpace() override {
    cudaStreamSynchronize(run_);
    cudaStreamSynchronize(copy_.get());
  }

  void StartWrite(int64_t offset, std::byte* from, int64_t bytes) noexcept override {
    Start(offset, memory_.bytes() + offset, from, bytes, cudaMemcpyDeviceToHost);
  }

  void StartRead(int64_t offset, std::byte* to, int64_t bytes) noexcept override {
    Start(offset, to, memory_.bytes() + offset, bytes, cudaMemcpyHostToDevice);
  }

  void Wait(int64_t offset) noexcept override {
    for (Transfer& transfer : transfers_) {
      if (!transfer.is_under_way || transfer.offset != offset) continue;
      cudaStreamWaitEvent(run_, transfer.done.get(), 0);
      transfer.is_under_way = false;
    }
  }

  void Check() const override {}
  bool in_stream() const override { return true; }

 private:
  // Between the call that begins it and the one that waits for it.
  struct Transfer {
    bool is_under_way = false;
    int64_t offset = 0;
    OwnedEvent done;
  };

  void Start(int64_t offset, std::byte* to, const std::byte* from, int64_t bytes,
             cudaMemcpyKind kind) noexcept {
    const auto transfer = std::ranges::find(transfers_, false, &Transfer::is_under_way);
    CGRUN_CHECK(transfer != transfers_.end()) << "too many transfers are under way";
    cudaEventRecord(begun_.get(), run_);
    cudaStreamWaitEvent(copy_.get(), begun_.get(), 0);
    cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), kind, copy_.get());
    cudaEventRecord(transfer->done.get(), copy_.get());
    transfer->is_under_way = true;
    transfer->offset = offset;
  }

  cudaStream_t run_;
  Arena memory_;
  OwnedStream copy_;
  OwnedEvent begun_;  // the place of the run's stream when a transfer began
  std::vector<Transfer> transfers_;
};

// Rounded to a power of two, so that a plan seldom depends on when it was made: down, as a transfer
// that is thought quicker than it is begins too late, and is waited for.
double BytesPerSecond(std::byte* to, const std::byte* from, int64_t bytes, cudaMemcpyKind kind) {
  constexpr int kCopies = 4;
  const OwnedStream stream = MakeStream();
  const OwnedEvent begin = MakeEvent(cudaEventDefault), end = MakeEvent(cudaEventDefault);
  float least = std::numeric_limits<float>::infinity();  // milliseconds
  for (int i = 0; i < kCopies; ++i) {
    Require(cudaEventRecord(begin.get(), stream.get()), "cannot record an event");
    Require(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), kind, stream.get()),
            "cannot copy");
    Require(cudaEventRecord(end.get(), stream.get()), "cannot record an event");
    Require(cudaEventSynchronize(end.get()), "the GPU reports");
    float milliseconds = 0;
    Require(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "the GPU reports");
    least = std::min(least, std::max(milliseconds, 1e-3f));
  }
  return std::exp2(std::floor(std::log2(1e3 * static_cast<double>(bytes) / least)));
}

}  // namespace

std::unique_ptr<SwapSpace> MakeCudaSwapSpace(Device& device, Stream run, int64_t bytes,
                                             size_t most_in_flight) {
  return std::make_unique<CudaSwapSpace>(device, static_cast<cudaStream_t>(run.handle), bytes,
                                         most_in_flight);
}

TransferSpeed MeasureCudaTransfers(Device& device) {
  constexpr int64_t kBytes = 64 << 20;
  const Arena on_gpu(device, ArenaKind::kDevice, kBytes);
  const Arena on_host(device, ArenaKind::kPinnedHost, kBytes);
  return {BytesPerSecond(on_host.bytes(), on_gpu.bytes(), kBytes, cudaMemcpyDeviceToHost),
          BytesPerSecond(on_gpu.bytes(), on_host.bytes(), kBytes, cudaMemcpyHostToDevice)};
}

}  // namespace cgrun
