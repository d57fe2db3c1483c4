// Feeding, running and adding up.
#include "src/train/batch_runner.h"

#include <algorithm>
#include <cmath>

#include "src/base/check.h"

namespace cgrun {
namespace {

const ImagePort* FindFeed(const ImageEntry& entry, const std::string& name) {
  for (const ImagePort& feed : entry.feeds) {
    if (feed.name == name) return &feed;
  }
  return nullptr;
}

bool IsNumber(const ImagePort& result) {
  return result.kind == OutputKind::kLoss || result.kind == OutputKind::kMetric;
}

// "loss", or "path.loss" where several paths have one.
std::string ResultName(const ProgramImage& image, const ImageEntry& entry, const ImagePort& port) {
  const auto same = std::count_if(entry.results.begin(), entry.results.end(),
                                  [&](const ImagePort& other) { return other.name == port.name; });
  if (same == 1 || port.path < 0) return port.name;
  return image.paths[static_cast<size_t>(port.path)].name + "." + port.name;
}

}  // namespace

BatchRunner::BatchRunner(Program& program, EntryKind kind, int64_t batch, const Dataset& dataset,
                         const std::vector<std::string>& inputs)
    : program_(program) {
  const int64_t tail = dataset.size() % batch;
  if (dataset.size() >= batch) entries_.push_back(MakeEntry(kind, batch, dataset, inputs));
  if (tail > 0) entries_.push_back(MakeEntry(kind, tail, dataset, inputs));
  const ImageEntry& image = *program.entries()[static_cast<size_t>(entries_[0].index)].image;
  for (const ImagePort* result : entries_[0].results) {
    means_.push_back({ResultName(program.image(), image, *result), 0});
  }
  sums_.resize(means_.size());
}

BatchRunner::Entry BatchRunner::MakeEntry(EntryKind kind, int64_t batch, const Dataset& dataset,
                                          const std::vector<std::string>& inputs) const {
  Entry entry;
  entry.index = program_.FindEntry(kind, batch);
  entry.batch = batch;
  CGRUN_CHECK(entry.index >= 0) << "no entry point " << Name(kind) << " for batch " << batch;
  const ImageEntry& image = *program_.entries()[static_cast<size_t>(entry.index)].image;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ImagePort* feed = FindFeed(image, inputs[i]);
    if (feed != nullptr && feed->bytes.bytes != batch * dataset.fields()[i].bytes()) {
      throw UserError("the program's input '" + inputs[i] + "' is not made for this data",
                      "compile the model again");
    }
    entry.fields.push_back(feed);
  }
  for (const ImagePort& result : image.results) {
    if (IsNumber(result)) entry.results.push_back(&result);
  }
  for (const ImagePath& path : program_.image().paths) {
    if (path.learning_rate_feed.empty()) continue;
    entry.rates.emplace_back(FindFeed(image, path.learning_rate_feed), path.learning_rate_feed);
  }
  entry.step = FindFeed(image, kStepCounter);
  return entry;
}

void BatchRunner::Run(const Batch& batch, int64_t step, std::span<const RateFeed> rates) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& e) { return e.batch == batch.count; });
  CGRUN_CHECK(entry != entries_.end()) << "no entry point for " << batch.count << " samples";
  FeedAll(*entry, batch, step, rates);
  program_.Run(entry->index);
  AddResults(*entry, batch.count);
}

void BatchRunner::FeedAll(const Entry& entry, const Batch& batch, int64_t step,
                          std::span<const RateFeed> rates) {
  for (size_t i = 0; i < entry.fields.size(); ++i) {
    const ImagePort* port = entry.fields[i];
    if (port == nullptr) continue;
    program_.Feed(*port, batch.fields[i].first(static_cast<size_t>(port->bytes.bytes)));
  }
  if (entry.step != nullptr) program_.Feed(*entry.step, std::as_bytes(std::span(&step, 1)));
  for (const auto& [port, name] : entry.rates) {
    if (port == nullptr) continue;
    for (const RateFeed& rate : rates) {
      if (rate.name == name) program_.Feed(*port, std::as_bytes(std::span(&rate.rate, 1)));
    }
  }
}

// A loss is a mean over the batch, a metric a sum over it.
void BatchRunner::AddResults(const Entry& entry, int64_t count) {
  diverged_path_ = nullptr;
  for (size_t i = 0; i < entry.results.size(); ++i) {
    const double value = program_.FetchScalar(*entry.results[i]);
    const bool loss = entry.results[i]->kind == OutputKind::kLoss;
    if (loss && diverged_path_ == nullptr && !std::isfinite(value)) {
      const int path = entry.results[i]->path;  // a compiled program may name none
      diverged_path_ = path < 0 ? &entry.results[i]->name
                                : &program_.image().paths[static_cast<size_t>(path)].name;
    }
    sums_[i] += loss ? value * static_cast<double>(count) : value;
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

}  // namespace cgrun
