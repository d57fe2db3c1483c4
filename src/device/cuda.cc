// The CUDA device: arenas by cudaMalloc and cudaHostAlloc, streams that do not wait for the default
// one, and an event a stream, so that nothing is allocated once the streams are there.
#include "src/device/cuda.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cudnn.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "src/base/check.h"
#include "src/base/diagnostics.h"
#include "src/base/written_bytes.h"
#include "src/device/cuda_status.h"
#include "src/device/cuda_swap.h"

namespace cgrun {
namespace {

std::string Version(int number, int major_unit, int minor_unit) {
  return std::to_string(number / major_unit) + "." +
         std::to_string(number % major_unit / minor_unit);
}

std::vector<std::string> LibraryVersions() {
  const int cudnn = static_cast<int>(cudnnGetVersion());
  return {"CUDA runtime " + Version(CUDART_VERSION, 1000, 10),
          "cuBLAS " + std::to_string(CUBLAS_VER_MAJOR) + "." + std::to_string(CUBLAS_VER_MINOR),
          "cuDNN " + Version(cudnn, 10000, 100)};
}

// "NVIDIA H100, compute capability 9.0".
std::string Describe(int index) {
  cudaDeviceProp properties;
  Require(cudaGetDeviceProperties(&properties, index), "cannot ask the GPU");
  return std::string(properties.name) + ", compute capability " + std::to_string(properties.major) +
         "." + std::to_string(properties.minor);
}

// Each mark is an event.
class EventClock final : public StreamClock {
 public:
  EventClock(cudaStream_t stream, size_t marks) : stream_(stream) {
    for (size_t i = 0; i < marks; ++i) {
      cudaEvent_t event = nullptr;
      Require(cudaEventCreate(&event), "cannot create an event");
      events_.emplace_back(event);
    }
  }

  void Mark() noexcept override {
    CGRUN_CHECK(marks_ < events_.size()) << "the clock has no mark left";
    const cudaError_t status = cudaEventRecord(events_[marks_++].get(), stream_);
    if (status_ == cudaSuccess) status_ = status;
  }

  void Read(std::span<int64_t> times) override {
    CGRUN_CHECK(times.size() == marks_ && marks_ > 0) << "not the marks of this clock";
    marks_ = 0;
    const cudaError_t status = std::exchange(status_, cudaSuccess);
    Require(status, "cannot record an event");
    Require(cudaEventSynchronize(events_[times.size() - 1].get()), "the GPU reports");
    times[0] = 0;
    // From mark to mark, as a time in f32 has no more than some 7 digits.
    for (size_t i = 1; i < times.size(); ++i) {
      float milliseconds = 0;
      Require(cudaEventElapsedTime(&milliseconds, events_[i - 1].get(), events_[i].get()),
              "the GPU reports");
      times[i] = times[i - 1] + static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
    }
  }

 private:
  cudaStream_t stream_;
  std::vector<OwnedEvent> events_;
  size_t marks_ = 0;
  cudaError_t status_ = cudaSuccess;  // of the first mark that failed
};

class CudaGraph final : public CapturedWork {
 public:
  CudaGraph(cudaGraphExec_t graph, cudaStream_t stream) : graph_(graph), stream_(stream) {}
  ~CudaGraph() override { cudaGraphExecDestroy(graph_); }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void Start() noexcept override { cudaGraphLaunch(graph_, stream_); }

 private:
  cudaGraphExec_t graph_;
  cudaStream_t stream_;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int index) : index_(index) {
    Use();
    AddLane(nullptr);
  }
  ~CudaDevice() override;

  DeviceInfo Info() const override;
  DeviceCounters counters() const override { return counters_; }
  // Kernels are prepared for, and started on, the GPU that is current.
  void UseThreads(int) override { Use(); }
  std::byte* Allocate(ArenaKind kind, int64_t bytes) override;
  void Free(ArenaKind kind, std::byte* arena) override;
  Stream CreateStream() override;
  void Copy(CopyKind kind, std::byte* to, const std::byte* from, int64_t bytes,
            Stream stream) override;
  void Enqueue(Stream stream, void (*function)(void*), void* data) override;
  Event Record(Stream stream) override;
  void Wait(Stream stream, Event event) override;
  void Synchronize(Stream stream) override;
  std::shared_ptr<void> Pin(std::span<std::byte> memory) override;
  bool is_asynchronous() const override { return true; }
  std::unique_ptr<CapturedWork> Capture(Stream stream,
                                        const std::function<void()>& enqueue) override;
  std::unique_ptr<SwapSpace> MakeSwapSpace(Stream run, int64_t bytes,
                                           size_t most_in_flight) override {
    Use();
    return MakeCudaSwapSpace(*this, run, bytes, most_in_flight);
  }
  std::optional<TransferSpeed> MeasureTransfers() override {
    Use();
    return MeasureCudaTransfers(*this);
  }
  std::unique_ptr<StreamClock> MakeClock(Stream stream, size_t marks) override;

