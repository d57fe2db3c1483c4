// Files are replaced as a whole or stay as they were.
#include "src/io/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "src/base/allocation_counter.h"
#include "src/base/diagnostics.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

using Names = std::vector<std::string>;

void WriteText(const std::string& path, std::string_view text) {
  WriteFileAtomically(path, std::as_bytes(std::span(text)));
}

// Files cannot grow beyond `bytes` while it lives, as on a disk that is full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_;
};

TEST(AtomicFileTest, WritesAndReplaces) {
  const TempFolder folder;
  WriteText(folder / "a", "first");
  EXPECT_EQ(ReadBytes(folder / "a"), "first");
  WriteText(folder / "a", "");
  EXPECT_EQ(ReadBytes(folder / "a"), "");
  EXPECT_EQ(folder.Names(), Names{"a"});
}

TEST(AtomicFileTest, ManyWritesOfAllSizesArriveInOrder) {
  const TempFolder folder;
  AtomicFile file(/*buffer_bytes=*/64);
  std::string expected;
  file.Open(folder / "a");
  for (size_t size = 0; size < 200; ++size) {
    const std::string part(size, static_cast<char>('a' + size % 26));
    file.Write(part);
    expected += part;
  }
  file.Commit();
  EXPECT_EQ(ReadBytes(folder / "a"), expected);
}

TEST(AtomicFileTest, TheOldFileStaysUntilCommit) {
  const TempFolder folder;
  WriteText(folder / "a", "old");
  {
    AtomicFile file(1);
    file.Open(folder / "a");
    file.Write("new, but never committed");
    EXPECT_EQ(ReadBytes(folder / "a"), "old");
    EXPECT_EQ(folder.Names(), (Names{"a", "a.tmp"}));
  }
  EXPECT_EQ(ReadBytes(folder / "a"), "old");
  EXPECT_EQ(folder.Names(), Names{"a"});
}

TEST(AtomicFileTest, ADiskThatIsFullLeavesTheOldFile) {
  const TempFolder folder;
  WriteText(folder / "a", "old");
  AtomicFile file(16);
  std::string error;
  {
    const FileSizeLimit limit(1000);
    error = ErrorOf([&] {
      file.Open(folder / "a");
      for (int i = 0; i < 1000; ++i) file.Write("0123456789");
      file.Commit();
    });
  }
  EXPECT_EQ(folder.Anonymous(error), "cannot write 'DIR/a': File too large");
  EXPECT_EQ(ReadBytes(folder / "a"), "old");
  EXPECT_EQ(folder.Names(), Names{"a"});
  file.Open(folder / "a");  // and can go on afterwards
  file.Write("new");
  file.Commit();
  EXPECT_EQ(ReadBytes(folder / "a"), "new");
}

TEST(AtomicFileTest, ErrorsNameThePathAndTheReason) {
  const TempFolder folder;
  WriteText(folder / "file", "x");
  mkdir((folder / "folder").c_str(), 0777);
  mkfifo((folder / "pipe").c_str(), 0666);
  const auto error = [&](const std::string& path) {
    return folder.Anonymous(ErrorOf([&] { WriteText(path, "text"); }));
  };
  EXPECT_EQ(error(folder / "none/a"),
            "cannot write 'DIR/none/a': No such file or directory\n"
            "help: there is no folder 'DIR/none'");
  EXPECT_EQ(error(folder / "file/a"), "cannot write 'DIR/file/a': Not a directory");
  EXPECT_EQ(error(folder / "folder"), "cannot write 'DIR/folder': Is a directory");
  EXPECT_EQ(error(folder / "pipe"), "'DIR/pipe' is not a regular file, so it cannot be replaced");
  EXPECT_EQ(error(""), "cannot write '': No such file or directory");
  EXPECT_EQ(error(std::string("a\0b", 3)), "cannot write 'a?b': Invalid argument");
  EXPECT_EQ(error(folder / std::string(300, 'a')).substr(0, 18), "cannot write 'DIR/");
  EXPECT_EQ(folder.Names(), (Names{"file", "folder", "pipe"}));
}

