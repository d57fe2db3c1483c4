// Tests how much memory control groups leave, with files of the two versions in a folder.
#include "src/device/control_group.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "src/device/host_threads.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

class ControlGroupTest : public testing::Test {
 protected:
  ControlGroupTest() { fs::remove_all(root_); }

  void Write(const std::string& file, const std::string& text) {
    const fs::path path = root_ + file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  // A group of version 2; `limit` may be "max".
  void Group(const std::string& path, const std::string& limit, int64_t used) {
    const std::string folder = "/sys/fs/cgroup" + path;
    Write(folder + "/memory.max", limit);
    Write(folder + "/memory.current", std::to_string(used));
  }
  void Group1(const std::string& path, int64_t limit, int64_t used) {
    const std::string folder = "/sys/fs/cgroup/memory" + path;
    Write(folder + "/memory.limit_in_bytes", std::to_string(limit));
    Write(folder + "/memory.usage_in_bytes", std::to_string(used));
  }
  int64_t Left() const { return ControlGroupMemory(root_); }

  const std::string root_ =
      testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ControlGroupTest, WithoutGroupsThereIsNoLimit) {
  EXPECT_EQ(Left(), kNoLimit);
  Write("/proc/self/cgroup", "0::/");
  EXPECT_EQ(Left(), kNoLimit);
  Group("", "max", 70);
  EXPECT_EQ(Left(), kNoLimit);
}

TEST_F(ControlGroupTest, AContainersOwnGroupIsTheRootThatItSees) {
  Write("/proc/self/cgroup", "0::/");
  Group("", "100", 30);
  EXPECT_EQ(Left(), 70);
}

// The pages of files are counted later than memory is given back, and can seem to be more than all
// that is used: beside a limit that is none, as version 1 writes it, that overflowed.
TEST_F(ControlGroupTest, MoreOfFilesThanIsUsedLeavesAllThatThereIs) {
  constexpr int64_t kUnlimited = 9223372036854771712;
  Write("/proc/self/cgroup", "4:memory:/");
  Group1("", kUnlimited, 500'000'000);
  Write("/sys/fs/cgroup/memory/memory.stat", "total_active_file 4000000000");
  EXPECT_EQ(Left(), kUnlimited);
  Group1("", 1000, 400);
  EXPECT_EQ(Left(), 1000);
}

// The group that leaves least counts, wherever it is on the way up.
TEST_F(ControlGroupTest, EveryGroupAboveCounts) {
  Write("/proc/self/cgroup", "0::/user/session/run");
  Group("/user", "max", 900);
  Group("/user/session", "1000", 900);
  Group("/user/session/run", "500", 50);
  Group("/user/session/other", "10", 10);
  EXPECT_EQ(Left(), 100);
  Group("/user/session/run", "60", 50);
  EXPECT_EQ(Left(), 10);
  Group("/user", "905", 900);
  EXPECT_EQ(Left(), 5);
}

TEST_F(ControlGroupTest, WhatIsCachedOfFilesIsLeft) {
  Write("/proc/self/cgroup", "0::/run");
  Group("/run", "1000", 900);
  Write("/sys/fs/cgroup/run/memory.stat",
        "anon 100\nfile 700\nshmem 100\ninactive_anon 100\nactive_file 200\ninactive_file 400");
  EXPECT_EQ(Left(), 700);
}

TEST_F(ControlGroupTest, AFullGroupLeavesNothing) {
  Write("/proc/self/cgroup", "0::/run");
  Group("/run", "1000", 1010);
  EXPECT_EQ(Left(), 0);
}

TEST_F(ControlGroupTest, TheFirstVersionHasOtherNames) {
  Write("/proc/self/cgroup", "9:cpu,cpuacct:/fast\n4:memory:/box/run\n1:name=systemd:/\n0::/");
  Group1("", 9223372036854771712, 5000);
  Group1("/box", 2000, 1500);
  Group1("/box/run", 4000, 1400);
  Group1("/fast", 10, 10);
  EXPECT_EQ(Left(), 500);
  Write("/sys/fs/cgroup/memory/box/memory.stat",
        "cache 1\nactive_file 1\ninactive_file 1\ntotal_active_file 100\ntotal_inactive_file 200");
  EXPECT_EQ(Left(), 800);
}

TEST_F(ControlGroupTest, AControllerStandsInAListOfThem) {
  Write("/proc/self/cgroup", "4:hugetlb,memory:/run");
  Group1("/run", 100, 10);
  EXPECT_EQ(Left(), 90);
}

// The path is that of the host, of which the container sees its own part as the root.
TEST_F(ControlGroupTest, APathThatIsNotMountedStandsForTheRoot) {
  Write("/proc/self/cgroup", "4:memory:/docker/0123");
  Group1("", 100, 25);
  EXPECT_EQ(Left(), 75);
}

constexpr double kNoQuota = std::numeric_limits<double>::infinity();

class ProcessorQuotaTest : public ControlGroupTest {
 protected:
  void Quota2(const std::string& path, const std::string& quota) {
    Write("/sys/fs/cgroup" + path + "/cpu.max", quota);
  }
  void Quota1(const std::string& path, int64_t quota, int64_t period) {
    const std::string folder = "/sys/fs/cgroup/cpu" + path;
    Write(folder + "/cpu.cfs_quota_us", std::to_string(quota));
    Write(folder + "/cpu.cfs_period_us", std::to_string(period));
  }
  double Quota() const { return ControlGroupProcessors(root_); }
};

TEST_F(ProcessorQuotaTest, WithoutGroupsThereIsNone) {
  EXPECT_EQ(Quota(), kNoQuota);
  Write("/proc/self/cgroup", "0::/run");
  EXPECT_EQ(Quota(), kNoQuota);
  Quota2("/run", "max 100000");
  EXPECT_EQ(Quota(), kNoQuota);
}

TEST_F(ProcessorQuotaTest, TheLeastOfTheOwnGroupAndThoseAboveCounts) {
  Write("/proc/self/cgroup", "0::/user/run");
  Quota2("/user/run", "150000 100000");
  EXPECT_EQ(Quota(), 1.5);
  Quota2("/user", "50000 100000");
  EXPECT_EQ(Quota(), 0.5);
  Quota2("/other", "1000 100000");
  EXPECT_EQ(Quota(), 0.5);
}

TEST_F(ProcessorQuotaTest, TheFirstVersionHasOtherNames) {
  Write("/proc/self/cgroup", "9:cpu,cpuacct:/box/run\n4:memory:/fast\n0::/");
  Quota1("", -1, 100'000);
  EXPECT_EQ(Quota(), kNoQuota);
  Quota1("/fast", 1000, 100'000);
  Quota1("/box/run", 300'000, 100'000);
  EXPECT_EQ(Quota(), 3);
  Quota1("/box", 50'000, 50'000);
  EXPECT_EQ(Quota(), 1);
}

TEST(HostThreadCount, TheLeastLimitIsNamed) {
  constexpr int kMost = std::numeric_limits<int>::max();
  EXPECT_EQ(CountThreads(8, kNoQuota, kMost, nullptr).threads, 8);
  EXPECT_EQ(CountThreads(8, 1.5, kMost, nullptr).threads, 2);
  EXPECT_EQ(CountThreads(8, 0.1, kMost, nullptr).threads, 1);
  EXPECT_EQ(CountThreads(8, 1e300, kMost, nullptr).threads, 8);
  EXPECT_EQ(CountThreads(8, 1.5, kMost, nullptr).reason,
            "the quota of the control group is 1.5 processors");
  EXPECT_EQ(CountThreads(8, 4, 3, nullptr).reason, "OMP_THREAD_LIMIT is 3");
  EXPECT_EQ(CountThreads(8, 4, 3, "2,1").reason, "OMP_NUM_THREADS is 2");
  EXPECT_EQ(CountThreads(8, kNoQuota, kMost, "16").threads, 8);
  for (const char* text : {"", "x", "0", "-3", "99999999999999999999"}) {
    EXPECT_EQ(CountThreads(8, kNoQuota, kMost, text).threads, 8) << text;
  }
}

TEST_F(ControlGroupTest, LinesThatSayNothingAreNoGroups) {
  Write("/proc/self/cgroup", "\nmemory\n4:memory\n0:/run");
  Group("/run", "100", 10);
  EXPECT_EQ(Left(), kNoLimit);
}

}  // namespace
}  // namespace cgrun
