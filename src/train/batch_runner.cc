// Feeding, running and adding up.
#include "src/train/batch_runner.h"

#include <algorithm>
#include <cmath>

#include "src/base/check.h"

namespace cgrun {
namespace {

int FindFeed(const EngineEntry& entry, const std::string& name) {
  for (size_t i = 0; i < entry.feeds.size(); ++i) {
    if (entry.feeds[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

bool IsNumber(const EnginePort& result) {
  return result.kind == OutputKind::kLoss || result.kind == OutputKind::kMetric;
}

// "loss", or "path.loss" where several paths have one.
std::string ResultName(const EngineModel& model, const EngineEntry& entry, const EnginePort& port) {
  const auto same = std::count_if(entry.results.begin(), entry.results.end(),
                                  [&](const EnginePort& other) { return other.name == port.name; });
  if (same == 1 || port.path < 0) return port.name;
  return model.paths[static_cast<size_t>(port.path)].name + "." + port.name;
}

}  // namespace

BatchRunner::BatchRunner(Engine& engine, EntryKind kind, int64_t batch, const Dataset& dataset,
                         const std::vector<std::string>& inputs)
    : engine_(engine) {
  const int64_t tail = dataset.size() % batch;
  if (dataset.size() >= batch) entries_.push_back(MakeEntry(kind, batch, dataset, inputs));
  if (tail > 0) entries_.push_back(MakeEntry(kind, tail, dataset, inputs));
  const EngineEntry& first = engine.model().entries[static_cast<size_t>(entries_[0].index)];
  for (const Number& number : entries_[0].numbers) {
    const EnginePort& port = first.results[static_cast<size_t>(number.index)];
    means_.push_back({ResultName(engine.model(), first, port), 0});
  }
  sums_.resize(means_.size());
}

BatchRunner::Entry BatchRunner::MakeEntry(EntryKind kind, int64_t batch, const Dataset& dataset,
                                          const std::vector<std::string>& inputs) const {
  const EngineModel& model = engine_.model();
  Entry entry;
  entry.index = model.FindEntry(kind, batch);
  entry.batch = batch;
  CGRUN_CHECK(entry.index >= 0) << "no entry point " << Name(kind) << " for batch " << batch;
  const EngineEntry& of_model = model.entries[static_cast<size_t>(entry.index)];
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int feed = FindFeed(of_model, inputs[i]);
    if (feed >= 0 &&
        of_model.feeds[static_cast<size_t>(feed)].bytes() != batch * dataset.fields()[i].bytes()) {
      throw UserError("the program's input '" + inputs[i] + "' is not made for this data",
                      "compile the model again");
    }
    entry.fields.push_back(feed);
  }
  for (size_t i = 0; i < of_model.results.size(); ++i) {
    const EnginePort& result = of_model.results[i];
    if (!IsNumber(result)) continue;
    const std::string& path =
        result.path < 0 ? result.name : model.paths[static_cast<size_t>(result.path)].name;
    entry.numbers.push_back({static_cast<int>(i), result.kind == OutputKind::kLoss, &path});
  }
  for (const EnginePath& path : model.paths) {
    if (path.learning_rate_feed.empty()) continue;
    entry.rates.emplace_back(FindFeed(of_model, path.learning_rate_feed), path.learning_rate_feed);
  }
  entry.step = FindFeed(of_model, kStepCounter);
  return entry;
}

void BatchRunner::Run(const Batch& batch, int64_t step, std::span<const RateFeed> rates) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& e) { return e.batch == batch.count; });
  CGRUN_CHECK(entry != entries_.end()) << "no entry point for " << batch.count << " samples";
  FeedAll(*entry, batch, step, rates);
  engine_.Run(entry->index);
  AddResults(*entry, batch.count);
}

void BatchRunner::FeedAll(const Entry& entry, const Batch& batch, int64_t step,
                          std::span<const RateFeed> rates) {
  const std::vector<EnginePort>& feeds =
      engine_.model().entries[static_cast<size_t>(entry.index)].feeds;
  for (size_t i = 0; i < entry.fields.size(); ++i) {
    const int feed = entry.fields[i];
    if (feed < 0) continue;
    const int64_t bytes = feeds[static_cast<size_t>(feed)].bytes();
    engine_.Feed(entry.index, feed, batch.fields[i].first(static_cast<size_t>(bytes)));
  }
  if (entry.step >= 0) {
    engine_.Feed(entry.index, entry.step, std::as_bytes(std::span(&step, 1)));
  }
  for (const auto& [feed, name] : entry.rates) {
    if (feed < 0) continue;
    for (const RateFeed& rate : rates) {
      if (rate.name != name) continue;
      engine_.Feed(entry.index, feed, std::as_bytes(std::span(&rate.rate, 1)));
    }
  }
}

// A loss is a mean over the batch, a metric a sum over it.
void BatchRunner::AddResults(const Entry& entry, int64_t count) {
  diverged_path_ = nullptr;
  for (size_t i = 0; i < entry.numbers.size(); ++i) {
    const Number& number = entry.numbers[i];
    const double value = engine_.FetchScalar(entry.index, number.index);
    if (number.is_loss && diverged_path_ == nullptr && !std::isfinite(value)) {
      diverged_path_ = number.path;
    }
    sums_[i] += number.is_loss ? value * static_cast<double>(count) : value;
  }
  samples_ += count;
}

const std::vector<NamedNumber>& BatchRunner::Means() {
  const double samples = static_cast<double>(std::max<int64_t>(1, samples_));
  for (size_t i = 0; i < means_.size(); ++i) means_[i].value = sums_[i] / samples;
  return means_;
}

void BatchRunner::Reset() {
  std::fill(sums_.begin(), sums_.end(), 0.0);
  samples_ = 0;
}

void BatchRunner::GoOnFrom(std::span<const double> totals, int64_t samples) {
  CGRUN_CHECK(totals.size() == sums_.size()) << "totals of other losses and metrics";
  std::copy(totals.begin(), totals.end(), sums_.begin());
  samples_ = samples;
}

}  // namespace cgrun
