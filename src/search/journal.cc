#include "src/search/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "src/base/json_text.h"
#include "src/io/file_error.h"
#include "src/io/read_file.h"

namespace cgrun {
namespace {

std::string PathIn(const std::string& folder) { return folder + "/" + Journal::kFileName; }

// The whole lines of the journal in a folder. Throws InputError if there is none.
std::string WholeLines(const std::string& folder) {
  const std::string path = PathIn(folder);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw InputError(
        "'" + folder + "' is not the folder of a search: it has no " + Journal::kFileName,
        "`cgrun search SEARCH.yaml --out DIR` begins one");
  }
  std::string text = ReadTextFile(path);
  const size_t end = text.rfind('\n');
  text.resize(end == std::string::npos ? 0 : end + 1);
  if (text.empty()) {
    throw InputError("'" + path + "' is empty: the search was killed before it began",
                     "remove the folder, and begin the search again");
  }
  return text;
}

[[noreturn]] void ThrowDamaged(const std::string& path, int line) {
  throw InputError(path + ":" + std::to_string(line) + ": this line is no result of a search",
                   "the journal was changed; without the line and those below it, the search goes "
                   "on from there");
}

JournalHead HeadOf(std::string_view line, const std::string& path) {
  const nlohmann::json json = TryParseJson(line);
  try {
    return {json.at("search"), json.at("fingerprint"), json.at("arguments")};
  } catch (const nlohmann::json::exception&) {
    ThrowDamaged(path, 1);
  }
}

}  // namespace

Journal::Journal(std::string path) : path_(std::move(path)) {
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd_ < 0) ThrowSystemError("write", path_, errno);
}

Journal::Journal(Journal&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      seconds_before_(other.seconds_before_),
      results_(std::move(other.results_)) {}

Journal::~Journal() {
  if (fd_ >= 0) close(fd_);
}

Journal Journal::Begin(const std::string& folder, const JournalHead& head) {
  Journal journal(PathIn(folder));
  const nlohmann::json json = {
      {"search", head.search}, {"fingerprint", head.fingerprint}, {"arguments", head.arguments}};
  journal.Append(JsonText(json));
  return journal;
}

JournalHead Journal::ReadHead(const std::string& folder) {
  const std::string text = WholeLines(folder);
  return HeadOf(std::string_view(text).substr(0, text.find('\n')), PathIn(folder));
}

Journal Journal::GoOn(const std::string& folder) {
  const std::string text = WholeLines(folder);
  Journal journal(PathIn(folder));
  int line = 1;
  for (size_t begin = text.find('\n') + 1; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const nlohmann::json json = TryParseJson(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    ++line;
    try {
      UnitResult result = json.at("result").get<UnitResult>();
      json.at("seconds").get_to(journal.seconds_before_);
      const std::pair key(result.trial, result.rung);
      journal.results_.insert_or_assign(key, std::move(result));
    } catch (const nlohmann::json::exception&) {
      ThrowDamaged(journal.path_, line);
    }
  }
  if (ftruncate(journal.fd_, static_cast<off_t>(text.size())) != 0) {
    ThrowSystemError("write", journal.path_, errno);
  }
  return journal;
}

const UnitResult* Journal::Find(int64_t trial, int64_t rung) const {
  const auto found = results_.find({trial, rung});
  return found == results_.end() ? nullptr : &found->second;
}

void Journal::Add(const UnitResult& result, double seconds) {
  Append(JsonText(nlohmann::json{{"result", result}, {"seconds", seconds}}));
  results_.insert_or_assign({result.trial, result.rung}, result);
}

// One call writes the line, so that lines are whole unless the machine stops.
void Journal::Append(const std::string& line) {
  const std::string text = line + "\n";
  const ssize_t written = write(fd_, text.data(), text.size());
  if (written != std::ssize(text)) ThrowSystemError("write", path_, written < 0 ? errno : ENOSPC);
  if (fsync(fd_) != 0 && errno != EINVAL) ThrowSystemError("write", path_, errno);
}

}  // namespace cgrun
