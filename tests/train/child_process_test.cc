// What a child process gives back, and what it leaves.
#include "src/train/child_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <latch>
#include <stdexcept>
#include <string>
#include <thread>

#include "src/base/allocation_counter.h"

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

TEST(ChildProcess, ThereIsNoneBesideThreadsOrAnAccelerator) {
  const auto work = [] { return std::string("done"); };
  EXPECT_FALSE(InChild(/*on_host=*/false, work));
  std::latch end(1);
  std::thread other([&] { end.wait(); });
  EXPECT_FALSE(InChild(true, work));
  end.count_down();
  other.join();
}

}  // namespace
}  // namespace cgrun
