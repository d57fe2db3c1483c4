// Plain and compressed files, limits, and damage that must be found.
#include "src/io/read_file.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/stat.h>

#include "src/base/allocation_counter.h"
#include "src/base/diagnostics.h"
#include "src/base/random.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

std::string Text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Bytes that do not compress.
std::string Noise(size_t size) {
  std::string noise;
  for (size_t i = 0; i < size; ++i) noise += static_cast<char>(RandomBits(7, 0, i));
  return noise;
}

// Returns what ReadFile makes of a file with these bytes, or its error.
std::string ReadBack(std::string_view bytes, int64_t limit = kNoLimit) {
  static const TempFolder folder;
  WriteBytes(folder / "x", bytes);
  std::string result;
  const std::string error = ErrorOf([&] { result = Text(ReadFile(folder / "x", limit)); });
  return error == "no error" ? result : folder.Anonymous(error);
}

TEST(ReadFileTest, ReadsPlainFilesOfAllSizes) {
  for (size_t size : {0, 1, 3, 1000, 65535, 65536, 65537, 300000}) {
    const std::string noise = Noise(size);
    EXPECT_EQ(ReadBack(noise), noise) << size;
    EXPECT_EQ(ReadBack(noise, static_cast<int64_t>(size)), noise) << size;
  }
}

TEST(ReadFileTest, InflatesGzip) {
  for (size_t size : {0, 1, 1000, 65536, 300000}) {
    const std::string noise = Noise(size), zeros(size, '\0');
    EXPECT_EQ(ReadBack(Gzip(noise)), noise) << size;
    EXPECT_EQ(ReadBack(Gzip(zeros), static_cast<int64_t>(size)), zeros) << size;
  }
}

TEST(ReadFileTest, JoinsGzipMembers) {
  EXPECT_EQ(ReadBack(Gzip("one ") + Gzip("") + Gzip("two")), "one two");
}

TEST(ReadFileTest, PassesOverZerosBehindGzip) {
  for (const size_t zeros : {size_t{1}, size_t{700}, size_t{1} << 20}) {
    EXPECT_EQ(ReadBack(Gzip("one") + std::string(zeros, '\0')), "one") << zeros;
  }
  EXPECT_EQ(ReadBack(Gzip("one ") + std::string(9, '\0') + Gzip("two")), "one two");
}

TEST(ReadFileTest, RefusesMoreThanIsExpected) {
  const std::string help =
      "\nhelp: look at what it holds: it may be another file than the one meant";
  EXPECT_EQ(ReadBack(std::string(100, 'x'), 99),
            "'DIR/x' has 100 bytes, over 99 bytes, the most that is expected here" + help);
  EXPECT_EQ(
      ReadBack(std::string((size_t{3} << 20) / 2, 'x'), 1 << 20),
      "'DIR/x' has 1.5 MiB (1572864 bytes), over 1.0 MiB, the most that is expected here" + help);
  // A bomb has 64 MiB of zeros in 64 KiB.
  const std::string bomb = Gzip(std::string(size_t{64} << 20, '\0'));
  EXPECT_LT(bomb.size(), size_t{66} << 10);
  EXPECT_EQ(ReadBack(bomb, 1 << 20),
            "'DIR/x' inflates to more than 1.0 MiB, the most that is expected here" + help);
}

TEST(ReadFileTest, FindsDamagedGzip) {
  const std::string packed = Gzip(Noise(1000));
  const auto cut_off = [&](size_t bytes) {
    return "'DIR/x': the gzip data is cut off after " + std::to_string(bytes) +
           " bytes\nhelp: the file is not whole: fetch or copy it again";
  };
  EXPECT_EQ(ReadBack(packed.substr(0, 500)), cut_off(500));
  EXPECT_EQ(ReadBack(packed.substr(0, packed.size() - 1)), cut_off(packed.size() - 1));
  const std::string help =
      "\nhelp: fetch or copy the file again: `gzip -t` says of it whether it is whole";
  std::string flipped = packed;
  flipped[500] = static_cast<char>(flipped[500] ^ 1);  // a stored byte: only the checksum knows
  EXPECT_EQ(ReadBack(flipped), "'DIR/x': the gzip data is corrupt (incorrect data check)" + help);
  std::string length = packed;
  length.back() = 1;
  EXPECT_EQ(ReadBack(length), "'DIR/x': the gzip data is corrupt (incorrect length check)" + help);
}

TEST(ReadFileTest, SaysThatSomethingElseStandsBehindGzip) {
  const std::string packed = Gzip("one");
  for (const size_t zeros : {size_t{0}, size_t{700}, size_t{1} << 20}) {
    for (const char* rest : {"x", "junk", "\x1F!"}) {
      EXPECT_EQ(ReadBack(packed + std::string(zeros, '\0') + rest),
                "'DIR/x': something else stands behind the gzip data, from byte " +
                    std::to_string(packed.size() + zeros + 1) +
                    " on\nhelp: `gzip -dc FILE > NEW` writes what is compressed, and leaves out "
                    "the rest")
          << zeros << rest;
    }
  }
}

