// Runs that are started as one: on a device whose work goes on by itself, a program gives the bits
// that it gives on the host, whatever is fed while a run is under way.
#include <gtest/gtest.h>

#include <utility>

#include "src/device/cpu.h"
#include "tests/program/tiny_models.h"

namespace cgrun {
namespace {

struct Counts {
  int captures = 0;
  int starts = 0;
};

// The host's memory behind a stream that runs what was captured as late as it may: when it is
// waited for, or when something comes behind it. Kernels themselves run at once.
class LateDevice final : public Device {
 public:
  LateDevice(Counts* counts, bool captures) : counts_(counts), captures_(captures) {}

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
    CatchUp();
    host_.Copy(kind, to, from, bytes, stream);
  }
  void Enqueue(Stream stream, void (*function)(void*), void* data) override {
    CatchUp();
    host_.Enqueue(stream, function, data);
  }
  Event Record(Stream stream) override { return host_.Record(stream); }
  void Wait(Stream stream, Event event) override { host_.Wait(stream, event); }
  void Synchronize(Stream) override { CatchUp(); }
  bool is_asynchronous() const override { return true; }
  std::unique_ptr<CapturedWork> Capture(Stream, const std::function<void()>& enqueue) override {
    if (!captures_) return nullptr;
    ++counts_->captures;
    return std::make_unique<Work>(*this, enqueue);
  }

 private:
  class Work final : public CapturedWork {
   public:
    Work(LateDevice& device, std::function<void()> enqueue)
        : device_(device), enqueue_(std::move(enqueue)) {}
    void Start() noexcept override {
      ++device_.counts_->starts;
      device_.late_.push_back(&enqueue_);
    }

   private:
    LateDevice& device_;
    std::function<void()> enqueue_;
  };

  void CatchUp() {
    for (const auto* enqueue : std::exchange(late_, {})) (*enqueue)();
  }

  CpuDevice host_{"reference"};
  Counts* counts_;
  bool captures_;
  std::vector<const std::function<void()>*> late_;
};

std::vector<ProgramImage> Images() {
  std::vector<ProgramImage> images = {FusedImage(), IncrementalImage(), SwapImage()};
  for (const std::string& model : TinyModels()) images.push_back(TinyImage(model));
  return images;
}

// Entry points in turn, so that each runs one by one and is captured, and then as one.
void ExpectTheBitsOfTheHost(const ProgramImage& image, bool captures, Counts* counts) {
  TinyProgram host(image);
  TinyProgram late(image, std::make_unique<LateDevice>(counts, captures));
  const int entries = static_cast<int>(image.entries.size());
  for (int step = 0; step < 4 * entries; ++step) {
    EXPECT_EQ(late.Run(step % entries, step), host.Run(step % entries, step))
        << image.model << ", step " << step;
    EXPECT_EQ(late.RunInPart(step % entries, step), host.RunInPart(step % entries, step))
        << image.model << ", step " << step << ", in part";
  }
}

TEST(CapturedRunTest, GivesTheBitsOfTheHost) {
  for (const ProgramImage& image : Images()) {
    Counts counts;
    ExpectTheBitsOfTheHost(image, /*captures=*/true, &counts);
    const bool swaps = image.arena_bytes[static_cast<size_t>(ArenaKind::kFile)] > 0;
    EXPECT_EQ(counts.captures, swaps ? 0 : static_cast<int>(image.entries.size())) << image.model;
    EXPECT_EQ(counts.starts > 0, !swaps) << image.model;
  }
}

TEST(CapturedRunTest, RunsOneByOneWhatCannotBeCaptured) {
  for (const ProgramImage& image : Images()) {
    Counts counts;
    ExpectTheBitsOfTheHost(image, /*captures=*/false, &counts);
    EXPECT_EQ(counts.starts, 0);
  }
}

// Feeds of the next step must not reach a run that has not read its own yet.
TEST(CapturedRunTest, ARunKeepsItsFeedsUntilItIsDone) {
  const ProgramImage image = TinyImage("tiny_mlp");
  Counts counts;
  LateDevice late(&counts, true);
  CpuDevice host("reference");
  SingleProcess communicator;
  const KernelLibrary& library = *FindKernelLibrary("reference");
  Program on_late(image, late, library, communicator), on_host(image, host, library, communicator);
  for (int step = 0; step < 5; ++step) {  // nothing is fetched in between
    for (Program* program : {&on_late, &on_host}) {
      const std::vector<ImagePort>& feeds = image.entries[0].feeds;
      for (size_t i = 0; i < feeds.size(); ++i) {
        program->Feed(0, i, FeedFor(feeds[i], step).bytes());
      }
      program->Run(0);
    }
  }
  for (size_t i = 0; i < image.states.size(); ++i) {
    EXPECT_EQ(on_late.ReadState(i), on_host.ReadState(i)) << image.states[i].name;
  }
  EXPECT_EQ(counts.starts, 4);
}

}  // namespace
}  // namespace cgrun
