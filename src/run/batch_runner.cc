#include "src/run/batch_runner.h"

#include <algorithm>
#include <cmath>

#include "src/base/check.h"
#include "src/ir/op_def.h"
#include "src/ops/metric.h"

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

// Sorts NaN behind all numbers.
bool IsLess(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

}  // namespace

BatchRunner::BatchRunner(Engine& engine, EntryKind kind, int64_t batch, const Dataset& dataset,
                         const std::vector<std::string>& inputs)
    : engine_(engine), set_size_(dataset.size()) {
  const int64_t tail = dataset.size() % batch;
  if (dataset.size() >= batch) entries_.push_back(MakeEntry(kind, batch, dataset, inputs));
  if (tail > 0) entries_.push_back(MakeEntry(kind, tail, dataset, inputs));
  if (kind == EntryKind::kTrain && engine.model().FindEntry(EntryKind::kAccumulate, batch) >= 0) {
    entries_.push_back(MakeEntry(EntryKind::kAccumulate, batch, dataset, inputs));
  }
  const EngineEntry& first = engine.model().entries[static_cast<size_t>(entries_[0].index)];
  for (const Number& number : entries_[0].numbers) {
    AddTotal(first, first.results[static_cast<size_t>(number.index)]);
  }
}

void BatchRunner::AddTotal(const EngineEntry& entry, const EnginePort& port) {
  Total total{sums_.size(), static_cast<size_t>(port.type.shape.Elements()), port.metric, 0, false};
  const auto shape = port.metric ? ShownBy(port.metric->op, port.metric->attributes, port.type)
                                 : std::optional<Shape>(Shape());
  CGRUN_CHECK(shape.has_value()) << port.name << " is not finished by its operator";
  total.is_table = shape->rank() > 0;
  total.keeps_samples = port.metric && KeepsSamples(port.metric->op, port.type.shape);
  total.shown = total.is_table ? tables_.size() : means_.size();
  const std::string name = ResultName(engine_.model(), entry, port);
  if (total.is_table) {
    const MetricDef& def = GetOpDef(port.metric->op).metric;
    tables_.push_back({name, std::vector<double>(static_cast<size_t>(shape->Elements())),
                       shape->rank() > 1 ? (*shape)[1].size : 0, def.counts, def.caption});
  } else {
    means_.push_back(
        {name, 0, port.metric && IsApproximate(port.metric->op, port.metric->attributes)});
    total.running = running_.size();
    if (!total.keeps_samples) running_.push_back(means_.back());
  }
  batch_.resize(std::max(batch_.size(), total.count));
  if (total.keeps_samples) total.count = static_cast<size_t>(set_size_);
  sums_.resize(total.first + total.count);
  bytes_.resize(std::max(bytes_.size(), static_cast<size_t>(port.bytes())));
  totals_.push_back(std::move(total));
}

BatchRunner::Entry BatchRunner::MakeEntry(EntryKind kind, int64_t batch, const Dataset& dataset,
                                          const std::vector<std::string>& inputs) const {
  const EngineModel& model = engine_.model();
  Entry entry;
  entry.index = model.FindEntry(kind, batch);
  entry.batch = batch;
  entry.updates = kind != EntryKind::kAccumulate;
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
    entry.numbers.push_back({static_cast<int>(i), result.type.shape.Elements(),
                             result.kind == OutputKind::kLoss, &path});
  }
  for (const EnginePath& path : model.paths) {
    if (path.learning_rate_feed.empty()) continue;
    entry.rates.emplace_back(FindFeed(of_model, path.learning_rate_feed), path.learning_rate_feed);
  }
  entry.step = FindFeed(of_model, kStepCounter);
  entry.update = FindFeed(of_model, kUpdateCounter);
  entry.factors = FindFeed(of_model, kAccumulateFactors);
  return entry;
}

int BatchRunner::Run(const Batch& batch, const StepPart& part, std::span<const RateFeed> rates) {
  const Entry& entry = EntryFor(batch, part);
  FeedAll(entry, batch, part, rates);
  engine_.Run(entry.index);
  AddResults(entry, batch.count);
  return entry.index;
}

int BatchRunner::Feed(const Batch& batch, const StepPart& part, std::span<const RateFeed> rates) {
  const Entry& entry = EntryFor(batch, part);
  FeedAll(entry, batch, part, rates);
  return entry.index;
}

const BatchRunner::Entry& BatchRunner::EntryFor(const Batch& batch, const StepPart& part) const {
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
    return e.batch == batch.count && e.updates == part.updates;
  });
  CGRUN_CHECK(entry != entries_.end()) << "no entry point for " << batch.count << " samples";
  return *entry;
}

void BatchRunner::FeedAll(const Entry& entry, const Batch& batch, const StepPart& part,
                          std::span<const RateFeed> rates) {
  const std::vector<EnginePort>& feeds =
      engine_.model().entries[static_cast<size_t>(entry.index)].feeds;
  for (size_t i = 0; i < entry.fields.size(); ++i) {
    const int feed = entry.fields[i];
    if (feed < 0) continue;
    const int64_t bytes = feeds[static_cast<size_t>(feed)].bytes();
    engine_.Feed(entry.index, feed, batch.fields[i].first(static_cast<size_t>(bytes)));
  }
  FeedCounters(entry, part);
  for (const auto& [feed, name] : entry.rates) {
    if (feed < 0) continue;
    for (const RateFeed& rate : rates) {
      if (rate.name != name) continue;
      engine_.Feed(entry.index, feed, std::as_bytes(std::span(&rate.rate, 1)));
    }
  }
}

