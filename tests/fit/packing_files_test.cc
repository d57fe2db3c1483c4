// Packings that are kept in files: found again, or made anew where a file is no good.
#include "src/fit/packing_files.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/plan/memory_layout.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlanner = "first_fit_size";  // a placement for each buffer
constexpr int kMany = kNodesWorthKeeping + 1;

// Short lives, anywhere.
MemoryProblem ProblemOf(int seed, int count = kMany) {
  MemoryProblem problem;
  uint64_t state = static_cast<uint64_t>(seed) * 2654435761u + 1;
  const auto next = [&](uint64_t most) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((state >> 33) % most);
  };
  for (int i = 0; i < count; ++i) {
    const TimePoint lower = next(20'000);
    Buffer buffer;
    buffer.bytes = 64 * (1 + next(50));
    buffer.lower = lower;
    buffer.upper = lower + 1 + next(20);
    problem.buffers.push_back(buffer);
  }
  return problem;
}

// Counts what it is asked, and passes it on.
class Counted final : public PackingStore {
 public:
  explicit Counted(PackingStore& store) : store_(store) {}
  std::optional<MemoryPlan> Find(const MemoryProblem& problem, std::string_view planner) override {
    auto plan = store_.Find(problem, planner);
    found += plan.has_value();
    return plan;
  }
  void Keep(const MemoryProblem& problem, const MemoryPlan& plan) override {
    ++kept;
    store_.Keep(problem, plan);
  }
  int found = 0, kept = 0;

 private:
  PackingStore& store_;
};

class PackingFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
  }
  std::vector<fs::path> Files() const {
    if (!fs::exists(folder_)) return {};
    return {fs::directory_iterator(folder_), fs::directory_iterator()};
  }
  void Write(const std::string& text) const { std::ofstream(Files().at(0)) << text; }

  fs::path folder_;
};

void ExpectSame(const MemoryPlan& a, const MemoryPlan& b) {
  EXPECT_EQ(a.offsets, b.offsets);
  EXPECT_EQ(a.peak_bytes, b.peak_bytes);
  EXPECT_EQ(a.lower_bound_bytes, b.lower_bound_bytes);
  EXPECT_EQ(a.optimal, b.optimal);
  EXPECT_EQ(a.planner, b.planner);
  EXPECT_EQ(a.nodes, b.nodes);
}

TEST_F(PackingFilesTest, FindsWhatItKept) {
  PackingFiles files(folder_);
  Counted store(files);
  const MemoryProblem problem = ProblemOf(1);
  const MemoryPlan first = PlanMemoryOnce(problem, kPlanner, &store);
  ASSERT_GE(first.nodes, kNodesWorthKeeping);
  PackingFiles other_process(folder_);
  Counted again(other_process);
  ExpectSame(PlanMemoryOnce(problem, kPlanner, &again), first);
  EXPECT_EQ(store.kept, 1);
  EXPECT_EQ(again.found, 1);
  EXPECT_EQ(again.kept, 0);
  ExpectSame(PlanMemory(problem, kPlanner), first);
}

TEST_F(PackingFilesTest, ReadsAndKeepsNothingWhereItIsToldSo) {
  const MemoryProblem problem = ProblemOf(1);
  PackingFiles reading(folder_, /*keeps=*/false);
  const MemoryPlan plan = PlanMemoryOnce(problem, kPlanner, &reading);
  EXPECT_FALSE(fs::exists(folder_));
  PackingFiles files(folder_);
  PlanMemoryOnce(problem, kPlanner, &files);
  const auto found = reading.Find(problem, kPlanner);
  ASSERT_TRUE(found.has_value());
  ExpectSame(*found, plan);
}

TEST_F(PackingFilesTest, KeepsNothingThatTakesNoTime) {
  PackingFiles files(folder_);
  Counted store(files);
  PlanMemoryOnce(ProblemOf(1, 10), kPlanner, &store);
  EXPECT_EQ(store.kept, 0);
  EXPECT_TRUE(Files().empty());
}

TEST_F(PackingFilesTest, OtherProblemsAndPlannersAreOthers) {
  PackingFiles files(folder_);
  const MemoryProblem problem = ProblemOf(1);
  files.Keep(problem, PlanMemory(problem, kPlanner));
  EXPECT_TRUE(files.Find(problem, kPlanner));
  EXPECT_FALSE(files.Find(problem, "portfolio"));
  MemoryProblem other = problem;
  other.buffers[7].bytes += 64;
  EXPECT_FALSE(files.Find(other, kPlanner));
  other = problem;
  other.buffers[7].name = "of no account";
  EXPECT_TRUE(files.Find(other, kPlanner));
}

TEST_F(PackingFilesTest, DamagedFilesCountForNothing) {
  PackingFiles files(folder_);
  const MemoryProblem problem = ProblemOf(1);
  const MemoryPlan plan = PlanMemory(problem, kPlanner);
  const std::string zeros = "[" + std::string(2 * problem.buffers.size() - 1, '0') + "]";
  std::string overlapping = R"({"cgrun_packing":1,"planner":"first_fit_size","nodes":1,"peak":64,)"
                            R"("lower_bound":64,"offsets":[0)";
  for (size_t i = 1; i < problem.buffers.size(); ++i) overlapping += ",0";
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("{\"cgrun_packing\": 2}"),
        std::string(
            R"({"cgrun_packing":1,"planner":"first_fit_size","nodes":1,"peak":1,"offsets":[]})"),
        zeros, overlapping + "]}"}) {
    files.Keep(problem, plan);
    Write(text);
    Counted store(files);
    ExpectSame(PlanMemoryOnce(problem, kPlanner, &store), plan);
    EXPECT_EQ(store.kept, 1) << text;
  }
}

TEST_F(PackingFilesTest, TheOldestGo) {
  PackingFiles files(folder_);
  const MemoryPlan plan = PlanMemory(ProblemOf(1, 10), kPlanner);
  const int count = kMostPackingFiles + 5;
  for (int i = 0; i < count; ++i) {
    files.Keep(ProblemOf(i, 10), plan);
    for (const fs::path& file : Files()) {  // all a second older
      fs::last_write_time(file, fs::last_write_time(file) - std::chrono::seconds(1));
    }
  }
  EXPECT_EQ(Files().size(), static_cast<size_t>(kMostPackingFiles));
  EXPECT_FALSE(files.Find(ProblemOf(0, 10), kPlanner));
  EXPECT_TRUE(files.Find(ProblemOf(count - 1, 10), kPlanner));
}

TEST_F(PackingFilesTest, AFolderThatCannotBeMadeIsNoError) {
  std::ofstream(folder_.string()) << "a file";
  PackingFiles files(folder_);
  const MemoryProblem problem = ProblemOf(1);
  ExpectSame(PlanMemoryOnce(problem, kPlanner, &files), PlanMemory(problem, kPlanner));
  fs::remove(folder_);
}

}  // namespace
}  // namespace cgrun
