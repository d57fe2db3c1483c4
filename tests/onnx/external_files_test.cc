// External data: where it may lie, and the published attacks on readers of it. Each case is tried
// with both ways of looking up a name.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include "src/onnx/onnx_file.h"
#include "src/onnx/write.h"
#include "tests/io/test_files.h"
#include "tests/onnx/wire_builder.h"

namespace cgrun::onnx {
namespace {

using Keys = std::initializer_list<std::pair<std::string, std::string>>;

class ExternalFilesTest : public testing::TestWithParam<Lookup> {
 protected:
  ExternalFilesTest() {
    std::filesystem::create_directories(folder_ / "model/inner");
    WriteBytes(folder_ / "model/w.bin", "abcdefgh");
    WriteBytes(folder_ / "model/inner/w.bin", "1234");
    WriteBytes(folder_ / "secret", "key!");
  }

  // The elements of the first initializer, four bytes whose data is external, or the error.
  std::string Read(Keys keys, std::initializer_list<int64_t> dims = {4}) {
    WriteBytes(folder_ / "model/m.onnx", ModelOf(Bytes(5, ExternalTensor(keys, dims))));
    std::string elements;
    const std::string error = ErrorOf([&] {
      OnnxFile file(folder_ / "model/m.onnx", GetParam());
      elements = TextOf(file.Bytes(file.model().graph->initializers.at(0)).bytes());
      file.CheckWhole();
    });
    return error == "no error" ? elements : folder_.Anonymous(error);
  }

  TempFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Lookups, ExternalFilesTest,
                         testing::Values(Lookup::kSystem, Lookup::kByHand), [](const auto& info) {
                           return info.param == Lookup::kSystem ? "BySystem" : "ByHand";
                         });

constexpr char kOutside[] =
    "', which is no name of a file inside the model's folder\n"
    "help: such a model may have been made to read other files: do not use it";
constexpr char kLink[] =
    "', which is a link or lies behind one\nhelp: copy the file to its place: `cp -L`";
constexpr char kHas[] = "'DIR/model/m.onnx': tensor 'w' has external data ";

TEST_P(ExternalFilesTest, DataLiesInTheModelsFolder) {
  EXPECT_EQ(Read({{"location", "w.bin"}}), "abcd");
  EXPECT_EQ(Read({{"location", "w.bin"}, {"offset", "4"}, {"length", "4"}}), "efgh");
  EXPECT_EQ(Read({{"location", "inner/w.bin"}}), "1234");
  EXPECT_EQ(Read({{"location", "./inner//w.bin"}}), "1234");
  EXPECT_EQ(Read({{"location", "w.bin"}, {"offset", "8"}}, {0}), "");
  EXPECT_EQ(Read({{"location", "none.bin"}}),
            "'DIR/model/m.onnx': tensor 'w' has external data in 'none.bin', and that file is not "
            "there\n"
            "help: it holds weights of the model: put it into the folder of 'DIR/model/m.onnx'");
}

// CVE-2022-25882, CVE-2024-27318, CVE-2024-5187
TEST_P(ExternalFilesTest, NoPathLeadsOutOfTheFolder) {
  for (const std::string name :
       {"../secret", "inner/../../secret", "inner/../w.bin", "..", "", ".", "./", "/etc/passwd"}) {
    EXPECT_EQ(Read({{"location", name}}), std::string(kHas) + "in '" + name + kOutside);
  }
  EXPECT_EQ(Read({{"location", folder_ / "secret"}}),
            std::string(kHas) + "in 'DIR/secret" + kOutside);
  EXPECT_EQ(Read({{"location", std::string("w.bin\0/../../secret", 19)}}),
            std::string(kHas) + "in 'w.bin?/../../secret" + kOutside);
}

// CVE-2026-27489
TEST_P(ExternalFilesTest, NoLinkIsFollowed) {
  namespace fs = std::filesystem;
  fs::create_symlink("../secret", folder_ / "model/link");
  fs::create_symlink("w.bin", folder_ / "model/near");
  fs::create_directory_symlink("..", folder_ / "model/up");
  fs::create_directory_symlink("/proc/self", folder_ / "model/proc");
  fs::create_symlink("nowhere", folder_ / "model/broken");
  for (const std::string name : {"link", "near", "up/secret", "proc/root/etc/passwd", "broken"}) {
    EXPECT_EQ(Read({{"location", name}}), std::string(kHas) + "in '" + name + kLink);
  }
}

TEST_P(ExternalFilesTest, NoHardLinkIsRead) {
  std::filesystem::create_hard_link(folder_ / "secret", folder_ / "model/hard");
  EXPECT_EQ(Read({{"location", "hard"}}),
            std::string(kHas) +
                "in 'hard', which has 2 hard links\n"
                "help: it may be a file of somebody else: copy it to its place");
}

TEST_P(ExternalFilesTest, OnlyFilesAreRead) {
  ASSERT_EQ(mkfifo((folder_ / "model/pipe").c_str(), 0600), 0);
  EXPECT_EQ(Read({{"location", "pipe"}}),
            "'DIR/model/pipe' is a FIFO (named pipe), not a file");  // and it does not wait
  EXPECT_EQ(Read({{"location", "inner"}}), "'DIR/model/inner' is a folder, not a file");
}

TEST_P(ExternalFilesTest, OffsetsLieInsideTheFile) {
  const std::string whole = ", which has 8";
  EXPECT_EQ(Read({{"location", "w.bin"}, {"offset", "5"}}),
            "'DIR/model/m.onnx': tensor 'w' has 4 bytes of external data at byte 5 of "
            "'DIR/model/w.bin', which has 8");
  for (const std::string offset : {"9", "9223372036854775807", "9223372036854775804"}) {
    EXPECT_TRUE(Read({{"location", "w.bin"}, {"offset", offset}}).ends_with(whole)) << offset;
  }
  for (const std::string offset : {"-1", "+1", " 1", "1 ", "0x1", "1e3", "", "9223372036854775808",
                                   "18446744073709551616", "-9223372036854775808"}) {
    EXPECT_EQ(Read({{"location", "w.bin"}, {"offset", offset}}),
              std::string(kHas) + "with the offset '" + offset + "', which is no number of bytes");
  }
  EXPECT_EQ(Read({{"location", "w.bin"}, {"length", "5"}}),
            std::string(kHas) + "of 5 bytes, but its elements take 4");
  EXPECT_NE(Read({{"location", "w.bin"}, {"length", "-4"}}).find("no number"), std::string::npos);
  // The tensor has half an EiB.
  EXPECT_TRUE(Read({{"location", "w.bin"}, {"offset", "8"}}, {int64_t{1} << 59}).ends_with(whole));
  EXPECT_NE(Read({{"location", "w.bin"}}, {int64_t{1} << 62, 2}).find("too large"),
            std::string::npos);
}

// CVE-2026-34445: no key but the four is used.
TEST_P(ExternalFilesTest, OtherKeysMeanNothing) {
  EXPECT_EQ(
      Read({{"basepath", "/etc"}, {"location", "w.bin"}, {"__class__", "x"}, {"prepacked_0", "1"}}),
      "abcd");
  EXPECT_EQ(Read({{"location", "w.bin"}, {"checksum", "not compared"}}), "abcd");
  EXPECT_EQ(Read({{"offset", "0"}}), std::string(kHas) + "without a location");
  for (const std::string key : {"location", "offset", "length", "checksum"}) {
    EXPECT_EQ(Read({{"location", "w.bin"}, {key, "0"}, {key, "0"}}),
              "'DIR/model/m.onnx': tensor 'w' has the key `" + key + "` of external data twice");
  }
}

TEST_P(ExternalFilesTest, RawDataBesideExternalDataIsRefused) {
  const std::string tensor = ExternalTensor({{"location", "w.bin"}}) + Bytes(9, "abcd");
  WriteBytes(folder_ / "model/m.onnx", ModelOf(Bytes(5, tensor)));
  OnnxFile file(folder_ / "model/m.onnx", GetParam());
  EXPECT_NE(ErrorOf([&] {
              file.Bytes(file.model().graph->initializers.at(0));
            }).find("both raw_data and external data"),
            std::string::npos);
}

TEST_P(ExternalFilesTest, AFileIsMappedOnceAndMayGetShorter) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  WriteBytes(folder_ / "model/big.bin", std::string(4 * page, 'b'));
  const std::string tensor =
      ExternalTensor({{"location", "big.bin"}}, {static_cast<int64_t>(4 * page)});
  WriteBytes(folder_ / "model/m.onnx", ModelOf(Bytes(5, tensor)));
  OnnxFile file(folder_ / "model/m.onnx", GetParam());
  const Tensor& weights = file.model().graph->initializers.at(0);
  const ByteSpan bytes = file.Bytes(weights).bytes();
  EXPECT_EQ(file.Bytes(weights).bytes().data(), bytes.data());
  ASSERT_EQ(truncate((folder_ / "model/big.bin").c_str(), 0), 0);
  EXPECT_EQ(TextOf(bytes), std::string(4 * page, '\0'));
  EXPECT_NE(ErrorOf([&] { file.CheckWhole(); }).find("has become shorter"), std::string::npos);
}

TEST_P(ExternalFilesTest, AModelIsFoundInTheWorkingFolder) {
  Read({{"location", "w.bin"}});
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_ / "model");
  {
    OnnxFile file("m.onnx", GetParam());
    EXPECT_EQ(TextOf(file.Bytes(file.model().graph->initializers.at(0)).bytes()), "abcd");
  }
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace cgrun::onnx
