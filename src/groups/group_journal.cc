#include "src/groups/group_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/base/json_text.h"
#include "src/io/file_error.h"
#include "src/io/read_file.h"

namespace cgrun {
namespace {

std::string JournalPath(const std::string& folder) {
  return folder + "/" + GroupJournal::kFileName;
}

// The whole lines of a journal. Throws InputError where there is none.
std::string WholeLinesOf(const std::string& folder) {
  const std::string path = JournalPath(folder);
  if (!GroupJournal::IsIn(folder)) {
    throw InputError("'" + folder + "' has no run by groups that goes on: it has no " +
                     std::string(GroupJournal::kFileName));
  }
  std::string text = ReadTextFile(path);
  const size_t end = text.rfind('\n');
  text.resize(end == std::string::npos ? 0 : end + 1);
  if (text.empty()) {
    ThrowFileError(path, "is empty: the run was killed before it began",
                   "--force begins it again: `cgrun train MODEL --force`");
  }
  return text;
}

[[noreturn]] void ThrowDamagedLine(const std::string& path, int line) {
  throw InputError(path + ":" + std::to_string(line) + ": this line is no group of a run",
                   "the journal was changed; without the line and those below it, the run goes on "
                   "from there");
}

nlohmann::json HeadJson(const GroupJournalHead& head) {
  return {{"group_by", head.column},
          {"groups", head.groups},
          {"rows", head.rows},
          {"initial", head.initial},
          {"weights", head.weights}};
}

GroupJournalHead ParseHead(std::string_view line, const std::string& path) {
  const nlohmann::json json = TryParseJson(line);
  try {
    return {json.at("group_by"), json.at("groups"), json.at("rows"), json.at("initial"),
            json.at("weights")};
  } catch (const nlohmann::json::exception&) {
    ThrowDamagedLine(path, 1);
  }
}

// Only with the same rows and the same start does the run reach the same end.
void CheckHead(const GroupJournalHead& before, const GroupJournalHead& now,
               const std::string& folder) {
  const std::string begun = "the run in '" + folder + "' was begun with ";
  const std::string help = "--force begins it again: `cgrun train MODEL --force`";
  if (before.column != now.column || before.groups != now.groups || before.rows != now.rows) {
    throw InputError(begun + "other rows: the table has changed since", help);
  }
  if (before.initial != now.initial) {
    throw InputError(begun + "other weights than those that each group would begin with now", help);
  }
}

}  // namespace

bool GroupJournal::IsIn(const std::string& folder) {
  std::error_code error;
  return std::filesystem::is_regular_file(JournalPath(folder), error);
}

GroupJournal::GroupJournal(std::string path) : path_(std::move(path)) {
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) ThrowSystemError("write", path_, errno);
}

GroupJournal::GroupJournal(GroupJournal&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      end_(other.end_),
      groups_(std::move(other.groups_)) {}

GroupJournal::~GroupJournal() {
  if (file_ >= 0) close(file_);
}

GroupJournal GroupJournal::Begin(const std::string& folder, const GroupJournalHead& head) {
  GroupJournal journal(JournalPath(folder));
  journal.Append(JsonText(HeadJson(head)));
  return journal;
}

GroupJournalHead GroupJournal::ReadHead(const std::string& folder) {
  const std::string text = WholeLinesOf(folder);
  return ParseHead(std::string_view(text).substr(0, text.find('\n')), JournalPath(folder));
}

GroupJournal GroupJournal::GoOn(const std::string& folder, const GroupJournalHead& head) {
  CheckHead(ReadHead(folder), head, folder);
  const std::string text = WholeLinesOf(folder);
  GroupJournal journal(JournalPath(folder));
  int line = 1;
  for (size_t begin = text.find('\n') + 1; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const nlohmann::json json = TryParseJson(std::string_view(text).substr(begin, end - begin));
    ++line;
    try {
      TrainedGroup group{json.at("result").get<GroupResult>(), json.at("best").get<uint64_t>(),
                         static_cast<int64_t>(begin), static_cast<int64_t>(end - begin)};
      const int64_t number = group.result.number;
      if (number < 0 || number >= head.groups) ThrowDamagedLine(journal.path_, line);
      journal.groups_.insert_or_assign(number, std::move(group));
    } catch (const nlohmann::json::exception&) {
      ThrowDamagedLine(journal.path_, line);
    }
    begin = end + 1;
  }
  journal.end_ = std::ssize(text);
  if (ftruncate(journal.file_, static_cast<off_t>(text.size())) != 0) {
    ThrowSystemError("write", journal.path_, errno);
  }
  return journal;
}

void GroupJournal::Remove(const std::string& folder) {
  std::error_code error;
  std::filesystem::remove(JournalPath(folder), error);
}

void GroupJournal::Add(TrainedGroup group, const SafetensorsMetadata& data) {
  group.begin = end_;
  Append(JsonText(
      nlohmann::json{{"result", group.result}, {"best", group.best_hash}, {"data", data}}));
  group.bytes = end_ - group.begin;
  groups_.insert_or_assign(group.result.number, std::move(group));
}

SafetensorsMetadata GroupJournal::DataOf(const TrainedGroup& group) const {
  std::string line(static_cast<size_t>(group.bytes), '\0');
  const ssize_t read = pread(file_, line.data(), line.size(), group.begin);
  const nlohmann::json json = read == std::ssize(line) ? TryParseJson(line) : nlohmann::json();
  if (!json.is_object() || !json.contains("data")) {
    ThrowFileError(path_, "has changed while the run went on");
  }
  return json["data"].get<SafetensorsMetadata>();
}

// One call writes the line, so that lines are whole unless the machine stops.
void GroupJournal::Append(const std::string& line) {
  const std::string text = line + "\n";
  const ssize_t written = write(file_, text.data(), text.size());
  if (written != std::ssize(text)) ThrowSystemError("write", path_, written < 0 ? errno : ENOSPC);
  end_ += written;
}

}  // namespace cgrun