void BatchRunner::FeedCounters(const Entry& entry, const StepPart& part) {
  if (entry.step >= 0) {
    engine_.Feed(entry.index, entry.step, std::as_bytes(std::span(&part.batch, 1)));
  }
  if (entry.update >= 0) {
    engine_.Feed(entry.index, entry.update, std::as_bytes(std::span(&part.step, 1)));
  }
  if (entry.factors >= 0) {
    const double factors[] = {part.goes_on ? 1.0 : 0.0, part.weight};
    engine_.Feed(entry.index, entry.factors, std::as_bytes(std::span(factors)));
  }
}

// A loss is a mean over the batch, a metric's result sums over it.
void BatchRunner::AddResults(const Entry& entry, int64_t count) {
  diverged_path_ = nullptr;
  for (size_t i = 0; i < entry.numbers.size(); ++i) {
    const Number& number = entry.numbers[i];
    const std::span<double> values = std::span(batch_).first(static_cast<size_t>(number.elements));
    engine_.FetchNumbers(entry.index, number.index, bytes_, values);
    if (number.is_loss && diverged_path_ == nullptr && !std::isfinite(values[0])) {
      diverged_path_ = number.path;
    }
    const double weight = number.is_loss ? static_cast<double>(count) : 1;
    Add(totals_[i], values, weight);
  }
  samples_ += count;
  last_count_ = count;
}

// Returns the place for the next `count` numbers of samples. A benchmark runs more batches than the
// set has, and then begins at the front.
size_t BatchRunner::KeptBegin(const Total& total, int64_t count) const {
  const int64_t begin = samples_ % set_size_;
  return total.first + static_cast<size_t>(begin + count > set_size_ ? 0 : begin);
}

void BatchRunner::Keep(const Total& total, std::span<const double> values) {
  const size_t begin = KeptBegin(total, std::ssize(values));
  std::ranges::copy(values, sums_.begin() + static_cast<std::ptrdiff_t>(begin));
}

void BatchRunner::Add(const Total& total, std::span<const double> values, double weight) {
  if (total.keeps_samples) return Keep(total, values);
  const std::span<double> sums = std::span(sums_).subspan(total.first, total.count);
  const auto merge = total.metric ? GetOpDef(total.metric->op).metric.merge : nullptr;
  if (merge != nullptr) return merge(values, sums);
  for (size_t e = 0; e < values.size(); ++e) sums[e] += values[e] * weight;
}

void BatchRunner::Finish(const Total& total, std::span<double> shown) {
  std::span<double> sums = std::span(sums_).subspan(total.first, total.count);
  if (total.keeps_samples) {
    sums = sums.first(static_cast<size_t>(std::min(samples_, set_size_)));
    if (!std::ranges::is_sorted(sums, IsLess)) std::ranges::sort(sums, IsLess);
  }
  const int64_t samples = std::max<int64_t>(1, samples_);
  const auto finish = total.metric ? GetOpDef(total.metric->op).metric.finish : nullptr;
  if (finish != nullptr) {
    finish(total.metric->attributes, sums, samples, shown);
  } else {
    shown[0] = sums[0] / static_cast<double>(samples);
  }
}

const std::vector<NamedNumber>& BatchRunner::Means() {
  for (const Total& total : totals_) {
    if (!total.is_table) Finish(total, {&means_[total.shown].value, 1});
  }
  return means_;
}

const std::vector<NamedNumber>& BatchRunner::RunningMeans() {
  for (const Total& total : totals_) {
    if (!total.is_table && !total.keeps_samples) Finish(total, {&running_[total.running].value, 1});
  }
  return running_;
}

std::optional<double> BatchRunner::TotalLoss() {
  std::optional<double> sum;
  for (size_t i = 0; i < totals_.size(); ++i) {
    if (!entries_[0].numbers[i].is_loss) continue;
    double loss = 0;
    Finish(totals_[i], {&loss, 1});
    sum = sum.value_or(0) + loss;
  }
  return sum;
}

const std::vector<NamedTable>& BatchRunner::Tables() {
  for (const Total& total : totals_) {
    if (total.is_table) Finish(total, tables_[total.shown].values);
  }
  return tables_;
}

void BatchRunner::Reset() {
  std::fill(sums_.begin(), sums_.end(), 0.0);
  samples_ = last_count_ = 0;
}

void BatchRunner::SaveTotals(std::span<double> totals) const {
  for (const Total& total : totals_) {
    size_t begin = total.first, count = total.count;
    if (total.keeps_samples) {
      begin += static_cast<size_t>(samples_ - last_count_);
      count = static_cast<size_t>(last_count_);
    }
    std::copy_n(sums_.begin() + static_cast<std::ptrdiff_t>(begin), count,
                totals.begin() + static_cast<std::ptrdiff_t>(begin));
  }
}

void BatchRunner::GoOnFrom(std::span<const double> totals, int64_t samples) {
  CGRUN_CHECK(totals.size() == sums_.size()) << "totals of other losses and metrics";
  std::copy(totals.begin(), totals.end(), sums_.begin());
  samples_ = samples;
  last_count_ = 0;
}

void BatchRunner::Report(const std::string& split, PassResult& pass) {
  const std::vector<NamedNumber>& means = Means();
  const std::vector<NamedTable>& tables = Tables();
  if (pass.means.size() != means.size() || pass.tables.size() != tables.size()) {
    pass.split = split;
    pass.means = means;
    pass.tables = tables;
  }
  for (size_t i = 0; i < means.size(); ++i) pass.means[i].value = means[i].value;
  for (size_t i = 0; i < tables.size(); ++i) {
    std::ranges::copy(tables[i].values, pass.tables[i].values.begin());
  }
  pass.samples = pass.timed_samples = samples_;
}

}  // namespace cgrun
