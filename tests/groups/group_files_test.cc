// The journal and the index of a run by groups, as a killed process or a careless hand leaves them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "src/base/diagnostics.h"
#include "src/groups/group_index.h"
#include "src/groups/group_journal.h"
#include "src/io/read_file.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

class GroupFilesTest : public testing::Test {
 protected:
  GroupFilesTest() : folder_(testing::TempDir() + "/group_files") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  std::string Text(const std::string& name) const { return ReadTextFile(Path(name)); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
  }

  const std::string folder_;
  const GroupJournalHead head_ = {"user", 3, "0123", "4567", ""};
};

TrainedGroup Trained(int64_t number, const std::string& name) {
  TrainedGroup group;
  group.result.number = number;
  group.result.name = name;
  group.result.weights_hash = 0xfedcba9876543210;
  PassResult pass;
  pass.split = "train";
  pass.samples = 7;
  pass.means = {{"loss", 0.1, false}};
  group.result.passes = {pass};
  group.best_hash = 5;
  return group;
}

TEST_F(GroupFilesTest, AJournalHasWhatWasAdded) {
  {
    GroupJournal journal = GroupJournal::Begin(folder_, head_);
    journal.Add(Trained(2, "a \"b\"\n\x01"), {{"key", "one"}});
    journal.Add(Trained(0, "c"), {{"key", "two"}});
    EXPECT_EQ(journal.DataOf(journal.groups().at(0)).at("key"), "two");
  }
  GroupJournal journal = GroupJournal::GoOn(folder_, head_);
  ASSERT_EQ(journal.groups().size(), 2U);
  const TrainedGroup& group = journal.groups().at(2);
  EXPECT_EQ(group.result.name, "a \"b\"\n\x01");
  EXPECT_EQ(group.result.weights_hash, 0xfedcba9876543210);
  EXPECT_EQ(group.result.passes.at(0).means.at(0).value, 0.1) << "to the last bit";
  EXPECT_EQ(group.best_hash, 5U);
  EXPECT_EQ(journal.DataOf(group).at("key"), "one");
  journal.Add(Trained(1, "d"), {{"key", "three"}});
  EXPECT_EQ(journal.DataOf(journal.groups().at(1)).at("key"), "three");
}

TEST_F(GroupFilesTest, WhatAKilledProcessHadBegunIsCutOff) {
  GroupJournal::Begin(folder_, head_).Add(Trained(0, "a"), {{"key", "one"}});
  const std::string whole = Text(GroupJournal::kFileName);
  Write(GroupJournal::kFileName, whole + whole.substr(whole.find('\n') + 1, 30));
  GroupJournal journal = GroupJournal::GoOn(folder_, head_);
  EXPECT_EQ(journal.groups().size(), 1U);
  journal.Add(Trained(1, "b"), {{"key", "two"}});
  EXPECT_EQ(journal.DataOf(journal.groups().at(1)).at("key"), "two");
  EXPECT_EQ(GroupJournal::GoOn(folder_, head_).groups().size(), 2U);
}

TEST_F(GroupFilesTest, AnotherRunAndADamagedLineAreRefused) {
  GroupJournal::Begin(folder_, head_).Add(Trained(0, "a"), {});
  GroupJournalHead other = head_;
  other.rows = "89ab";
  EXPECT_THROW(GroupJournal::GoOn(folder_, other), InputError);
  other = head_;
  other.initial = "89ab";
  EXPECT_THROW(GroupJournal::GoOn(folder_, other), InputError);
  const std::string whole = Text(GroupJournal::kFileName);
  for (const std::string line : {"{}", "[1", "{\"result\": {\"number\": 3}}", ""}) {
    Write(GroupJournal::kFileName, whole + line + "\n");
    EXPECT_THROW(GroupJournal::GoOn(folder_, head_), InputError) << line;
  }
  Write(GroupJournal::kFileName, "{}\n");
  EXPECT_THROW(GroupJournal::ReadHead(folder_), InputError);
  GroupJournal::Remove(folder_);
  EXPECT_FALSE(GroupJournal::IsIn(folder_));
  EXPECT_THROW(GroupJournal::ReadHead(folder_), InputError);
}

TEST_F(GroupFilesTest, AnIndexIsWholeJsonAndReadsBack) {
  const SafetensorsMetadata shared = {{"a", "1"}, {"b", "2"}};
  GroupIndexWriter writer(folder_, "user", shared);
  writer.Add({"x", "", {{"a", "1"}, {"b", "3"}}});
  writer.Add({"y, \"z\"\n", "too few rows", {}});
  writer.Add({"w", "", {{"a", "1"}, {"c", "4"}}});
  writer.Commit();
  const GroupIndex index = ReadGroupIndex(folder_);
  EXPECT_EQ(index.column, "user");
  ASSERT_EQ(index.entries.size(), 3U);
  EXPECT_EQ(index.entries[0].data, (SafetensorsMetadata{{"a", "1"}, {"b", "3"}}));
  EXPECT_EQ(index.entries[1].name, "y, \"z\"\n");
  EXPECT_FALSE(index.entries[1].has_model());
  EXPECT_EQ(index.entries[2].data, (SafetensorsMetadata{{"a", "1"}, {"c", "4"}}));
  EXPECT_EQ(SharedMetadata(index), index.entries[0].data);
}

TEST_F(GroupFilesTest, ACutOrChangedIndexIsDamaged) {
  GroupIndexWriter writer(folder_, "user", {{"a", "1"}});
  for (const std::string name : {"x", "y", "z"}) writer.Add({name, "", {{"a", name}}});
  writer.Commit();
  const std::string whole = Text(kGroupIndex);
  int64_t refused = 0;
  for (size_t size = 0; size + 3 < whole.size(); ++size) {
    Write(kGroupIndex, whole.substr(0, size));
    EXPECT_THROW(ReadGroupIndex(folder_), InputError) << size;
    ++refused;
  }
  EXPECT_GT(refused, 50);
  std::string twice = whole;
  twice.replace(twice.find("\"y\""), 3, "\"x\"");
  Write(kGroupIndex, twice);
  EXPECT_THROW(ReadGroupIndex(folder_), InputError) << "two groups of one name";
}

}  // namespace
}  // namespace cgrun
