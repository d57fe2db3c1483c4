// Journal: the finished work of a search, in a file that only grows.
#ifndef CGRUN_SEARCH_JOURNAL_H_
#define CGRUN_SEARCH_JOURNAL_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "src/search/unit.h"

namespace cgrun {

// The first line of the file: whose journal it is.
struct JournalHead {
  std::string search;       // the search file, as an absolute path
  std::string fingerprint;  // of that file and of its models
  std::string arguments;    // settings of the command line beside the file, in one line
};

// Each unit is one line of JSON, which is on the disk when Add() returns. If a process is killed
// while it writes, the broken line is cut off when the journal is opened the next time. Its unit is
// then run anew.
class Journal {
 public:
  static constexpr char kFileName[] = "journal.jsonl";

  // Begins a journal in a folder. Throws UserError where it cannot be written.
  static Journal Begin(const std::string& folder, const JournalHead& head);
  // Reads the head alone. Throws InputError if there is no journal, or if it has no whole first
  // line.
  static JournalHead ReadHead(const std::string& folder);
  // Goes on with a journal. Throws as above, and InputError if a line is damaged.
  static Journal GoOn(const std::string& folder);

  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;
  ~Journal();

  // The result of a unit, or null.
  const UnitResult* Find(int64_t trial, int64_t rung) const;
  // Seconds that the parts of the search before this one took.
  double seconds_before() const { return seconds_before_; }
  // Appends a result. `seconds` are those of the search so far. Throws UserError.
  void Add(const UnitResult& result, double seconds);

 private:
  explicit Journal(std::string path);
  void Append(const std::string& line);

  std::string path_;
  int fd_ = -1;
  double seconds_before_ = 0;
  std::map<std::pair<int64_t, int64_t>, UnitResult> results_;
};

}  // namespace cgrun

#endif  // CGRUN_SEARCH_JOURNAL_H_
