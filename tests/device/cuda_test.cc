// The CUDA device: what a build without it, a machine without a GPU, and a GPU say.
#include "src/device/cuda.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/base/diagnostics.h"

namespace cgrun {
namespace {

// Returns the device, or nothing with the reason in `reason`.
std::unique_ptr<Device> OpenOrExplain(std::string* reason) {
  try {
    return OpenDevice("cuda");
  } catch (const UserError& error) {
    *reason = error.what();
    return nullptr;
  }
}

TEST(CudaDeviceTest, SaysWhyThereIsNone) {
  std::string reason;
  const std::unique_ptr<Device> device = OpenOrExplain(&reason);
  ASSERT_EQ(DescribeCudaDevices().empty(), false);
  if (device != nullptr) {
    EXPECT_EQ(DescribeCudaDevices()[0].rfind("cuda:0: ", 0), 0u);
  } else {
    EXPECT_NE(reason, "");
    EXPECT_NE(reason.find(DescribeCudaDevices()[0]), std::string::npos) << reason;
  }
}

TEST(CudaDeviceTest, RefusesOtherNames) {
  for (const char* name : {"cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999", "cudax"}) {
    EXPECT_THROW(OpenCudaDevice(name), UserError) << name;
  }
}

TEST(CudaDeviceTest, CopiesInTheOrderOfEvents) {
  std::string reason;
  const std::unique_ptr<Device> device = OpenOrExplain(&reason);
  if (device == nullptr) GTEST_SKIP() << reason;
  std::vector<uint8_t> sent(1 << 20);
  std::iota(sent.begin(), sent.end(), uint8_t{0});
  std::vector<uint8_t> received(sent.size());
  const int64_t bytes = static_cast<int64_t>(sent.size());
  std::byte* const arena = device->Allocate(ArenaKind::kDevice, bytes);
  const Stream upload = device->CreateStream();
  const Stream download = device->CreateStream();

  device->Copy(CopyKind::kHostToDevice, arena, reinterpret_cast<std::byte*>(sent.data()), bytes,
               upload);
  device->Wait(download, device->Record(upload));
  device->Copy(CopyKind::kDeviceToHost, reinterpret_cast<std::byte*>(received.data()), arena, bytes,
               download);
  device->Synchronize(download);

  EXPECT_EQ(received, sent);
}

TEST(CudaDeviceTest, ItsClockTellsWhenAStreamWasWhere) {
  std::string reason;
  const std::unique_ptr<Device> device = OpenOrExplain(&reason);
  if (device == nullptr) GTEST_SKIP() << reason;
  constexpr int64_t kBytes = 256 << 20;
  std::byte* const arena = device->Allocate(ArenaKind::kDevice, 2 * kBytes);
  const Stream stream = device->CreateStream();
  const std::unique_ptr<StreamClock> clock = device->MakeClock(stream, 3);
  for (int run = 0; run < 2; ++run) {
    clock->Mark();
    device->Copy(CopyKind::kDeviceToDevice, arena, arena + kBytes, kBytes, stream);
    clock->Mark();
    clock->Mark();
    int64_t times[3] = {};
    clock->Read(times);
    EXPECT_EQ(times[0], 0);
    EXPECT_GT(times[1], 10'000);  // no memory moves 256 MiB in 10 µs
    EXPECT_LT(times[2] - times[1], times[1]);
  }
}

TEST(CudaDeviceTest, StartsWhatItCapturedAsOften) {
  std::string reason;
  const std::unique_ptr<Device> device = OpenOrExplain(&reason);
  if (device == nullptr) GTEST_SKIP() << reason;
  constexpr int64_t kBytes = 64;
  std::byte* const memory = device->Allocate(ArenaKind::kDevice, 2 * kBytes);
  std::byte* const sent = device->Allocate(ArenaKind::kPinnedHost, kBytes);
  std::byte* const received = device->Allocate(ArenaKind::kPinnedHost, kBytes);
  const Stream stream = device->CreateStream();
  const std::unique_ptr<CapturedWork> work = device->Capture(stream, [&] {
    device->Copy(CopyKind::kHostToDevice, memory, sent, kBytes, stream);
    device->Copy(CopyKind::kDeviceToDevice, memory + kBytes, memory, kBytes, stream);
    device->Copy(CopyKind::kDeviceToHost, received, memory + kBytes, kBytes, stream);
  });
  ASSERT_NE(work, nullptr);
  device->Synchronize(stream);
  EXPECT_EQ(received[0], std::byte{0}) << "it ran when it was captured";
  for (const int value : {7, 8, 9}) {
    std::fill_n(sent, kBytes, static_cast<std::byte>(value));
    work->Start();
    device->Synchronize(stream);
    EXPECT_EQ(static_cast<int>(received[kBytes - 1]), value);
  }
}

// A call that waits for the host cannot be captured. The stream goes on afterwards.
TEST(CudaDeviceTest, RefusesToCaptureWhatCannotBe) {
  std::string reason;
  const std::unique_ptr<Device> device = OpenOrExplain(&reason);
  if (device == nullptr) GTEST_SKIP() << reason;
  const Stream stream = device->CreateStream();
  EXPECT_EQ(device->Capture(stream, [&] { device->Synchronize(stream); }), nullptr);
  device->Synchronize(stream);
}

// Two tensors change places in the space: one by one, and as often as a capture is started.
TEST(CudaDeviceTest, SwapsToTheHostAndBack) {
  std::string reason;
  const std::unique_ptr<Device> device = OpenOrExplain(&reason);
  if (device == nullptr) GTEST_SKIP() << reason;
  constexpr int64_t kBytes = 8 << 20;
  std::byte* const memory = device->Allocate(ArenaKind::kDevice, 2 * kBytes);
  std::byte* const seen = device->Allocate(ArenaKind::kPinnedHost, 2 * kBytes);
  const Stream stream = device->CreateStream();
  const std::unique_ptr<SwapSpace> space = device->MakeSwapSpace(stream, 2 * kBytes, 2);
  ASSERT_NE(space, nullptr);
  EXPECT_TRUE(space->in_stream());
  std::byte* const first = seen;  // holds both tensors, and then their results
  std::byte* const second = seen + kBytes;
  const auto swap = [&] {
    device->Copy(CopyKind::kHostToDevice, memory, seen, 2 * kBytes, stream);
    space->StartWrite(0, memory, kBytes);
    space->StartWrite(kBytes, memory + kBytes, kBytes);
    space->Wait(0);
    space->Wait(kBytes);
    space->StartRead(kBytes, memory, kBytes);
    space->StartRead(0, memory + kBytes, kBytes);
    space->Wait(0);
    space->Wait(kBytes);
    device->Copy(CopyKind::kDeviceToHost, seen, memory, 2 * kBytes, stream);
  };
  const auto expect_changed_places = [&](int was_first, int was_second) {
    device->Synchronize(stream);
    space->Check();
    for (const int64_t at : {int64_t{0}, kBytes - 1}) {
      EXPECT_EQ(static_cast<int>(first[at]), was_second);
      EXPECT_EQ(static_cast<int>(second[at]), was_first);
    }
  };
  std::fill_n(first, kBytes, std::byte{3});
  std::fill_n(second, kBytes, std::byte{4});
  swap();
  expect_changed_places(3, 4);
  const std::unique_ptr<CapturedWork> work = device->Capture(stream, swap);
  ASSERT_NE(work, nullptr);
  for (int value = 5; value < 9; ++value) {
    std::fill_n(first, kBytes, static_cast<std::byte>(value));
    std::fill_n(second, kBytes, static_cast<std::byte>(2 * value));
    work->Start();
    expect_changed_places(value, 2 * value);
  }
  swap();  // the space serves calls after the capture
  expect_changed_places(16, 8);
}

TEST(CudaDeviceTest, MeasuresHowFastItSwaps) {
  std::string reason;
  const std::unique_ptr<Device> device = OpenOrExplain(&reason);
  if (device == nullptr) GTEST_SKIP() << reason;
  const std::optional<TransferSpeed> speed = device->MeasureTransfers();
  ASSERT_TRUE(speed.has_value());
  for (const double rate : {speed->write_bytes_per_second, speed->read_bytes_per_second}) {
    EXPECT_GT(rate, 1e8);
    EXPECT_LT(rate, 1e13);
    EXPECT_EQ(std::exp2(std::round(std::log2(rate))), rate);
  }
  EXPECT_EQ(device->counters().bytes, 0) << "it keeps what it took";
}

TEST(CudaDeviceTest, PinsMemoryOfTheHost) {
  std::string reason;
  const std::unique_ptr<Device> device = OpenOrExplain(&reason);
  if (device == nullptr) GTEST_SKIP() << reason;
  std::vector<std::byte> bytes(1 << 20);
  const std::shared_ptr<void> pin = device->Pin(bytes);
  EXPECT_NE(pin, nullptr);
  EXPECT_EQ(device->Pin(bytes), nullptr) << "twice";
  device->Synchronize({});  // no error is left behind
}

TEST(CudaDeviceTest, CountsItsArenas) {
  std::string reason;
  const std::unique_ptr<Device> device = OpenOrExplain(&reason);
  if (device == nullptr) GTEST_SKIP() << reason;
  std::byte* const first = device->Allocate(ArenaKind::kDevice, 1000);
  std::byte* const second = device->Allocate(ArenaKind::kPinnedHost, 500);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  EXPECT_EQ(static_cast<int>(second[499]), 0);
  device->Free(ArenaKind::kDevice, first);
  EXPECT_EQ(device->counters().bytes, 500);
  EXPECT_EQ(device->counters().peak_bytes, 1500);
  EXPECT_EQ(device->counters().allocations, 2);
  EXPECT_THROW(device->Allocate(ArenaKind::kDevice, int64_t{1} << 50), UserError);
  EXPECT_EQ(device->counters().allocations, 2);
  EXPECT_GT(device->Info().total_bytes, 0);
  EXPECT_EQ(device->Info().libraries.size(), 3u);
}

TEST(CudaDeviceTest, CallsTheHostInOrder) {
  std::string reason;
  const std::unique_ptr<Device> device = OpenOrExplain(&reason);
  if (device == nullptr) GTEST_SKIP() << reason;
  const Stream stream = device->CreateStream();
  std::vector<int> calls;
  const auto call = [](void* data) {
    auto* list = static_cast<std::vector<int>*>(data);
    list->push_back(static_cast<int>(list->size()));
  };
  for (int i = 0; i < 3; ++i) device->Enqueue(stream, call, &calls);
  device->Synchronize(stream);
  EXPECT_EQ(calls, (std::vector<int>{0, 1, 2}));
}

}  // namespace
}  // namespace cgrun
