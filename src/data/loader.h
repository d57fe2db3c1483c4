// The loader: threads of its own read the next batches of an epoch into a ring of slots while the
// caller works on the current one.
//
//   Loader loader(dataset, {.batch = 64, .seed = 7}, memory);
//   loader.StartEpoch(0);
//   while (const Batch* batch = loader.Next()) Train(*batch);
#ifndef CGRUN_DATA_LOADER_H_
#define CGRUN_DATA_LOADER_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "src/data/dataset.h"
#include "src/data/sampler.h"

namespace cgrun {

struct Batch {
  int64_t index = 0;  // of the batch in its epoch
  int64_t first = 0;  // position of its first sample in the order of the epoch
  int64_t count = 0;  // real samples: fewer than the batch size in the last batch of an epoch
  std::span<const int64_t> samples;                // their numbers in the data set, `count` of them
  std::vector<std::span<const std::byte>> fields;  // one a field: `count` samples in a row, at an
                                                   // address that is a multiple of 64; in a partial
                                                   // batch, zeros follow up to the batch size
};

struct LoaderOptions {
  int64_t batch = 1;  // samples
  int slots = 2;      // batches in the ring; with one, nothing is read ahead
  int workers = 1;    // threads; with none, Next() reads the samples itself
  bool shuffle = true;
  uint64_t seed = 0;
};

// Used by one thread. After its construction it neither allocates nor starts threads, except for an
// error. The batches of an epoch are a pure function of (data set, batch, shuffle, seed, epoch),
// whatever the number of slots and workers. Workers never enter OpenMP and take no signals.
class Loader {
 public:
  static constexpr size_t kAlignment = 64;

  // Bytes of a ring; kNoLimit where that does not fit.
  static int64_t RingBytes(std::span<const DataField> fields, int64_t batch, int slots);

  // `memory` has RingBytes() bytes at a multiple of kAlignment; it and `dataset` outlive the
  // loader. UserError where the system gives no more threads.
  Loader(const Dataset& dataset, const LoaderOptions& options, std::span<std::byte> memory);
  // Returns when the samples that are just being read are there.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  int64_t batches_per_epoch() const { return batches_per_epoch_; }

  // Begins `epoch` at batch number `first_batch`, at any moment: an epoch that was not finished is
  // given up. Reading starts now, so a caller who has other work before the next epoch (an
  // evaluation) does well to call it first.
  void StartEpoch(int64_t epoch, int64_t first_batch = 0);

  // The next batch, valid until the next call of Next() or StartEpoch(); waits for it. Returns null
  // at the end of the epoch. UserError where one of its samples could not be read, again at every
  // call until StartEpoch().
  const Batch* Next();

  // Time that Next() has waited, in all epochs.
  double stall_seconds() const { return stall_seconds_; }

 private:
  struct Slot {
    std::vector<std::span<std::byte>> memory;  // a field, for the whole batch
    std::vector<int64_t> numbers;              // of the samples, for the whole batch
    Batch batch;
    int64_t ready = -1;  // number of the batch that it holds
    bool failed = false;
    std::string error, help;
  };

  void StartWorkers(int count);
  void StopWorkers();
  void Work(size_t worker);
  // Both need the mutex.
  bool CanClaim() const;
  Slot& SlotOf(int64_t batch);

  void Fill(int64_t batch, size_t worker, Slot& slot) noexcept;
  void ReadSamples(Slot& slot, std::span<std::span<std::byte>> out);

  const Dataset& dataset_;
  const int64_t batch_;
  const int64_t batches_per_epoch_;
  Sampler sampler_;  // changed only while no worker fills a slot
  std::vector<int64_t> field_bytes_;
  std::vector<std::vector<std::span<std::byte>>> scratch_;  // a worker: where a sample goes
  double stall_seconds_ = 0.0;

  std::mutex mutex_;
  std::condition_variable work_, ready_;
  // Under the mutex. Batches before `released_` are done with, `next_` is what Next() gives,
  // `claimed_` is what a worker takes: released_ <= next_ <= claimed_ <= released_ + slots.
  int64_t released_ = 0, next_ = 0, claimed_ = 0, end_ = 0;
  int filling_ = 0, started_ = 0;
  bool stop_ = false;
  std::vector<Slot> slots_;
  std::atomic<bool> cancel_ = false;  // batches under way are of no use any more
  std::vector<std::thread> workers_;
};

}  // namespace cgrun

#endif  // CGRUN_DATA_LOADER_H_