 private:
  struct Arena {
    ArenaKind kind;
    int64_t bytes;
  };
  // A stream and the event that Record sets anew each time. A Wait that comes after a later Record
  // waits for more than it must, never for less.
  struct Lane {
    cudaStream_t stream;
    cudaEvent_t event;
  };

  std::string name() const { return "cuda:" + std::to_string(index_); }
  // CUDA's current device belongs to the calling thread.
  void Use() const { Require(cudaSetDevice(index_), "cannot use " + name()); }
  void AddLane(cudaStream_t stream);
  static void Release(std::byte* arena, ArenaKind kind) noexcept;
  static cudaStream_t Handle(Stream stream) { return static_cast<cudaStream_t>(stream.handle); }

  int index_;
  DeviceCounters counters_;
  std::map<std::byte*, Arena> arenas_;
  std::vector<Lane> lanes_;  // the first is the default stream
};

CudaDevice::~CudaDevice() {
  cudaSetDevice(index_);
  for (const auto& [memory, arena] : arenas_) Release(memory, arena.kind);
  for (const Lane& lane : lanes_) {
    cudaEventDestroy(lane.event);
    if (lane.stream != nullptr) cudaStreamDestroy(lane.stream);
  }
}

DeviceInfo CudaDevice::Info() const {
  Use();
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  Require(cudaMemGetInfo(&free_bytes, &total_bytes), "cannot ask for the memory of " + name());
  return {name(), Describe(index_), static_cast<int64_t>(total_bytes),
          static_cast<int64_t>(free_bytes), LibraryVersions()};
}

std::byte* CudaDevice::Allocate(ArenaKind kind, int64_t bytes) {
  if (kind == ArenaKind::kFile) throw UserError("device " + name() + " has no file arena");
  Use();
  const size_t size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  const bool pinned = kind == ArenaKind::kPinnedHost;
  void* memory = nullptr;
  const cudaError_t status =
      pinned ? cudaHostAlloc(&memory, size, cudaHostAllocDefault) : cudaMalloc(&memory, size);
  if (status != cudaSuccess) {
    cudaGetLastError();
    const std::string free_memory = pinned ? "" : "; free: " + FreeMiB(Info().free_bytes);
    throw UserError("cannot take " + NeededMiB(bytes) + (pinned ? " of pinned memory" : "") +
                        " for " + name() + ": " + cudaGetErrorString(status) + free_memory,
                    "a smaller batch needs less");
  }
  std::byte* arena = static_cast<std::byte*>(memory);
  arenas_[arena] = {kind, bytes};
  counters_.bytes += bytes;
  if (pinned) counters_.host_bytes += bytes;
  counters_.peak_bytes = std::max(counters_.peak_bytes, counters_.bytes);
  ++counters_.allocations;
  if (pinned) {
    std::memset(memory, 0, size);
  } else {
    Require(cudaMemset(memory, 0, size), "cannot clear the arena");
    Require(cudaDeviceSynchronize(), "cannot clear the arena");
  }
  return arena;
}

void CudaDevice::Release(std::byte* arena, ArenaKind kind) noexcept {
  if (kind == ArenaKind::kPinnedHost) {
    cudaFreeHost(arena);
  } else {
    cudaFree(arena);
  }
}

void CudaDevice::Free(ArenaKind, std::byte* arena) {
  const auto it = arenas_.find(arena);
  CGRUN_CHECK(it != arenas_.end()) << "not an arena of this device";
  Use();
  Release(arena, it->second.kind);
  counters_.bytes -= it->second.bytes;
  if (it->second.kind == ArenaKind::kPinnedHost) counters_.host_bytes -= it->second.bytes;
  arenas_.erase(it);
}

void CudaDevice::AddLane(cudaStream_t stream) {
  Lane lane{stream, nullptr};
  Require(cudaEventCreateWithFlags(&lane.event, cudaEventDisableTiming), "cannot create an event");
  lanes_.push_back(lane);
}

Stream CudaDevice::CreateStream() {
  Use();
  cudaStream_t stream = nullptr;
  Require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cannot create a stream");
  AddLane(stream);
  return {stream};
}

void CudaDevice::Copy(CopyKind kind, std::byte* to, const std::byte* from, int64_t bytes,
                      Stream stream) {
  constexpr cudaMemcpyKind kKinds[] = {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost,
                                       cudaMemcpyDeviceToDevice};
  Use();
  Require(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), kKinds[static_cast<int>(kind)],
                          Handle(stream)),
          "cannot copy");
}

