// Tests the answers of a child process, and that it leaves nothing behind.
#include "src/fit/child_process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>

#include "src/base/allocation_counter.h"
#include "src/device/no_room.h"

namespace cgrun {
namespace {

TEST(ChildProcess, ItsTextComesBackAndNothingElse) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer may have threads of its own";
  int changed = 0;
  const std::string long_text(100'000, 'x');
  const auto text = InChild(true, [&] {
    changed = 1;
    return long_text;
  });
  EXPECT_EQ(text, long_text);
  EXPECT_EQ(changed, 0);
}

TEST(ChildProcess, AnErrorInItGivesNothing) {
  EXPECT_FALSE(InChild(true, []() -> std::string { throw std::runtime_error("no"); }));
  EXPECT_FALSE(InChild(true, []() -> std::string { _exit(3); }));
}

// Whoever does the work of a killed child would be killed, too.
TEST(ChildProcess, AKilledOneIsNotReplaced) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer may have threads of its own";
  const auto die = []() -> std::string {
    kill(getpid(), SIGKILL);
    return "lives";
  };
  EXPECT_THROW(InChild(true, die), NoRoom);
  AnsweringChild one(true, [&]() -> AnsweringChild::Answer {
    return [&](const std::string& question) { return question == "die" ? die() : question; };
  });
  EXPECT_EQ(one.Ask("live"), "live");
  EXPECT_THROW(one.Ask("die"), NoRoom);
  AnsweringChild other(true, [&]() -> AnsweringChild::Answer {
    die();
    return {};
  });
  EXPECT_THROW(other.Ask("live"), NoRoom);
}

TEST(ChildProcess, AnotherRefusalOfMemoryIsNoKill) {
  EXPECT_FALSE(InChild(true, []() -> std::string { throw NoRoom("no"); }));
}

TEST(ChildProcess, ThereIsNoneBesideThreadsOrAnAccelerator) {
  const auto work = [] { return std::string("done"); };
  EXPECT_FALSE(InChild(/*on_host=*/false, work));
  std::latch end(1);
  std::thread other([&] { end.wait(); });
  EXPECT_FALSE(InChild(true, work));
  end.count_down();
  other.join();
}

TEST(ChildProcess, EachAnswerFindsWhatWasPrepared) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer may have threads of its own";
  int prepared = 0;
  const std::string long_text(100'000, 'x');
  AnsweringChild child(true, [&]() -> AnsweringChild::Answer {
    ++prepared;
    return [&](const std::string& question) {
      if (question == "fails") throw std::runtime_error("no");
      if (question == "dies") _exit(3);
      return question + std::to_string(prepared++) + long_text;
    };
  });
  EXPECT_EQ(child.Ask("a"), "a1" + long_text);
  EXPECT_FALSE(child.Ask("fails"));
  EXPECT_FALSE(child.Ask("dies"));
  EXPECT_EQ(child.Ask(long_text), long_text + "1" + long_text);
  EXPECT_EQ(prepared, 0);
}

TEST(ChildProcess, ThereAreNoAnswersWherePreparingFails) {
  const auto fails = []() -> AnsweringChild::Answer { throw std::runtime_error("no"); };
  AnsweringChild child(true, fails);
  EXPECT_FALSE(child.Ask("a"));
  EXPECT_FALSE(child.Ask("b"));
}

TEST(ChildProcess, DoesNotOutliveItsParent) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer may have threads of its own";
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    InChild(true, [&] {
      const bool begun = write(ends[1], "x", 1) == 1;
      sleep(begun ? 600 : 0);
      return std::string();
    });
    _exit(0);
  }
  close(ends[1]);
  char begun = 0;
  EXPECT_EQ(read(ends[0], &begun, 1), 1);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  pollfd end{ends[0], POLLIN, 0};
  EXPECT_EQ(poll(&end, 1, 30'000), 1) << "it lives on";
  EXPECT_EQ(read(ends[0], &begun, 1), 0) << "the end of all that could write";
  close(ends[0]);
}

}  // namespace
}  // namespace cgrun
