// Arenas of the host: where they begin, what is in them, and what the process takes for them.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/device/cpu.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kHugePage = 2 * kMiB;
constexpr int64_t kNoise = 64 << 10;  // the process may take this much meanwhile

const int64_t kPage = sysconf(_SC_PAGESIZE);
// Two huge pages, half of a third, and a small one.
const int64_t kBytes = 5 * kMiB + kPage;

// Returns the resident bytes of the process. The file counts page by page, where statm lags behind.
int64_t ResidentBytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  std::string word;
  int64_t kib = 0;
  while (file >> word) {
    if (word == "Rss:" && file >> kib) return kib * 1024;
  }
  return 0;
}

// Returns the bytes of all addresses of the process.
int64_t MappedBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0;
  file >> pages;
  return pages * kPage;
}

bool AllAre(const std::byte* arena, int64_t bytes, std::byte value) {
  return std::all_of(arena, arena + bytes, [&](std::byte b) { return b == value; });
}

class CpuArenaTest : public testing::Test {
 protected:
  // The first arena also takes memory that belongs to no arena. So it is taken before the tests
  // measure.
  void SetUp() override {
    device_.Free(ArenaKind::kDevice, device_.Allocate(ArenaKind::kDevice, kBytes));
    ResidentBytes();
    MappedBytes();
  }

  std::byte* Allocate(int64_t bytes) { return device_.Allocate(ArenaKind::kDevice, bytes); }
  void Free(std::byte* arena) { device_.Free(ArenaKind::kDevice, arena); }

  CpuDevice device_{"reference"};
};

// Several at once: the system would put them elsewhere, each beside the one before.
TEST_F(CpuArenaTest, ArenasBeginAtHugePagesAndAreZero) {
  for (int round = 0; round < 2; ++round) {
    std::vector<std::byte*> arenas;
    for (int i = 1; i <= 4; ++i) {
      std::byte* const arena = Allocate(kBytes);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(arena) % kHugePage, 0u);
      EXPECT_TRUE(AllAre(arena, kBytes, std::byte{0}));
      std::memset(arena, i, static_cast<size_t>(kBytes));
      arenas.push_back(arena);
    }
    for (int i = 1; i <= 4; ++i) {
      EXPECT_TRUE(AllAre(arenas[static_cast<size_t>(i - 1)], kBytes, static_cast<std::byte>(i)));
    }
    for (std::byte* const arena : arenas) Free(arena);
  }
}

TEST_F(CpuArenaTest, CountersSayWhatWasAskedInWholePages) {
  const int64_t allocations = device_.counters().allocations;
  std::byte* const large = Allocate(kBytes);
  EXPECT_EQ(device_.counters().bytes, kBytes);
  EXPECT_EQ(device_.counters().host_bytes, kBytes);
  EXPECT_EQ(device_.counters().peak_bytes, kBytes);
  std::byte* const small = Allocate(kPage + 1);
  EXPECT_EQ(device_.counters().bytes, kBytes + 2 * kPage);
  EXPECT_EQ(device_.counters().allocations, allocations + 2);
  Free(large);
  Free(small);
  EXPECT_EQ(device_.counters().bytes, 0);
  EXPECT_EQ(device_.counters().host_bytes, 0);
  EXPECT_EQ(device_.counters().peak_bytes, kBytes + 2 * kPage);
}

TEST_F(CpuArenaTest, ArenasTakeNoMoreThanTheirPagesAndGiveAllBack) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's memory is its own";
  for (const int64_t bytes : {kPage, kHugePage - kPage, kHugePage, kBytes, 32 * kMiB}) {
    const int64_t resident = ResidentBytes(), mapped = MappedBytes();
    ASSERT_GT(resident, 0);
    std::byte* const arena = Allocate(bytes);
    EXPECT_EQ(MappedBytes() - mapped, bytes);
    const int64_t taken = ResidentBytes() - resident;
    EXPECT_GE(taken, bytes) << "a step would wait for the rest";
    EXPECT_LE(taken, bytes + kNoise);
    Free(arena);
    EXPECT_EQ(MappedBytes(), mapped) << bytes;
    EXPECT_LE(ResidentBytes(), resident + kNoise) << bytes;
  }
}

