// `--debug-sync`: on a device that runs by itself, the operator that fails is the one that is
// named.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "src/base/diagnostics.h"
#include "src/device/cpu.h"
#include "tests/program/tiny_models.h"

namespace cgrun {
namespace {

// The host's memory behind a stream that can fail when it is waited for, as CUDA's can.
class FailingDevice final : public Device {
 public:
  // The `count`-th wait from now on fails; 0: none.
  void FailAt(int count) { left_ = count; }
  int waits() const { return waits_; }
  int captures() const { return captures_; }

  DeviceInfo Info() const override { return host_.Info(); }
  DeviceCounters counters() const override { return host_.counters(); }
  void UseThreads(int threads) override { host_.UseThreads(threads); }
  std::byte* Allocate(ArenaKind kind, int64_t bytes) override {
    return host_.Allocate(kind, bytes);
  }
  void Free(ArenaKind kind, std::byte* arena) override { host_.Free(kind, arena); }
  Stream CreateStream() override { return host_.CreateStream(); }
  void Copy(CopyKind kind, std::byte* to, const std::byte* from, int64_t bytes,
            Stream stream) override {
    host_.Copy(kind, to, from, bytes, stream);
  }
  void Enqueue(Stream stream, void (*function)(void*), void* data) override {
    host_.Enqueue(stream, function, data);
  }
  Event Record(Stream stream) override { return host_.Record(stream); }
  void Wait(Stream stream, Event event) override { host_.Wait(stream, event); }
  void Synchronize(Stream) override {
    ++waits_;
    if (left_ > 0 && --left_ == 0) throw UserError("device-side assertion");
  }
  bool is_asynchronous() const override { return true; }
  std::unique_ptr<CapturedWork> Capture(Stream, const std::function<void()>&) override {
    ++captures_;
    return nullptr;
  }

 private:
  CpuDevice host_{"reference"};
  int left_ = 0, waits_ = 0, captures_ = 0;
};

std::string FailureOf(Program& program, FailingDevice& device, int instruction) {
  device.FailAt(instruction + 1);
  try {
    program.RunInStep(0);
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

TEST(RunInStepTest, NamesTheOperatorThatFails) {
  const ProgramImage image = TinyImage("tiny_mlp");
  FailingDevice device;
  SingleProcess communicator;
  Program program(image, device, *FindKernelLibrary("reference"), communicator, "",
                  /*in_step=*/true);
  EXPECT_EQ(device.captures(), 0) << "what is started as one cannot be waited for one by one";
  const auto& instructions = image.entries[0].instructions;
  ASSERT_GT(instructions.size(), 2);
  for (size_t i = 0; i < instructions.size(); ++i) {
    const std::string failure = FailureOf(program, device, static_cast<int>(i));
    const std::string place = instructions[i].source.empty() ? "" : instructions[i].source + ": ";
    EXPECT_EQ(failure, place + "operator '" + instructions[i].name + "' of 'train' (kernel " +
                           instructions[i].kernel + ") failed: device-side assertion");
  }
  const int before = device.waits();
  EXPECT_EQ(FailureOf(program, device, -1), "");
  EXPECT_EQ(device.waits(), before + std::ssize(instructions));
}

}  // namespace
}  // namespace cgrun
