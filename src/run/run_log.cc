// One report to both files.
#include "src/run/run_log.h"

#include <algorithm>
#include <chrono>

namespace cgrun {
namespace {

constexpr size_t kScalarRoom = 16;  // bytes beside a tag
constexpr size_t kEventRoom = 64;

size_t RecordRoom(const EpochReport& shape) {
  size_t room = kEventRoom;
  const auto add = [&](const PassResult& pass) {
    for (const NamedNumber& mean : pass.means) {
      room += pass.split.size() + 1 + mean.name.size() + kScalarRoom;
    }
  };
  add(shape.train);
  for (const PassResult& pass : shape.evaluations) add(pass);
  for (const NamedNumber& rate : shape.rates) room += rate.name.size() + kScalarRoom;
  return room;
}

}  // namespace

RunLog::RunLog(const std::string& folder, const EpochReport& shape, int64_t step)
    : metrics_(folder + "/metrics.csv", shape, step),
      events_(folder + "/" + kEventFileName, step, RecordRoom(shape)),
      train_tags_(TagsOf(shape.train)) {
  for (const PassResult& pass : shape.evaluations) evaluation_tags_.push_back(TagsOf(pass));
  for (const NamedNumber& rate : shape.rates) {
    rate_tags_.push_back(rate.name);
    std::ranges::replace(rate_tags_.back(), '.', '/');  // as the board makes groups
  }
}

std::vector<std::string> RunLog::TagsOf(const PassResult& pass) {
  std::vector<std::string> tags;
  for (const NamedNumber& mean : pass.means) tags.push_back(pass.split + "/" + mean.name);
  return tags;
}

void RunLog::Add(const std::vector<std::string>& tags, const PassResult& pass) {
  if (!pass.measured()) return;
  for (size_t i = 0; i < tags.size(); ++i) events_.Add(tags[i], pass.means[i].value);
}

void RunLog::Write(const EpochReport& report) {
  metrics_.Write(report);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  events_.Begin(report.step, std::chrono::duration<double>(now).count());
  Add(train_tags_, report.train);
  for (size_t i = 0; i < report.evaluations.size(); ++i) {
    Add(evaluation_tags_[i], report.evaluations[i]);
  }
  for (size_t i = 0; i < rate_tags_.size(); ++i) {
    events_.Add(rate_tags_[i], report.rates[i].value);
  }
  events_.End();
}

}  // namespace cgrun
