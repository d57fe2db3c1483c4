// The peak of anonymous memory, as the process takes and gives back.
#include "src/base/process_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "src/base/allocation_counter.h"

namespace cgrun {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

TEST(ProcessMemory, IsToldByTheSystem) {
  const ProcessMemory memory = ReadProcessMemory();
  EXPECT_GT(memory.anonymous, 0);
  EXPECT_GT(memory.mapped_files, kMiB);
  EXPECT_GT(memory.page_tables, 0);
  EXPECT_GT(memory.address_space, memory.anonymous + memory.mapped_files);
  EXPECT_GT(memory.data, memory.anonymous / 2);
  EXPECT_LT(memory.data, memory.address_space);
  EXPECT_GE(memory.most_resident, memory.mapped_files);
  EXPECT_GE(memory.threads, 1);
}

TEST(ProcessMemory, PeakHasALargeBlockThatIsGone) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer's memory is its own";
  ForgetPeak();
  const int64_t before = PeakAnonymousBytes();
  { const std::vector<char> block(64 * kMiB, 'x'); }
  const int64_t peak = PeakAnonymousBytes();
  EXPECT_GE(peak, before + 64 * kMiB);
  EXPECT_LE(peak, before + 66 * kMiB);
  EXPECT_LT(ReadProcessMemory().anonymous, before + 2 * kMiB);
}

TEST(ProcessMemory, PeakHasManySmallBlocksThatAreGone) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer's memory is its own";
  ForgetPeak();
  const int64_t before = PeakAnonymousBytes();
  {
    std::vector<std::unique_ptr<char[]>> blocks;
    for (int i = 0; i < 16 * 1024; ++i) {
      blocks.push_back(std::make_unique<char[]>(1024));  // zeros, which touches it
    }
  }
  ReleaseFreeMemory();
  EXPECT_GE(PeakAnonymousBytes(), before + 16 * kMiB - static_cast<int64_t>(kSampleBytes));
  EXPECT_LT(ReadProcessMemory().anonymous, before + 4 * kMiB);
}

TEST(ProcessMemory, PeakHasAMappingThatIsSampled) {
  ForgetPeak();
  const int64_t before = PeakAnonymousBytes();
  void* const memory =
      mmap(nullptr, 32 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, 32 * kMiB);
  SampleMemory();
  munmap(memory, 32 * kMiB);
  EXPECT_GE(PeakAnonymousBytes(), before + 32 * kMiB);
}

TEST(ProcessMemory, SamplesDoNotAllocate) {
  const int64_t before = CurrentHeapUse().allocations;
  SampleMemory();
  EXPECT_GT(PeakAnonymousBytes(), 0);
  EXPECT_EQ(CurrentHeapUse().allocations, before);
}

TEST(ProcessMemory, OperatorNewThrowsBeforeTheRoomIsGone) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer brings its own operator new";
  const auto take = [] { const std::vector<char> block(kSampleBytes, 'x'); };
  WatchRoom([] {
    const std::vector<char> asked(2 * kSampleBytes, 'x');  // whoever is asked may allocate
    return kLeastRoom - 1;
  });
  EXPECT_THROW(take(), RoomRanOut);
  WatchRoom([] { return kLeastRoom; });
  EXPECT_NO_THROW(take());
  WatchRoom(nullptr);
  EXPECT_NO_THROW(take());
}

TEST(ProcessMemory, WhoeverHasMuchRoomIsSeldomAsked) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer brings its own operator new";
  static int asked = 0;
  WatchRoom([] {
    ++asked;
    return kLeastRoom + 20 * static_cast<int64_t>(kSampleBytes);
  });
  for (int i = 0; i < 100; ++i) const std::vector<char> block(kSampleBytes, 'x');
  WatchRoom(nullptr);
  EXPECT_GE(asked, 9);  // each time that ten blocks were taken
  EXPECT_LE(asked, 12);
}

}  // namespace
}  // namespace cgrun
