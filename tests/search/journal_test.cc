// Tests of the journal: it holds what was added, and loses at most a line that was being written.
#include "src/search/journal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "src/io/read_file.h"

namespace cgrun {
namespace {

class JournalTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }

  std::string path() const { return folder_ + "/" + Journal::kFileName; }

  static UnitResult ResultOf(int64_t trial) {
    UnitResult result;
    result.trial = trial;
    result.curve = {0.1, std::numeric_limits<double>::quiet_NaN(), 1.0 / 3};
    result.epochs = 3;
    result.step = 255;
    result.weights = "00ff";
    return result;
  }

  std::string folder_;
};

TEST_F(JournalTest, HoldsWhatWasAdded) {
  {
    Journal journal = Journal::Begin(folder_, {"/s.yaml", "abc", "{}"});
    journal.Add(ResultOf(0), 1.5);
    journal.Add(ResultOf(1), 2.5);
  }
  const JournalHead head = Journal::ReadHead(folder_);
  EXPECT_EQ(head.search, "/s.yaml");
  EXPECT_EQ(head.fingerprint, "abc");
  const Journal journal = Journal::GoOn(folder_);
  EXPECT_EQ(journal.seconds_before(), 2.5);
  EXPECT_EQ(journal.Find(2, 0), nullptr);
  EXPECT_EQ(journal.Find(1, 1), nullptr);
  const UnitResult* const result = journal.Find(1, 0);
  ASSERT_NE(result, nullptr);
  EXPECT_EQ(result->step, 255);
  ASSERT_EQ(result->curve.size(), 3U);
  EXPECT_TRUE(std::isnan(result->curve[1]));
  EXPECT_EQ(result->curve[2], 1.0 / 3);
}

TEST_F(JournalTest, ABrokenLastLineIsDoneAgain) {
  {
    Journal journal = Journal::Begin(folder_, {"/s.yaml", "abc", "{}"});
    journal.Add(ResultOf(0), 1);
    journal.Add(ResultOf(1), 2);
  }
  const std::string whole = ReadTextFile(path());
  const size_t first = whole.find('\n') + 1, second = whole.find('\n', first) + 1;
  for (size_t size = second; size < whole.size(); ++size) {
    std::ofstream(path(), std::ios::binary) << whole.substr(0, size);
    Journal journal = Journal::GoOn(folder_);
    EXPECT_NE(journal.Find(0, 0), nullptr);
    EXPECT_EQ(journal.Find(1, 0), nullptr);
    journal.Add(ResultOf(1), 2);
    EXPECT_EQ(ReadTextFile(path()), whole);
  }
}

TEST_F(JournalTest, AChangedLineIsAnError) {
  {
    Journal journal = Journal::Begin(folder_, {"/s.yaml", "abc", "{}"});
    journal.Add(ResultOf(0), 1);
  }
  std::ofstream(path(), std::ios::app) << "{\"result\": 3}\n";
  try {
    Journal::GoOn(folder_);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("journal.jsonl:3: "), std::string::npos);
  }
}

TEST_F(JournalTest, AFolderWithoutAJournalIsNoSearch) {
  EXPECT_THROW(Journal::ReadHead(folder_), InputError);
  EXPECT_THROW(Journal::GoOn(folder_), InputError);
}

}  // namespace
}  // namespace cgrun