TEST(ReadFileTest, NamesWhatIsNoFile) {
  const TempFolder folder;
  mkfifo((folder / "pipe").c_str(), 0666);
  const auto error = [&](const std::string& path) {
    return folder.Anonymous(ErrorOf([&] { ReadFile(path, kNoLimit); }));
  };
  EXPECT_EQ(error(folder / "none"), "cannot open 'DIR/none': No such file or directory");
  EXPECT_EQ(error(folder.path()), "'DIR' is a folder, not a file");
  EXPECT_EQ(error(folder / "pipe"), "'DIR/pipe' is a FIFO (named pipe), not a file");
  EXPECT_EQ(error(std::string("a\0b", 3)), "cannot open 'a?b': Invalid argument");
}

TEST(ReadFileTest, DamageNeverCrashes) {
  const std::string packed = Gzip(Noise(300) + std::string(3000, 'z'));
  int refused = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    refused += ReadBack(Damage(packed, seed), 1 << 20).starts_with("'DIR/x': ");
  }
  EXPECT_GT(refused, 1200);
  EXPECT_LT(refused, 2000);  // damage of the magic number makes a plain file
}

TEST(FileReaderTest, KnowsWhereItIs) {
  const TempFolder folder;
  const std::string noise = Noise(100);
  for (const bool compressed : {false, true}) {
    WriteBytes(folder / "x", compressed ? Gzip(noise) : noise);
    FileReader reader(folder / "x");
    EXPECT_EQ(reader.compressed(), compressed);
    EXPECT_GE(reader.max_bytes(), 100);
    std::vector<std::byte> bytes(60);
    reader.Read(bytes, "its front");
    EXPECT_EQ(reader.position(), 60);
    EXPECT_EQ(Text(bytes), noise.substr(0, 60));
    EXPECT_EQ(folder.Anonymous(ErrorOf([&] { reader.Read(bytes, "its back"); })),
              "'DIR/x' ends after 100 bytes, inside its back");
    EXPECT_EQ(ErrorOf([&] { reader.ExpectEnd(); }), "no error");
  }
}

TEST(FileReaderTest, ExpectEndFindsWhatFollows) {
  const TempFolder folder;
  for (const bool compressed : {false, true}) {
    WriteBytes(folder / "x", compressed ? Gzip("abc") : "abc");
    FileReader reader(folder / "x");
    std::vector<std::byte> bytes(2);
    reader.Read(bytes, "it");
    EXPECT_EQ(folder.Anonymous(ErrorOf([&] { reader.ExpectEnd(); })),
              "'DIR/x' goes on after 2 bytes, where it should end");
  }
}

TEST(FileReaderTest, ExpectEndTestsTheChecksum) {
  const TempFolder folder;
  std::string packed = Gzip("abc");
  packed[packed.size() - 8] = static_cast<char>(packed[packed.size() - 8] ^ 1);
  WriteBytes(folder / "x", packed);
  FileReader reader(folder / "x");
  std::vector<std::byte> bytes(3);
  const auto read_all = [&] {
    reader.Read(bytes, "it");
    reader.ExpectEnd();
  };
  EXPECT_EQ(folder.Anonymous(ErrorOf(read_all)),
            "'DIR/x': the gzip data is corrupt (incorrect data check)\n"
            "help: fetch or copy the file again: `gzip -t` says of it whether it is whole");
}

TEST(FileReaderTest, DoesNotInflateUnasked) {
  const TempFolder folder;
  const std::string packed = Gzip("abc");
  WriteBytes(folder / "x", packed);
  FileReader reader(folder / "x", FileReader::Gzip::kNever);
  EXPECT_FALSE(reader.compressed());
  EXPECT_EQ(reader.max_bytes(), static_cast<int64_t>(packed.size()));
}

TEST(FileReaderTest, NothingComesOutBeyondTheBound) {
  EXPECT_TRUE(rc::check([](uint16_t zeros) {
    const TempFolder folder;
    WriteBytes(folder / "x", Gzip(std::string(size_t{zeros} * 64, '\0')));
    RC_ASSERT(FileReader(folder / "x").max_bytes() >= int64_t{zeros} * 64);
  }));
}

TEST(AllocateTensorTest, RefusesWhatNoMemoryHolds) {
  const int64_t most = kNoLimit;
  EXPECT_EQ(ErrorOf([&] { AllocateTensor("x", DType::kF64, {most}); }),
            "'x': there is not enough memory for its [9223372036854775807] elements of f64");
  if (AllocationsAreCounted()) {  // a sanitizer ends the program instead
    EXPECT_EQ(ErrorOf([&] { AllocateTensor("x", DType::kU8, {most}); }),
              "'x': there is not enough memory for its [9223372036854775807] elements of uint8");
  }
  EXPECT_EQ(AllocateTensor("x", DType::kU8, {2, 3}).elements(), 6);
}

}  // namespace
}  // namespace cgrun
