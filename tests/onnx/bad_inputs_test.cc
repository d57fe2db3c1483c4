// The malformed ONNX and protobuf files of $CGRUN_SHARED_DATA/bad-inputs.tar.xz, as each kind of
// message: they are refused, or written as they were read.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "src/base/diagnostics.h"
#include "src/onnx/onnx_file.h"
#include "src/onnx/read.h"
#include "src/onnx/write.h"
#include "tests/io/test_files.h"
#include "tests/onnx/wire_builder.h"

namespace cgrun::onnx {
namespace {

namespace fs = std::filesystem;

constexpr char kMissing[] =
    "CGRUN_SHARED_DATA names no folder with bad-inputs.tar.xz, or tar cannot read it";

bool Unpack(const TempFolder& folder) {
  const char* data = std::getenv("CGRUN_SHARED_DATA");
  if (data == nullptr) return false;
  const fs::path archive = fs::path(data) / "bad-inputs.tar.xz";
  if (!fs::exists(archive)) return false;
  const std::string command = "tar -xf '" + archive.string() + "' -C '" + folder.path() +
                              "' bad-inputs/onnx bad-inputs/go-fuzz-corpus/protobuf";
  return std::system(command.c_str()) == 0;
}

// Returns whether the file was read.
template <class M>
bool TryAs(const std::string& path) {
  const MappedFile file(path);
  try {
    const M message = ReadMessage<M>(file.bytes(), path);
    EXPECT_EQ(WriteMessage(message), TextOf(file.bytes())) << path;
    return true;
  } catch (const InputError& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with("'" + path + "'")) << error.what();
    return false;
  }
}

TEST(BadInputsTest, EachIsRefusedOrComesBack) {
  const TempFolder folder;
  if (!Unpack(folder)) GTEST_SKIP() << kMissing;
  int files = 0, read = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder.path())) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    files += 4;
    read +=
        TryAs<Model>(path) + TryAs<Tensor>(path) + TryAs<Sequence>(path) + TryAs<Optional>(path);
  }
  EXPECT_GE(files, 4 * 400);
  EXPECT_GE(read, 1);
  EXPECT_GE(files - read, 400);
}

// The other seven are well-formed: what is wrong with them is the importer's to find.
TEST(BadInputsTest, TheOneThatIsNoModelIsRefused) {
  const TempFolder folder;
  if (!Unpack(folder)) GTEST_SKIP() << kMissing;
  int read = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "bad-inputs/onnx")) {
    const std::string name = entry.path().filename().string();
    const std::string error = ErrorOf([&] { OnnxFile(entry.path().string()); });
    EXPECT_EQ(error != "no error", name == "ort__corrupt-model.onnx") << name << ": " << error;
    ++read;
  }
  EXPECT_GE(read, 8);
}

}  // namespace
}  // namespace cgrun::onnx
