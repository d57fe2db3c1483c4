// BatchRunner: feeds batches to one kind of entry point and adds up what comes out. Full batches
// and the last, partial one have an entry point each. Nothing here allocates after construction.
#ifndef CGRUN_RUN_BATCH_RUNNER_H_
#define CGRUN_RUN_BATCH_RUNNER_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/data/dataset.h"
#include "src/data/loader.h"
#include "src/results/pass_result.h"
#include "src/run/accumulation.h"
#include "src/run/engine.h"

namespace cgrun {

// Gives a learning rate to the feed of this name.
struct RateFeed {
  std::string name;
  double rate = 0;
};

class BatchRunner {
 public:
  // `inputs[i]` is the input that takes field i of `dataset`. The engine has an entry point of
  // `kind` for the full batches that the set has, and one for its partial batch. Throws UserError
  // if their feeds are not made for such data.
  BatchRunner(Engine& engine, EntryKind kind, int64_t batch, const Dataset& dataset,
              const std::vector<std::string>& inputs);

  // Runs one batch. Adds its losses and metrics to the totals. Returns the index of the entry point
  // that ran.
  int Run(const Batch& batch, const StepPart& part, std::span<const RateFeed> rates);
  // A batch that is a step of its own: `step` counts from 0.
  int Run(const Batch& batch, int64_t step, std::span<const RateFeed> rates) {
    return Run(batch, StepPart::Whole(step), rates);
  }
  // Feeds one batch, for who runs its entry point, whose index is returned.
  int Feed(const Batch& batch, const StepPart& part, std::span<const RateFeed> rates);

  // Returns the means of the batches since Reset(): losses, which are means over samples, and
  // metrics of one number.
  const std::vector<NamedNumber>& Means();
  // As Means(), without metrics that are known only at the end of a pass (KeepsSamples()).
  const std::vector<NamedNumber>& RunningMeans();
  // The sum of the losses among them, of all paths; nothing where there is none.
  std::optional<double> TotalLoss();
  // Returns the other metrics.
  const std::vector<NamedTable>& Tables();
  // Writes means, tables and the count of samples into `pass`, which gets the name `split` where
  // it is empty. Allocates only then.
  void Report(const std::string& split, PassResult& pass);
  void Reset();
  // The path whose loss in the last batch is not finite, the first of them; null where all are.
  const std::string* diverged_path() const { return diverged_path_; }
  int64_t samples() const { return samples_; }

  // The sums since Reset(); GoOnFrom() continues from them. SaveTotals() copies those that the last
  // batch changed.
  size_t total_count() const { return sums_.size(); }
  void SaveTotals(std::span<double> totals) const;
  void GoOnFrom(std::span<const double> totals, int64_t samples);

 private:
  // A result that is added up.
  struct Number {
    int index = -1;
    int64_t elements = 1;
    bool is_loss = false;
    const std::string* path = nullptr;  // its path's name; its own where it has none
  };
  // Says where a result of every entry point is added up, and which part of it is shown.
  struct Total {
    size_t first = 0;  // of its sums
    size_t count = 1;
    std::optional<MetricUse> metric;  // of a metric
    size_t shown = 0;                 // index into means_ or tables_
    bool is_table = false;
    bool keeps_samples = false;  // has a number for each sample of the set
    size_t running = 0;          // index into running_
  };
  // Feeds and results of one entry point by index, looked up once; −1: the entry does not have it.
  struct Entry {
    int index = -1;
    int64_t batch = 0;
    bool updates = true;  // not of a kind that only adds up gradients
    std::vector<int> fields;
    std::vector<Number> numbers;
    std::vector<std::pair<int, std::string>> rates;
    int step = -1;
    int update = -1;
    int factors = -1;
  };

  Entry MakeEntry(EntryKind kind, int64_t batch, const Dataset& dataset,
                  const std::vector<std::string>& inputs) const;
  const Entry& EntryFor(const Batch& batch, const StepPart& part) const;
  void FeedAll(const Entry& entry, const Batch& batch, const StepPart& part,
               std::span<const RateFeed> rates);
  void FeedCounters(const Entry& entry, const StepPart& part);
  void AddTotal(const EngineEntry& entry, const EnginePort& port);
  void AddResults(const Entry& entry, int64_t count);
  void Add(const Total& total, std::span<const double> values, double weight);
  void Keep(const Total& total, std::span<const double> values);
  size_t KeptBegin(const Total& total, int64_t count) const;
  void Finish(const Total& total, std::span<double> shown);

  Engine& engine_;
  std::vector<Entry> entries_;
  std::vector<Total> totals_;     // in the order of Entry::numbers
  std::vector<double> sums_;      // of all totals
  std::vector<double> batch_;     // the largest result of a batch, …
  std::vector<std::byte> bytes_;  // … and as it is fetched
  std::vector<NamedNumber> means_, running_;
  std::vector<NamedTable> tables_;
  int64_t set_size_;
  int64_t samples_ = 0;
  int64_t last_count_ = 0;  // of them, in the last batch
  const std::string* diverged_path_ = nullptr;
};

}  // namespace cgrun

#endif  // CGRUN_RUN_BATCH_RUNNER_H_
