// Mapped files: their bytes, what is refused, and a file that gets shorter while it is mapped.
#include "src/io/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "src/base/diagnostics.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

std::string TextOf(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(MappedFileTest, HasTheBytesOfTheFile) {
  const TempFolder folder;
  WriteBytes(folder / "x", "some bytes");
  EXPECT_EQ(TextOf(MappedFile(folder / "x")), "some bytes");
  WriteBytes(folder / "empty", "");
  const MappedFile empty(folder / "empty");
  EXPECT_TRUE(empty.bytes().empty());
  empty.CheckWhole();
}

TEST(MappedFileTest, RefusesWhatIsNoFile) {
  const TempFolder folder;
  const auto error = [&](const std::string& name) {
    return folder.Anonymous(ErrorOf([&] { MappedFile(folder / name); }));
  };
  EXPECT_EQ(error("none"), "cannot open 'DIR/none': No such file or directory");
  EXPECT_EQ(error(""), "'DIR/' is a folder, not a file");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(error("pipe"), "'DIR/pipe' is a FIFO (named pipe), not a file");
}

TEST(MappedFileTest, AFileThatGetsShorterReadsAsZeros) {
  const TempFolder folder;
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  WriteBytes(folder / "x", std::string(8 * page, 'a'));
  const MappedFile file(folder / "x"), other(folder / "x");
  ASSERT_EQ(truncate((folder / "x").c_str(), static_cast<off_t>(2 * page)), 0);
  EXPECT_EQ(TextOf(file), std::string(2 * page, 'a') + std::string(6 * page, '\0'));
  EXPECT_EQ(folder.Anonymous(ErrorOf([&] { file.CheckWhole(); })),
            "'DIR/x' has become shorter while it was read\n"
            "help: another program writes it: wait until it is whole");
  other.CheckWhole();  // it has not read the lost part
  const MappedFile again(folder / "x");
  EXPECT_EQ(TextOf(again), std::string(2 * page, 'a'));
  again.CheckWhole();
}

// Any other bad access ends the process as before.
TEST(MappedFileDeathTest, OtherSignalsAreNotCaught) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const TempFolder folder;
  WriteBytes(folder / "x", "some bytes");
  const MappedFile file(folder / "x");
  EXPECT_DEATH(std::raise(SIGBUS), "");
}

}  // namespace
}  // namespace cgrun
