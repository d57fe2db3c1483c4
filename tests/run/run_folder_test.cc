// Tests which files a run folder takes for its own, and which it leaves alone.
#include "src/run/run_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

Names NamesIn(const std::string& folder) {
  Names names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// Makes the folder that a killed run leaves, between files of somebody else.
std::string KilledRun() {
  const std::string folder = FreshFolder();
  RunSettings settings;
  settings.kept_files = {"hidden.npy"};
  WriteRunSettings(folder, settings);
  for (const char* name : {"model.yaml", "checkpoint-12.safetensors.tmp", "summary.json.tmp1",
                           "hidden.npy", "hidden.npy.tmp", "notes.txt", "notes.tmp"}) {
    std::ofstream(folder + "/" + name) << "half";
  }
  return folder;
}

TEST(RunFolder, KnowsTheCommandsOfItsRun) {
  const std::string folder = FreshFolder();
  RunSettings settings;
  settings.parts = {{"2026-05-04 15:30:00 +0200", "0.1", "cgrun train 'a b.yaml'", 0},
                    {"2026-05-05 15:30:00 +0200", "0.2", "cgrun train --resume \"run\"", 120}};
  WriteRunSettings(folder, settings);
  EXPECT_EQ(ReadRunSettings(folder).parts, settings.parts);
  WriteRunSettings(folder, {});
  EXPECT_TRUE(ReadRunSettings(folder).parts.empty());
  std::ofstream(folder + "/run.json")
      << R"({"device": "cpu", "mode": "graph", "threads": 1, "limit_batches": 0, "parts": 7})";
  EXPECT_THROW(ReadRunSettings(folder), UserError);
}

TEST(RunFolder, ForceRemovesWhatAKilledRunHadBegunToWrite) {
  const std::string folder = KilledRun();
  EXPECT_THROW(RunFolder::Check(folder, /*force=*/false, {}), InputError);
  RunFolder run(folder, /*force=*/true, {});
  run.Keep();
  EXPECT_EQ(NamesIn(folder), (Names{"notes.tmp", "notes.txt"}));
}

TEST(RunFolder, ResumingRemovesWhatAKilledRunHadBegunToWrite) {
  const std::string folder = KilledRun();
  RemoveTemporaries(folder);
  EXPECT_EQ(NamesIn(folder),
            (Names{"hidden.npy", "model.yaml", "notes.tmp", "notes.txt", "run.json"}));
}

TEST(RunFolder, ARunThatFailsAtOnceLeavesNothing) {
  const std::string folder = FreshFolder() + "/new/run";
  {
    const RunFolder run(folder, /*force=*/false, {});
    std::ofstream(folder + "/checkpoint-0.safetensors.tmp") << "half";
  }
  EXPECT_FALSE(fs::exists(fs::path(folder).parent_path()));
}

// Beside its checkpoint lies what tells why.
TEST(RunFolder, ARunThatFailsInItsFirstEpochLeavesItsStart) {
  const std::string folder = FreshFolder() + "/run";
  {
    const RunFolder run(folder, /*force=*/false, {});
    std::ofstream(folder + "/checkpoint-0.safetensors") << "whole";
  }
  EXPECT_TRUE(fs::exists(folder + "/checkpoint-0.safetensors"));
}

TEST(RunFolder, AFailureIsReplacedUnlessItLeftABestModel) {
  const std::string folder = FreshFolder() + "/run";
  const auto fail = [&] {
    const RunFolder run(folder, /*force=*/true, {});
    std::ofstream(folder + "/checkpoint-0.safetensors") << "whole";
    WriteFailure(folder, UserError("it diverged", "a smaller rate"));
  };
  fail();
  std::ostringstream failure;
  failure << std::ifstream(folder + "/failure.txt").rdbuf();
  EXPECT_EQ(failure.str(), "it diverged\nhelp: a smaller rate\n");
  EXPECT_NO_THROW(RunFolder(folder, /*force=*/false, {}));
  fail();
  std::ofstream(folder + "/best.safetensors") << "best";
  EXPECT_THROW(RunFolder(folder, /*force=*/false, {}), InputError);
  EXPECT_TRUE(fs::exists(folder + "/best.safetensors"));
  RemoveSummary(folder);
  EXPECT_FALSE(fs::exists(folder + "/failure.txt"));
}

}  // namespace
}  // namespace cgrun
