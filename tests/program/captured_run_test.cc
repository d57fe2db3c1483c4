// Tests runs that are started as one, on a device whose work goes on by itself. A program gives the
// bits that it gives on the host. They do not depend on the feeds that are written while a run is
// under way, nor on when swapped tensors move.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/device/cpu.h"
#include "tests/program/tiny_models.h"

namespace cgrun {
namespace {

struct Counts {
  int captures = 0;
  int starts = 0;
  int written = 0, read = 0;  // tensors that were swapped
  size_t never_waited_for = 0;
};

// Moves bytes as late as it may: when they are waited for. Until then there is garbage where they
// go to.
class LateSpace final : public SwapSpace {
 public:
  LateSpace(Counts* counts, int64_t bytes, size_t most_in_flight)
      : counts_(counts), bytes_(static_cast<size_t>(bytes)), most_in_flight_(most_in_flight) {}
  ~LateSpace() override { counts_->never_waited_for += under_way_.size(); }

  void StartWrite(int64_t offset, std::byte* from, int64_t bytes) noexcept override {
    ++counts_->written;
    Start({offset, bytes_.data() + offset, from, bytes});
  }
  void StartRead(int64_t offset, std::byte* to, int64_t bytes) noexcept override {
    ++counts_->read;
    Start({offset, to, bytes_.data() + offset, bytes});
  }
  void Wait(int64_t offset) noexcept override {
    for (const Transfer& transfer : under_way_) {
      if (transfer.offset == offset) std::copy_n(transfer.from, transfer.bytes, transfer.to);
    }
    std::erase_if(under_way_, [&](const Transfer& transfer) { return transfer.offset == offset; });
  }
  void Check() const override {}
  bool in_stream() const override { return true; }

 private:
  struct Transfer {
    int64_t offset;
    std::byte* to;
    const std::byte* from;
    int64_t bytes;
  };

  void Start(const Transfer& transfer) {
    EXPECT_LE(transfer.offset + transfer.bytes, static_cast<int64_t>(bytes_.size()));
    std::fill_n(transfer.to, transfer.bytes, std::byte{0x5a});
    under_way_.push_back(transfer);
    EXPECT_LE(under_way_.size(), most_in_flight_);
  }

  Counts* counts_;
  std::vector<std::byte> bytes_;
  size_t most_in_flight_;
  std::vector<Transfer> under_way_;
};

// Says which abilities a LateDevice has.
struct Abilities {
  bool captures = true;
  bool swaps = false;  // to a space of its own
};

// The host's memory behind a stream that runs what was captured as late as it may: when it is
// waited for, or when something comes behind it. Kernels themselves run at once.
class LateDevice final : public Device {
 public:
  LateDevice(Counts* counts, Abilities can) : counts_(counts), can_(can) {}

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
    if (!can_.captures) return nullptr;
    ++counts_->captures;
    return std::make_unique<Work>(*this, enqueue);
  }
  std::unique_ptr<SwapSpace> MakeSwapSpace(Stream, int64_t bytes, size_t most_in_flight) override {
    if (!can_.swaps) return nullptr;
    return std::make_unique<LateSpace>(counts_, bytes, most_in_flight);
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
  Abilities can_;
  std::vector<const std::function<void()>*> late_;
};

std::vector<ProgramImage> Images() {
  std::vector<ProgramImage> images = {FusedImage(), IncrementalImage(), SwapImage(), PartsImage()};
  for (const std::string& model : TinyModels()) images.push_back(TinyImage(model));
  return images;
}

// Entry points in turn, as a whole and in part.
void ExpectTheBitsOfTheHost(const ProgramImage& image, Abilities can, Counts* counts) {
  TinyProgram host(image);
  TinyProgram late(image, std::make_unique<LateDevice>(counts, can));
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
    ExpectTheBitsOfTheHost(image, {}, &counts);
    const bool swaps = image.arena_bytes[static_cast<size_t>(ArenaKind::kFile)] > 0;  // to a file
    EXPECT_EQ(counts.captures, swaps ? 0 : static_cast<int>(image.entries.size())) << image.model;
    EXPECT_EQ(counts.starts > 0, !swaps) << image.model;
  }
}

TEST(CapturedRunTest, RunsOneByOneWhatCannotBeCaptured) {
  for (const ProgramImage& image : Images()) {
    Counts counts;
    ExpectTheBitsOfTheHost(image, {.captures = false}, &counts);
    EXPECT_EQ(counts.starts, 0);
  }
}

TEST(CapturedRunTest, SwapsWithinWhatIsCaptured) {
  for (const bool captures : {true, false}) {
    const ProgramImage image = SwapImage();
    Counts counts;
    ExpectTheBitsOfTheHost(image, {.captures = captures, .swaps = true}, &counts);
    EXPECT_EQ(counts.captures, captures ? 1 : 0);
    EXPECT_EQ(counts.starts > 0, captures);
    EXPECT_EQ(counts.written, counts.read);
    EXPECT_GT(counts.written, 2 * counts.starts) << "two tensors in each run, the first one too";
    EXPECT_EQ(counts.never_waited_for, 0u);
  }
}

TEST(CapturedRunTest, NeedsNoFolderWhereTheDeviceHasASwapSpace) {
  const ProgramImage image = SwapImage();
  Counts counts;
  LateDevice with(&counts, {.swaps = true}), without(&counts, {});
  SingleProcess communicator;
  const KernelLibrary& library = *FindKernelLibrary("reference");
  EXPECT_NO_THROW(Program(image, with, library, communicator));
  EXPECT_THROW(Program(image, without, library, communicator), InputError);
}

// Feeds of the next step must not reach a run that has not read its own yet.
TEST(CapturedRunTest, ARunKeepsItsFeedsUntilItIsDone) {
  const ProgramImage image = TinyImage("tiny_mlp");
  Counts counts;
  LateDevice late(&counts, {});
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
  EXPECT_EQ(counts.starts, 5);
}

}  // namespace
}  // namespace cgrun
