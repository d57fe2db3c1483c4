// Lines of metrics.csv, put together in memory that was reserved and written in one go.
#include "src/run/metrics_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>

#include "src/base/diagnostics.h"
#include "src/io/file_error.h"
#include "src/io/read_file.h"

namespace cgrun {
namespace {

constexpr size_t kNumberRoom = 32;  // characters of a number with its comma

// Lists have a column an element; tables stand in the summary alone.
bool HasColumns(const NamedTable& table) { return table.columns == 0; }

size_t Columns(const PassResult& pass) {
  size_t columns = pass.means.size();
  for (const NamedTable& table : pass.tables) {
    if (HasColumns(table)) columns += table.values.size();
  }
  return columns;
}

size_t Columns(const EpochReport& report) {
  size_t columns = 4 + report.rates.size() + Columns(report.train);
  for (const PassResult& pass : report.evaluations) columns += Columns(pass);
  return columns;
}

// Reads the step of a line "epoch,step,…".
int64_t StepOf(std::string_view line) {
  int64_t step = std::numeric_limits<int64_t>::max();
  line.remove_prefix(std::min(line.size(), line.find(',') + 1));
  std::from_chars(line.data(), line.data() + line.size(), step);
  return step;
}

[[noreturn]] void Fail(const std::string& path) { ThrowSystemError("write", path, errno); }

}  // namespace

MetricsLog::MetricsLog(std::string path, const EpochReport& shape, int64_t step)
    : path_(std::move(path)) {
  line_ = "epoch,step";
  for (const NamedNumber& rate : shape.rates) line_ += "," + rate.name;
  line_ += ",seconds,samples";
  AddNames(shape.train);
  for (const PassResult& pass : shape.evaluations) AddNames(pass);
  const size_t kept = step > 0 ? KeptSize(line_ + "\n", step) : 0;
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(kept)) != 0) Fail(path_);
  kept == 0 ? EndLine() : line_.clear();
  line_.reserve(Columns(shape) * kNumberRoom);
}

size_t MetricsLog::KeptSize(const std::string& header, int64_t step) {
  std::error_code error;
  if (!std::filesystem::exists(path_, error)) return 0;
  const std::string file = ReadTextFile(path_);
  const std::string_view text = file;
  if (!text.starts_with(header)) {
    throw UserError("'" + path_ + "' has other columns than this run writes",
                    "it belongs to a run of another model");
  }
  size_t kept = header.size();
  for (size_t end; (end = text.find('\n', kept)) != std::string_view::npos; kept = end + 1) {
    const int64_t line_step = StepOf(text.substr(kept, end - kept));
    if (line_step > step) break;
    last_step_ = line_step;
  }
  return kept;
}

MetricsLog::~MetricsLog() {
  if (fd_ >= 0) close(fd_);
}

void MetricsLog::Write(const EpochReport& report) {
  AddNumber("%lld", static_cast<long long>(report.epoch + 1));
  AddNumber(",%lld", static_cast<long long>(report.step));
  for (const NamedNumber& rate : report.rates) AddNumber(",%.9g", rate.value);
  AddNumber(",%.9g", report.train.seconds);
  AddNumber(",%lld", static_cast<long long>(report.train.timed_samples));
  AddMeans(report.train);
  for (const PassResult& pass : report.evaluations) AddMeans(pass);
  EndLine();
  last_step_ = report.step;
}

// A number takes at most 20 digits and a sign, or 9 digits, a point, a sign and an exponent.
template <class... Args>
void MetricsLog::AddNumber(const char* format, Args... args) {
  char text[kNumberRoom];
  const int size = std::snprintf(text, sizeof(text), format, args...);
  line_.append(text, static_cast<size_t>(size));
}

void MetricsLog::AddNames(const PassResult& pass) {
  for (const NamedNumber& mean : pass.means) line_ += "," + pass.split + "_" + mean.name;
  for (const NamedTable& table : pass.tables) {
    if (!HasColumns(table)) continue;
    for (size_t i = 0; i < table.values.size(); ++i) {
      line_ += "," + pass.split + "_" + table.name + "[" + std::to_string(i) + "]";
    }
  }
}

void MetricsLog::AddMeans(const PassResult& pass) {
  const auto add = [&](double value) {
    if (std::isnan(value)) value = std::abs(value);
    pass.measured() ? AddNumber(",%.9g", value) : void(line_ += ',');
  };
  for (const NamedNumber& mean : pass.means) add(mean.value);
  for (const NamedTable& table : pass.tables) {
    if (!HasColumns(table)) continue;
    for (const double value : table.values) add(value);
  }
}

void MetricsLog::EndLine() {
  line_ += '\n';
  for (size_t done = 0; done < line_.size();) {
    const ssize_t written = write(fd_, line_.data() + done, line_.size() - done);
    if (written < 0 && errno != EINTR) Fail(path_);
    if (written > 0) done += static_cast<size_t>(written);
  }
  line_.clear();
}

}  // namespace cgrun
