// Every broken file of golden/ has exactly the errors in the text beside it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "src/model/model_file.h"
#include "tests/model/model_testing.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr char kFolder[] = "tests/model/golden";

std::vector<fs::path> BrokenFiles() {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class GoldenTest : public testing::TestWithParam<fs::path> {};

TEST_P(GoldenTest, HasTheseErrors) {
  const fs::path& file = GetParam();
  Diagnostics diagnostics;
  EXPECT_FALSE(LoadModelFile(file.string(), {}, diagnostics));
  const std::string errors = diagnostics.ToString();
  const fs::path golden = fs::path(file).replace_extension(".errors");
  if (!GoldenRoot().empty()) {
    std::ofstream(fs::path(GoldenRoot()) / golden, std::ios::binary) << errors;
  } else {
    EXPECT_EQ(errors, ReadText(golden.string()));
  }
}

INSTANTIATE_TEST_SUITE_P(AllFiles, GoldenTest, testing::ValuesIn(BrokenFiles()),
                         [](const auto& param) { return param.param.stem().string(); });

TEST(GoldenFilesTest, AreThere) { EXPECT_GE(BrokenFiles().size(), 15u); }

}  // namespace
}  // namespace cgrun
