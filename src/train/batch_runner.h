// BatchRunner: feeds batches to one kind of entry point and adds up what comes out. Full batches
// and the last, partial one have an entry point each. Nothing here allocates after construction.
#ifndef CGRUN_TRAIN_BATCH_RUNNER_H_
#define CGRUN_TRAIN_BATCH_RUNNER_H_

#include <span>
#include <string>
#include <vector>

#include "src/data/dataset.h"
#include "src/data/loader.h"
#include "src/program/program.h"

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
  // `inputs[i]` is the input that takes field i of `dataset`. The program has an entry point of
  // `kind` for the full batches that the set has, and one for its partial batch. Throws UserError
  // if their feeds are not made for such data.
  BatchRunner(Program& program, EntryKind kind, int64_t batch, const Dataset& dataset,
              const std::vector<std::string>& inputs);

  // Runs one batch: `step` counts from 0. Adds its losses and metrics to the totals.
  void Run(const Batch& batch, int64_t step, std::span<const RateFeed> rates);

  // Losses and metrics of the batches since Reset(): means over samples.
  const std::vector<NamedNumber>& Means();
  void Reset();
  // The path whose loss in the last batch is not finite, the first of them; null where all are.
  const std::string* diverged_path() const { return diverged_path_; }
  int64_t samples() const { return samples_; }

 private:
  // Ports of one entry point, looked up once.
  struct Entry {
    int index = -1;
    int64_t batch = 0;
    std::vector<const ImagePort*> fields;  // of each field; null where the entry does not use it
    std::vector<const ImagePort*> results;
    std::vector<std::pair<const ImagePort*, std::string>> rates;
    const ImagePort* step = nullptr;
  };

  Entry MakeEntry(EntryKind kind, int64_t batch, const Dataset& dataset,
                  const std::vector<std::string>& inputs) const;
  void FeedAll(const Entry& entry, const Batch& batch, int64_t step,
               std::span<const RateFeed> rates);
  void AddResults(const Entry& entry, int64_t count);

  Program& program_;
  std::vector<Entry> entries_;
  std::vector<double> sums_;
  std::vector<NamedNumber> means_;
  int64_t samples_ = 0;
  const std::string* diverged_path_ = nullptr;
};

}  // namespace cgrun

#endif  // CGRUN_TRAIN_BATCH_RUNNER_H_