void CudaDevice::Enqueue(Stream stream, void (*function)(void*), void* data) {
  Use();
  Require(cudaLaunchHostFunc(Handle(stream), function, data), "cannot call the host from a stream");
}

Event CudaDevice::Record(Stream stream) {
  const auto lane = std::find_if(lanes_.begin(), lanes_.end(),
                                 [&](const Lane& l) { return l.stream == Handle(stream); });
  CGRUN_CHECK(lane != lanes_.end()) << "not a stream of this device";
  Use();
  Require(cudaEventRecord(lane->event, lane->stream), "cannot record an event");
  return {lane->event};
}

void CudaDevice::Wait(Stream stream, Event event) {
  Use();
  Require(cudaStreamWaitEvent(Handle(stream), static_cast<cudaEvent_t>(event.handle), 0),
          "cannot wait for an event");
}

void CudaDevice::Synchronize(Stream stream) {
  Use();
  Require(cudaStreamSynchronize(Handle(stream)), "the GPU reports");
  Require(cudaGetLastError(), "the GPU reports");  // of kernels that could not be started
}

std::shared_ptr<void> CudaDevice::Pin(std::span<std::byte> memory) {
  Use();
  if (cudaHostRegister(memory.data(), memory.size(), cudaHostRegisterDefault) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  return {memory.data(), [](void* pages) { cudaHostUnregister(pages); }};
}

std::unique_ptr<CapturedWork> CudaDevice::Capture(Stream stream,
                                                  const std::function<void()>& enqueue) {
  Use();
  const cudaStream_t handle = Handle(stream);
  if (cudaPeekAtLastError() != cudaSuccess) return nullptr;  // Synchronize() is to tell it
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  cudaError_t status = cudaStreamBeginCapture(handle, cudaStreamCaptureModeThreadLocal);
  if (status == cudaSuccess) {
    try {
      enqueue();
    } catch (const UserError&) {  // a copy that cannot be captured, which the end will tell
    }
    status = cudaStreamEndCapture(handle, &graph);
  }
  if (status == cudaSuccess) status = cudaGraphInstantiate(&ready, graph, 0);
  if (graph != nullptr) cudaGraphDestroy(graph);
  if (status == cudaSuccess) status = cudaGraphUpload(ready, handle);
  cudaGetLastError();  // of what cannot be captured, which then runs one by one
  if (ready == nullptr) return nullptr;
  auto work = std::make_unique<CudaGraph>(ready, handle);
  return status == cudaSuccess ? std::move(work) : nullptr;
}

std::unique_ptr<StreamClock> CudaDevice::MakeClock(Stream stream, size_t marks) {
  Use();
  return std::make_unique<EventClock>(Handle(stream), marks);
}

// Returns the number of GPUs. Throws UserError with the reason if there is none.
int CountGpus() {
  int count = 0;
  Require(cudaGetDeviceCount(&count), "no GPU can be used");
  if (count == 0) throw UserError("no GPU was found");
  return count;
}

// The number in "cuda" (0) or "cuda:N".
std::optional<int> ParseIndex(std::string_view name) {
  if (name == "cuda") return 0;
  if (name.substr(0, 5) != "cuda:") return std::nullopt;
  int index = -1;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + 5, end, index);
  if (error != std::errc() || stop != end || index < 0) return std::nullopt;
  return index;
}

}  // namespace

std::unique_ptr<Device> OpenCudaDevice(std::string_view name) {
  const std::optional<int> index = ParseIndex(name);
  if (!index) {
    throw UserError("there is no device '" + std::string(name) + "'",
                    "known: cuda, cuda:0, cuda:1");
  }
  const int count = CountGpus();
  if (*index >= count) {
    throw UserError("there is no device '" + std::string(name) + "'",
                    "GPUs here: cuda:0 to cuda:" + std::to_string(count - 1));
  }
  return std::make_unique<CudaDevice>(*index);
}

bool HasCudaDevice() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  int driver = 0;  // stays 0 where none is installed, which is told as one that is too old
  cudaDriverGetVersion(&driver);
  if (status == cudaErrorNoDevice || status == cudaErrorStubLibrary ||
      (status == cudaErrorInsufficientDriver && driver == 0)) {
    cudaGetLastError();
    return false;
  }
  Require(status, "cannot ask for GPUs");
  return count > 0;
}

std::vector<std::string> DescribeCudaDevices() {
  try {
    std::vector<std::string> lines;
    for (int i = 0; i < CountGpus(); ++i) {
      lines.push_back("cuda:" + std::to_string(i) + ": " + Describe(i));
    }
    return lines;
  } catch (const UserError& error) {
    return {error.what()};
  }
}

}  // namespace cgrun
