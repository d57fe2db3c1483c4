// Malformed files never crash the parser, and end in a model or in errors.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "src/model/model_file.h"
#include "src/model/tree.h"
#include "tests/model/model_testing.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

// Either a model, or errors that can be shown.
void ParseAny(const std::string& text) {
  Diagnostics diagnostics;
  const auto tree = Parse({"model.yaml", text}, diagnostics);
  ASSERT_EQ(tree.has_value(), !diagnostics.has_errors());
  const auto model = ParseModel({"model.yaml", text}, {}, diagnostics);
  ASSERT_EQ(model.has_value(), !diagnostics.has_errors());
  diagnostics.ToString();
  if (!tree) return;
  Diagnostics again;
  ASSERT_TRUE(Parse({"again.yaml", ToYaml(*tree)}, again)) << text << again.ToString();
}

// The malformed files of $CGRUN_SHARED_DATA/bad-inputs.tar.xz, unpacked; empty without them.
fs::path UnpackedBadInputs() {
  const char* data = std::getenv("CGRUN_SHARED_DATA");
  if (data == nullptr) return {};
  const fs::path archive = fs::path(data) / "bad-inputs.tar.xz";
  if (!fs::exists(archive)) return {};
  const fs::path folder = fs::path(testing::TempDir()) / "bad-inputs";
  fs::create_directories(folder);
  const std::string command = "tar -xf '" + archive.string() + "' -C '" + folder.string() + "'";
  return std::system(command.c_str()) == 0 ? folder : fs::path();
}

constexpr char kMissing[] =
    "CGRUN_SHARED_DATA names no folder with bad-inputs.tar.xz, or tar cannot read it";

std::vector<fs::path> FilesIn(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  return files;
}

TEST(BadInputsTest, WhatIsNotYamlIsRefused) {
  const fs::path folder = UnpackedBadInputs();
  if (folder.empty()) GTEST_SKIP() << kMissing;
  int refused = 0;
  for (const fs::path& file : FilesIn(folder)) {
    if (file.filename() != "error") continue;
    const fs::path input = file.parent_path() / "in.yaml";
    if (!fs::exists(input)) continue;
    EXPECT_NE(TreeErrors(ReadText(input.string())), "") << input;
    ++refused;
  }
  EXPECT_GE(refused, 20);
}

// Files of the YAML test suite that must be refused and that yaml-cpp accepts.
// docs/reference/model-format.md names them with the reason for some.
const std::set<std::string> kTakenByYamlCpp = {"CQ3W", "CTN5", "EB22", "G9HC",    "GT5M",
                                               "H7J7", "QLJ7", "TD5N", "Y79Y/003"};

bool TakenByYamlCpp(const std::string& text) {
  try {
    YAML::LoadAll(text);
    return true;
  } catch (const YAML::Exception&) {
    return false;
  }
}

TEST(BadInputsTest, WhatYamlCppTakesIsNamed) {
  const std::string doc = ReadText("docs/reference/model-format.md");
  for (const std::string& name : kTakenByYamlCpp) {
    EXPECT_NE(doc.find("`" + name + "`"), std::string::npos) << name;
  }
  const fs::path folder = UnpackedBadInputs();
  if (folder.empty()) GTEST_SKIP() << kMissing;
  const fs::path suite = folder / "bad-inputs/yaml/yaml-test-suite";
  std::set<std::string> by_yaml_cpp, by_us;
  for (const fs::path& file : FilesIn(suite)) {
    const fs::path input = file.parent_path() / "in.yaml";
    if (file.filename() != "error" || !fs::exists(input)) continue;
    const std::string name = fs::relative(file.parent_path(), suite).string();
    const std::string text = ReadText(input.string());
    if (TakenByYamlCpp(text)) by_yaml_cpp.insert(name);
    if (TreeErrors(text).empty()) by_us.insert(name);
  }
  EXPECT_EQ(by_yaml_cpp, kTakenByYamlCpp);
  EXPECT_EQ(by_us, std::set<std::string>());
}

TEST(BadInputsTest, NoFileCrashesTheParser) {
  const fs::path folder = UnpackedBadInputs();
  if (folder.empty()) GTEST_SKIP() << kMissing;
  int files = 0;
  for (const fs::path& file : FilesIn(folder)) {
    SCOPED_TRACE(file);
    ParseAny(ReadText(file.string()));
    ++files;
  }
  EXPECT_GE(files, 1000);
}

// In a shipped model, a few characters are changed, removed or doubled.
TEST(BadInputsTest, NoMistypedModelCrashesTheParser) {
  const std::string good = ReadText("models/lenet.yaml");
  ASSERT_NE(good, "");
  int still_good = 0, bad = 0;
  const bool passed = rc::check([&] {
    std::string text = good;
    const int changes = *rc::gen::element(1, 2, 5);
    for (int i = 0; i < changes; ++i) {
      const size_t at = *rc::gen::inRange<size_t>(0, text.size());
      const size_t length = *rc::gen::element<size_t>(1, 1, 1, 3, 20);
      const char c = *rc::gen::elementOf(std::string("{}[]:,-#&*!|>'\"%@ \t\n\r0a$~\x80\x01"));
      switch (*rc::gen::element(0, 1, 2)) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.erase(at, length);
          break;
        default:
          text.insert(at, text.substr(at / 2, length) + c);
      }
    }
    ParseAny(text);
    ++(ParseModelText(text) ? still_good : bad);
  });
  EXPECT_TRUE(passed);
  EXPECT_GT(bad, 20);
}

TEST(BadInputsTest, NoTruncatedModelCrashesTheParser) {
  const std::string good = ReadText("models/lenet-mnist.yaml");
  for (size_t size = 0; size < good.size(); ++size) ParseAny(good.substr(0, size));
}

}  // namespace
}  // namespace cgrun