TEST(AtomicFileTest, NoPermissionNoFile) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TempFolder folder;
  const std::string locked = folder / "locked";
  mkdir(locked.c_str(), 0555);
  EXPECT_EQ(folder.Anonymous(ErrorOf([&] { WriteText(locked + "/a", "text"); })),
            "cannot write 'DIR/locked/a': Permission denied\n"
            "help: check the permissions of the file and of its folder");
}

TEST(AtomicFileTest, WhatAKilledWriterLeftIsTakenOver) {
  const TempFolder folder;
  WriteBytes(folder / "a.tmp", "much longer than what comes now");
  WriteText(folder / "a", "new");
  EXPECT_EQ(ReadBytes(folder / "a"), "new");
  EXPECT_EQ(folder.Names(), Names{"a"});
}

TEST(AtomicFileTest, TwoWritersDoNotMix) {
  const TempFolder folder;
  AtomicFile first(1), second(1);
  first.Open(folder / "a");
  second.Open(folder / "a");
  EXPECT_EQ(folder.Names(), (Names{"a.tmp", "a.tmp1"}));
  first.Write("first");
  second.Write("second");
  second.Commit();
  EXPECT_EQ(ReadBytes(folder / "a"), "second");
  first.Commit();
  EXPECT_EQ(ReadBytes(folder / "a"), "first");
  EXPECT_EQ(folder.Names(), Names{"a"});
}

TEST(AtomicFileTest, TemporariesAreKnownByTheirNames) {
  EXPECT_EQ(PathOfTemporary("runs/a.csv.tmp"), "runs/a.csv");
  EXPECT_EQ(PathOfTemporary("runs/a.csv.tmp12"), "runs/a.csv");
  for (const char* name : {"", "a.csv", "a.tmp.csv", "a.tmp1.csv", "123", "a12", ".tmp"}) {
    EXPECT_EQ(PathOfTemporary(name), "") << name;
  }
}

TEST(AtomicFileTest, OnlyWhatAKilledWriterLeftIsRemoved) {
  const TempFolder folder;
  AtomicFile lives;
  lives.Open(folder / "a");
  std::ofstream(folder / "b.tmp") << "half";
  for (const char* name : {"a.tmp", "b.tmp", "c.tmp"}) RemoveLeftTemporary(folder / name);
  EXPECT_EQ(folder.Names(), Names{"a.tmp"});
  lives.Write("whole");
  lives.Commit();
  EXPECT_EQ(ReadBytes(folder / "a"), "whole");
}

TEST(AtomicFileTest, ManyWritersLeaveAWholeFile) {
  const TempFolder folder;
  std::vector<std::thread> writers;
  for (char c : std::string("abcd")) {
    writers.emplace_back([&folder, c] {
      for (int i = 0; i < 25; ++i) WriteText(folder / "a", std::string(1000, c));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string left = ReadBytes(folder / "a");
  EXPECT_EQ(left, std::string(1000, left.at(0)));
  EXPECT_EQ(folder.Names(), Names{"a"});
}

TEST(AtomicFileTest, AProcessThatDiesLeavesTheOldFile) {
  const TempFolder folder;
  WriteText(folder / "a", "old");
  EXPECT_EXIT(
      {
        AtomicFile file(1);
        file.Open(folder / "a");
        file.Write("half of the");
        kill(getpid(), SIGKILL);
      },
      testing::KilledBySignal(SIGKILL), "");
  EXPECT_EQ(ReadBytes(folder / "a"), "old");
  EXPECT_EQ(folder.Names(), (Names{"a", "a.tmp"}));
  WriteText(folder / "a", "new");
  EXPECT_EQ(folder.Names(), Names{"a"});
}

TEST(AtomicFileTest, DoesNotAllocateAfterItsConstruction) {
  const TempFolder folder;
  const std::string path = folder / "checkpoint-20000.safetensors", text(1000, 'x');
  AtomicFile file(4096);
  const int64_t before = CurrentHeapUse().allocations;
  for (int round = 0; round < 3; ++round) {
    file.Open(path);
    for (int i = 0; i < 100; ++i) file.Write(text);
    file.Commit();
  }
  const int64_t after = CurrentHeapUse().allocations;
  EXPECT_EQ(after, before);
  EXPECT_EQ(ReadBytes(path).size(), 100000u);
}

}  // namespace
}  // namespace cgrun
