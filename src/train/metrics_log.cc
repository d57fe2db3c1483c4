// Lines of metrics.csv, put together in memory that was reserved and written in one go.
#include "src/train/metrics_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

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
  size_t columns = 4 + Columns(report.train);
  for (const PassResult& pass : report.evaluations) columns += Columns(pass);
  return columns;
}

[[noreturn]] void Fail(const std::string& path) {
  throw UserError("cannot write '" + path + "': " + std::strerror(errno));
}

}  // namespace

MetricsLog::MetricsLog(std::string path, const EpochReport& shape) : path_(std::move(path)) {
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) Fail(path_);
  line_ = "epoch,step,learning_rate,seconds";
  AddNames(shape.train);
  for (const PassResult& pass : shape.evaluations) AddNames(pass);
  EndLine();
  line_.reserve(Columns(shape) * kNumberRoom);
}

MetricsLog::~MetricsLog() {
  if (fd_ >= 0) close(fd_);
}

void MetricsLog::Write(const EpochReport& report, double learning_rate) {
  AddNumber("%lld", static_cast<long long>(report.epoch + 1));
  AddNumber(",%lld", static_cast<long long>(report.step));
  AddNumber(",%.9g", learning_rate);
  AddNumber(",%.9g", report.train.seconds);
  AddMeans(report.train);
  for (const PassResult& pass : report.evaluations) AddMeans(pass);
  EndLine();
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
