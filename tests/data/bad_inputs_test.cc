// The photographs and the malformed files of CGRUN_SHARED_DATA through every reader that might be
// given them: a sample or a clear error, nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "src/data/dataset.h"
#include "src/data/image_file.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLimit = 64 << 20;

// Unpacks an archive of the shared folder. If the archive is not there, it holds nothing.
class Archive {
 public:
  Archive(const std::string& name, const std::string& parts) {
    const char* shared = std::getenv("CGRUN_SHARED_DATA");
    const std::string archive = std::string(shared != nullptr ? shared : "") + "/" + name;
    if (shared == nullptr || !fs::exists(archive)) return;
    const std::string command = "tar -xf '" + archive + "' -C '" + folder_.path() + "' " + parts;
    there_ = std::system(command.c_str()) == 0;
  }

  bool there() const { return there_; }

  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

 private:
  TempFolder folder_;
  bool there_ = false;
};

// "" for an image that becomes a sample, else what is wrong with it.
std::string ImageError(const std::string& file) {
  const std::string error = ErrorOf([&] {
    LoadImage(file, {3, 16, 16, ImageFit::kCover}, {kLimit});
  });
  if (error == "no error") return "";
  const size_t name = error.find("' ");
  EXPECT_NE(name, std::string::npos) << error;
  return error.substr(name + 2, error.find('\n') - name - 2);
}

std::string DatasetErrors(const std::string& format, const std::string& option,
                          const std::string& file) {
  DataOptions options;
  options.values[option] = {file, {}};
  options.fields = {{option, DType::kF32, Shape{1}}};
  options.memory_limit = kLimit;
  Diagnostics diagnostics;
  const auto dataset = OpenDataset({format, {}}, options, diagnostics);
  EXPECT_EQ(dataset == nullptr, diagnostics.has_errors()) << file;
  return diagnostics.ToString();
}

TEST(SharedPhotosTest, EveryKindIsReadOrNamed) {
  const Archive archive("photos.tar.gz", "");
  if (!archive.there()) GTEST_SKIP() << "CGRUN_SHARED_DATA names no folder with photos.tar.gz";
  const std::map<std::string, std::string> refused = {
      {"testimgari.jpg", "is a JPEG image with arithmetic coding, which is not supported"},
      {"testorig12.jpg", "is a JPEG image with 12 bits a colour, which is not supported"},
      {"truncated_jpeg.jpg", "is cut off: its end is missing"},
      {"testorig.ppm", "is neither a JPEG nor a PNG image"},
      {"LICENSE", "is neither a JPEG nor a PNG image"}};
  int read = 0;
  for (const std::string& file : archive.Files()) {
    const auto expected = refused.find(fs::path(file).filename());
    EXPECT_EQ(ImageError(file), expected == refused.end() ? "" : expected->second) << file;
    read += expected == refused.end();
  }
  EXPECT_GE(read, 12);
}

TEST(BadInputsTest, AreReadOrRefusedWithAText) {
  const Archive archive("bad-inputs.tar.xz",
                        "bad-inputs/png bad-inputs/jpeg bad-inputs/go-fuzz-corpus");
  if (!archive.there()) GTEST_SKIP() << "CGRUN_SHARED_DATA names no folder with bad-inputs.tar.xz";
  std::map<std::string, int> read, refused;
  for (const std::string& file : archive.Files()) {
    const std::string image = ImageError(file);
    const std::string csv = DatasetErrors("csv", "file", file);
    const std::string npy = DatasetErrors("npy", "x", file);
    const bool pngsuite = file.find("/bad-inputs/png/x") != std::string::npos;
    EXPECT_TRUE(!pngsuite || !image.empty()) << file;
    ++(image.empty() ? read : refused)["image"];
    ++(csv.empty() ? read : refused)["csv"];
    ++(npy.empty() ? read : refused)["npy"];
    if (std::getenv("CGRUN_SHOW") != nullptr) std::printf("%s: %s\n", file.c_str(), image.c_str());
    if (std::getenv("CGRUN_SHOW") != nullptr && file.find("/csv/") != std::string::npos)
      std::printf("  csv %s", csv.c_str());
  }
  EXPECT_GT(refused["image"], 100);
  EXPECT_GT(read["image"], 5);
  EXPECT_GT(refused["csv"], 100);
  EXPECT_EQ(read["npy"], 0);
}

}  // namespace
}  // namespace cgrun
