// GroupJournal: the groups that a run has trained, in a file that only grows.
#ifndef CGRUN_GROUPS_GROUP_JOURNAL_H_
#define CGRUN_GROUPS_GROUP_JOURNAL_H_

#include <cstdint>
#include <map>
#include <string>

#include "src/io/safetensors.h"
#include "src/results/group_result.h"

namespace cgrun {

// The first line of the file: of which run it is.
struct GroupJournalHead {
  std::string column;
  int64_t groups = 0;
  std::string rows;     // a hash of the tables
  std::string initial;  // a hash of the weights with which each group begins
  std::string weights;  // the file that these were read from, or ""
};

// A group that was trained, or could not be.
struct TrainedGroup {
  GroupResult result;
  uint64_t best_hash = 0;  // of the best weights, where they are kept beside the last
  int64_t begin = 0;       // of its line in the journal
  int64_t bytes = 0;       // of that line
};

// Each group is a line of JSON, which the system has when Add() returns. What a killed process has
// begun to write is cut off when the journal is opened again.
class GroupJournal {
 public:
  static constexpr char kFileName[] = "groups.jsonl";

  // Whether a folder has a journal: its run has not ended.
  static bool IsIn(const std::string& folder);
  // Begins a journal in a folder. Throws UserError where it cannot be written.
  static GroupJournal Begin(const std::string& folder, const GroupJournalHead& head);
  // Reads the head alone. Throws InputError if there is none.
  static GroupJournalHead ReadHead(const std::string& folder);
  // Goes on with a journal of the same head. Throws InputError if the head is another one, or if a
  // line is damaged.
  static GroupJournal GoOn(const std::string& folder, const GroupJournalHead& head);
  static void Remove(const std::string& folder);

  GroupJournal(GroupJournal&& other) noexcept;
  GroupJournal& operator=(GroupJournal&&) = delete;
  ~GroupJournal();

  // The groups by their numbers. Those that are not whole elsewhere can be taken away.
  std::map<int64_t, TrainedGroup>& groups() { return groups_; }
  // Appends a group; `data` is its GroupEntry::data, which stays in the file alone. Throws
  // UserError.
  void Add(TrainedGroup group, const SafetensorsMetadata& data);
  // Reads the data of a group. Throws UserError.
  SafetensorsMetadata DataOf(const TrainedGroup& group) const;

 private:
  explicit GroupJournal(std::string path);
  void Append(const std::string& line);

  std::string path_;
  int file_ = -1;
  int64_t end_ = 0;  // of the file
  std::map<int64_t, TrainedGroup> groups_;
};

}  // namespace cgrun

#endif  // CGRUN_GROUPS_GROUP_JOURNAL_H_
