// BatchRunner: feeds batches to one kind of entry point and adds up what comes out. Full batches
// and the last, partial one have an entry point each. Nothing here allocates after construction.
#ifndef CGRUN_TRAIN_BATCH_RUNNER_H_
#define CGRUN_TRAIN_BATCH_RUNNER_H_

#include <span>
#include <string>
#include <vector>

#include "src/data/dataset.h"
#include "src/data/loader.h"
#include "src/train/engine.h"

namespace cgrun {

struct NamedNumber {
  std::string name;
  double value = 0;
};

// A learning rate for a feed of this name.
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

  // Runs one batch: `step` counts from 0. Adds its losses and metrics to the totals.
  void Run(const Batch& batch, int64_t step, std::span<const RateFeed> rates);

  // Losses and metrics of the batches since Reset(): means over samples.
  const std::vector<NamedNumber>& Means();
  void Reset();
  // The path whose loss in the last batch is not finite, the first of them; null where all are.
  const std::string* diverged_path() const { return diverged_path_; }
  int64_t samples() const { return samples_; }

  // What has been added up since Reset(), and going on from there.
  std::span<const double> totals() const { return sums_; }
  void GoOnFrom(std::span<const double> totals, int64_t samples);

 private:
  // A result that is added up.
  struct Number {
    int index = -1;
    bool is_loss = false;
    const std::string* path = nullptr;  // its path's name; its own where it has none
  };
  // Feeds and results of one entry point by index, looked up once; −1: the entry does not have it.
  struct Entry {
    int index = -1;
    int64_t batch = 0;
    std::vector<int> fields;
    std::vector<Number> numbers;
    std::vector<std::pair<int, std::string>> rates;
    int step = -1;
  };

  Entry MakeEntry(EntryKind kind, int64_t batch, const Dataset& dataset,
                  const std::vector<std::string>& inputs) const;
  void FeedAll(const Entry& entry, const Batch& batch, int64_t step,
               std::span<const RateFeed> rates);
  void AddResults(const Entry& entry, int64_t count);

  Engine& engine_;
  std::vector<Entry> entries_;
  std::vector<double> sums_;
  std::vector<NamedNumber> means_;
  int64_t samples_ = 0;
  const std::string* diverged_path_ = nullptr;
};

}  // namespace cgrun

#endif  // CGRUN_TRAIN_BATCH_RUNNER_H_
