// The swap file: bytes go there and come back, whatever else is under way, and what fails is told.
#include "src/device/swap_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/device/swap_folder.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMiB = 1 << 20;

std::string FreshFolder(const std::string& name) {
  const fs::path folder = fs::path(testing::TempDir()) / name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder.string();
}

std::vector<std::byte> Numbered(int64_t bytes, int seed) {
  std::vector<std::byte> numbers(static_cast<size_t>(bytes));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<std::byte>(i * 7 + i / 251 + static_cast<size_t>(seed));
  }
  return numbers;
}

// Files of the process may not grow beyond this, as on a disk that is full. (The program ignores
// the signal, too.)
class SizeLimit {
 public:
  explicit SizeLimit(int64_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(bytes);
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_ = {};
};

TEST(SwapFile, GivesBackWhatItTook) {
  constexpr int kTensors = 8;
  const int64_t bytes = kMiB / 4 + 5;
  SwapFile file(FreshFolder("round"), kTensors * bytes, kTensors);
  std::vector<std::vector<std::byte>> tensors;
  for (int i = 0; i < kTensors; ++i) tensors.push_back(Numbered(bytes, i));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kTensors; ++i) {
      file.StartWrite(i * bytes, tensors[static_cast<size_t>(i)].data(), bytes);
    }
    for (int i = 0; i < kTensors; ++i) {
      file.Wait(i * bytes);
      std::ranges::fill(tensors[static_cast<size_t>(i)], std::byte{0});
    }
    for (int i = kTensors - 1; i >= 0; --i) {
      file.StartRead(i * bytes, tensors[static_cast<size_t>(i)].data(), bytes);
    }
    for (int i = 0; i < kTensors; ++i) {
      file.Wait(i * bytes);
      ASSERT_EQ(tensors[static_cast<size_t>(i)], Numbered(bytes, i)) << round << ", " << i;
    }
  }
  EXPECT_NO_THROW(file.Check());
}

TEST(SwapFile, HasNoNameInItsFolder) {
  const std::string folder = FreshFolder("nameless");
  const SwapFile file(folder, kMiB, 1);
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST(SwapFile, SaysAtOnceThatThereIsNoRoom) {
  const SizeLimit limit(kMiB);
  const std::string folder = FreshFolder("full");
  EXPECT_NO_THROW(SwapFile(folder, kMiB, 1));
  try {
    SwapFile(folder, 2 * kMiB, 1);
    FAIL() << "it found room";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("cannot take 2 MiB for the swap file in " + folder),
              std::string::npos)
        << error.what();
    EXPECT_NE(error.help(), "");
  }
}

TEST(SwapFile, NeedsItsFolder) {
  EXPECT_THROW(SwapFile(FreshFolder("gone") + "/nothing", kMiB, 1), UserError);
  EXPECT_THROW(MeasureTransfers(FreshFolder("gone") + "/nothing"), UserError);
}

TEST(SwapFile, TellsOfATransferThatFails) {
  SwapFile file(FreshFolder("fails"), 2 * kMiB, 4);
  std::vector<std::byte> tensor = Numbered(2 * kMiB, 1);
  const SizeLimit limit(kMiB);
  file.StartWrite(0, tensor.data(), 2 * kMiB);
  file.Wait(0);
  EXPECT_THROW(file.Check(), UserError);
  file.StartRead(0, tensor.data(), 2 * kMiB);  // nothing hangs, and the first error stays
  file.Wait(0);
  try {
    file.Check();
    FAIL() << "it forgot";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("cannot write to the swap file"), std::string::npos)
        << error.what();
  }
}

TEST(SwapFolder, IsMeasured) {
  const std::string folder = FreshFolder("speed");
  const TransferSpeed speed = MeasureTransfers(folder);
  EXPECT_GT(speed.write_bytes_per_second, 1e3);
  EXPECT_GT(speed.read_bytes_per_second, 1e3);
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST(SwapFolder, CanLieInMemory) {
  EXPECT_FALSE(LiesInMemory("/proc"));
  EXPECT_FALSE(LiesInMemory("/no such folder"));
  if (!fs::exists("/dev/shm")) GTEST_SKIP() << "there is no /dev/shm";
  EXPECT_TRUE(LiesInMemory("/dev/shm"));
}

}  // namespace
}  // namespace cgrun