TEST_F(CpuArenaTest, AnUntouchedArenaTakesWhatIsWritten) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's memory is its own";
  CpuDevice dry("reference");
  LeaveUntouched(dry);
  const int64_t resident = ResidentBytes();
  std::byte* const arena = dry.Allocate(ArenaKind::kDevice, 64 * kMiB);
  EXPECT_LE(ResidentBytes(), resident + kNoise);
  EXPECT_EQ(dry.counters().bytes, 64 * kMiB);
  EXPECT_EQ(dry.counters().host_bytes, 0);
  arena[32 * kMiB] = std::byte{1};
  EXPECT_GE(dry.counters().host_bytes, kPage);
  EXPECT_LE(dry.counters().host_bytes, kHugePage);
  EXPECT_TRUE(AllAre(arena, 32 * kMiB, std::byte{0}));
}

TEST_F(CpuArenaTest, WhatIsNotFreedGoesWithTheDevice) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's memory is its own";
  const int64_t mapped = MappedBytes();
  {
    CpuDevice other("reference");
    other.Allocate(ArenaKind::kDevice, kBytes);
    EXPECT_EQ(MappedBytes(), mapped + kBytes);
  }
  EXPECT_EQ(MappedBytes(), mapped);
}

std::string ErrorOf(CpuDevice& device, int64_t bytes) {
  try {
    device.Allocate(ArenaKind::kDevice, bytes);
    return "no error";
  } catch (const UserError& error) {
    return error.what();
  }
}

// Sets a limit of the process for as long as it lives.
class WithLimit {
 public:
  WithLimit(int resource, int64_t bytes) : resource_(static_cast<__rlimit_resource>(resource)) {
    getrlimit(resource_, &before_);
    const rlimit limit = {static_cast<rlim_t>(bytes), before_.rlim_max};
    EXPECT_EQ(setrlimit(resource_, &limit), 0);
  }
  ~WithLimit() { setrlimit(resource_, &before_); }

 private:
  const __rlimit_resource resource_;
  rlimit before_ = {};
};

TEST_F(CpuArenaTest, ALimitOnAddressesIsNamed) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer takes addresses of its own";
  // The arena takes a huge page of addresses beyond its own bytes. So a limit that leaves only its
  // bytes is too low.
  for (const int64_t room : {16 * kMiB, 64 * kMiB, 64 * kMiB + kPage}) {
    const WithLimit limit(RLIMIT_AS, MappedBytes() + room);
    errno = ENOENT;
    const std::string error = ErrorOf(device_, 64 * kMiB);
    EXPECT_NE(error.find("cannot take 64 MiB of memory: `ulimit -v` leaves "), error.npos) << error;
    EXPECT_EQ(error.find("No such file"), error.npos) << error;
  }
}

// With as many mappings as the system allows, it refuses another one though memory is free.
TEST_F(CpuArenaTest, WithoutALimitTheReasonIsTheSystems) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs mappings of its own";
  int64_t most = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> most;
  if (most == 0 || most > 1'000'000) GTEST_SKIP() << "mappings are not limited here";
  const auto bytes = static_cast<size_t>(2 * most * kPage);
  void* const pages = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  for (int64_t i = 0; i < most; ++i) {  // each second page is a mapping of its own
    mprotect(static_cast<std::byte*>(pages) + 2 * i * kPage, static_cast<size_t>(kPage), PROT_READ);
  }
  std::vector<void*> more;  // mmap() allows one more than mprotect()
  for (void* page; more.size() < 9; more.push_back(page)) {
    page = mmap(nullptr, static_cast<size_t>(kPage), PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) break;
  }
  errno = ENOENT;
  const std::string error = ErrorOf(device_, 64 * kMiB);
  std::string under_a_limit;
  {
    const WithLimit limit(RLIMIT_AS, MappedBytes() + 1024 * kMiB);
    under_a_limit = ErrorOf(device_, 64 * kMiB);
  }
  munmap(pages, bytes);
  for (void* const page : more) munmap(page, static_cast<size_t>(kPage));
  EXPECT_EQ(error, "cannot take 64 MiB of memory: Cannot allocate memory");
  EXPECT_EQ(under_a_limit, error) << "the limit leaves enough";
}

}  // namespace
}  // namespace cgrun
