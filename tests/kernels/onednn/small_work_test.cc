// Small work of oneDNN stays on the calling thread, and gives the bits of one thread.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>

#include "src/kernels/host_run.h"
#include "src/kernels/kernel.h"
#include "src/ops/conv.h"

namespace cgrun {
namespace {

constexpr int kTeam = 2;

// Describes a convolution of 3 × 3 with as many filters as channels.
NodeSignature Conv(int64_t channels, int64_t side) {
  const Attributes attributes = Attributes::Of(
      ConvAttributes{channels, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 1, /*bias=*/false});
  const TensorType images{DType::kF32, {1, channels, side, side}};
  const TensorType weights{DType::kF32, ConvWeightShape(channels, channels, 1, {3, 3})};
  return {OpId::conv, attributes, {images, weights}, {images}, {}};
}

std::ptrdiff_t ThreadsOfProcess() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

class SmallWork : public testing::Test {
 protected:
  void SetUp() override {
    library_ = FindKernelLibrary("cpu");
    if (library_ == nullptr) GTEST_SKIP() << DescribeKernels("cpu");
    omp_set_num_threads(kTeam);
  }

  std::optional<KernelOption> Option(const NodeSignature& node, int threads) const {
    for (const KernelOption& option : library_->Options(node, {threads})) {
      if (option.kernel.starts_with("onednn.")) return option;
    }
    return std::nullopt;
  }

  // Returns the bytes of the result for inputs of 0, 1/97, 2/97, …
  std::vector<std::byte> Result(const NodeSignature& node, int threads) const {
    HostRun run(*library_, node, *Option(node, threads), threads);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const std::span<std::byte> bytes = run.operand(i);
      auto* numbers = reinterpret_cast<float*>(bytes.data());
      for (size_t n = 0; n < bytes.size() / sizeof(float); ++n) {
        numbers[n] = static_cast<float>(n % 97) / 97;
      }
    }
    run.Run();
    const std::span<std::byte> result = run.operand(node.inputs.size());
    return {result.begin(), result.end()};
  }

  const KernelLibrary* library_ = nullptr;
};

TEST_F(SmallWork, StaysOnTheCallingThread) {
  const NodeSignature small = Conv(16, 8), large = Conv(64, 56);
  if (!Option(small, kTeam) || !Option(large, kTeam)) GTEST_SKIP() << "no such kernel here";
  const std::vector<std::byte> result = Result(small, kTeam);
  EXPECT_EQ(ThreadsOfProcess(), 1) << "a team was woken for 300,000 products";
  EXPECT_EQ(omp_get_max_threads(), kTeam) << "other work is to have its team";
  EXPECT_EQ(result, Result(small, 1));
  Result(large, kTeam);
  EXPECT_EQ(ThreadsOfProcess(), kTeam) << "large work is to have a team";
}

}  // namespace
}  // namespace cgrun
