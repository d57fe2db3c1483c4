// The batches that a benchmark's cases go through, in memory before the first step.
#ifndef CGRUN_BENCH_BENCH_BATCHES_H_
#define CGRUN_BENCH_BENCH_BATCHES_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "src/data/dataset.h"
#include "src/data/loader.h"
#include "src/device/device.h"

namespace cgrun {

// The first samples of a data set, and these over again if it has too few.
class FirstSamples final : public Dataset {
 public:
  FirstSamples(const Dataset& all, int64_t size) : all_(all), size_(size) {}

  int64_t size() const override { return size_; }
  const std::vector<DataField>& fields() const override { return all_.fields(); }
  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override {
    all_.Read(index % all_.size(), out);
  }
  int64_t decoded_bytes() const override { return 0; }

 private:
  const Dataset& all_;
  int64_t size_;
};

// Whole batches, read beforehand.
class BenchBatches {
 public:
  BenchBatches(const Dataset& dataset, int64_t batch, int64_t count)
      : samples_(dataset, count * batch) {
    for (int64_t b = 0; b < count; ++b) Read(b, batch);
  }

  const Dataset& dataset() const { return samples_; }
  // The bytes of the host's memory that they take.
  int64_t bytes() const {
    int64_t sum = 0;
    for (const std::vector<std::byte>& bytes : memory_) sum += std::ssize(bytes);
    return sum;
  }
  // Has them copied to `device`, which must outlive them, from pinned memory where that is faster.
  void PinFor(Device& device) {
    for (std::vector<std::byte>& bytes : memory_) pins_.push_back(device.Pin(bytes));
  }
  const Batch& Of(int64_t step) const {
    return batches_[static_cast<size_t>(step % std::ssize(batches_))];
  }

 private:
  void Read(int64_t index, int64_t count) {
    Batch batch;
    batch.index = index;
    batch.first = index * count;
    batch.count = count;
    std::vector<std::span<std::byte>> to;
    for (const DataField& field : samples_.fields()) {
      memory_.push_back(std::vector<std::byte>(static_cast<size_t>(field.bytes() * count)));
      to.emplace_back(memory_.back());
      batch.fields.emplace_back(memory_.back());
    }
    for (int64_t s = 0; s < count; ++s) {
      std::vector<std::span<std::byte>> sample;
      for (size_t f = 0; f < to.size(); ++f) {
        const auto bytes = static_cast<size_t>(samples_.fields()[f].bytes());
        sample.push_back(to[f].subspan(static_cast<size_t>(s) * bytes, bytes));
      }
      samples_.Read(batch.first + s, sample);
    }
    batches_.push_back(std::move(batch));
  }

  FirstSamples samples_;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::shared_ptr<void>> pins_;  // of it
  std::vector<Batch> batches_;
};

}  // namespace cgrun

#endif  // CGRUN_BENCH_BENCH_BATCHES_H_
