// A ring of batches: workers claim batch numbers in order, fill the slot `number % slots`, and
// Next() takes them in order, so that the number of workers changes nothing but the speed.
#include "src/data/loader.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <system_error>

#include "src/base/block_signals.h"
#include "src/base/check.h"

namespace cgrun {
namespace {

using Clock = std::chrono::steady_clock;

// Bytes of one field in one slot, rounded up so that the next one is aligned; kNoLimit if too many.
int64_t FieldSlotBytes(const DataField& field, int64_t batch) {
  constexpr int64_t kAlignment = Loader::kAlignment;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(field.bytes(), batch, &bytes) || bytes > kNoLimit - kAlignment) {
    return kNoLimit;
  }
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

int64_t Loader::RingBytes(std::span<const DataField> fields, int64_t batch, int slots) {
  int64_t total = 0;
  for (const DataField& field : fields) {
    if (__builtin_add_overflow(total, FieldSlotBytes(field, batch), &total)) return kNoLimit;
  }
  return __builtin_mul_overflow(total, int64_t{slots}, &total) ? kNoLimit : total;
}

Loader::Loader(const Dataset& dataset, const LoaderOptions& options, std::span<std::byte> memory)
    : dataset_(dataset),
      batch_(options.batch),
      batches_per_epoch_(BatchCount(dataset.size(), options.batch)),
      sampler_(dataset.size(), options.seed, options.shuffle),
      slots_(static_cast<size_t>(options.slots)) {
  const std::vector<DataField>& fields = dataset.fields();
  CGRUN_CHECK(options.batch >= 1 && options.slots >= 1 && options.workers >= 0);
  CGRUN_CHECK(reinterpret_cast<uintptr_t>(memory.data()) % kAlignment == 0);
  CGRUN_CHECK(static_cast<int64_t>(memory.size()) >= RingBytes(fields, batch_, options.slots));
  for (const DataField& field : fields) field_bytes_.push_back(field.bytes());
  for (Slot& slot : slots_) {
    slot.numbers.resize(static_cast<size_t>(std::min(batch_, dataset.size())));
    slot.batch.fields.resize(fields.size());
    for (const DataField& field : fields) {
      slot.memory.push_back(memory.first(static_cast<size_t>(field.bytes() * batch_)));
      memory = memory.subspan(static_cast<size_t>(FieldSlotBytes(field, batch_)));
    }
  }
  const std::vector<std::span<std::byte>> sample(fields.size());
  scratch_.assign(static_cast<size_t>(std::max(1, options.workers)), sample);
  StartWorkers(options.workers);
}

Loader::~Loader() { StopWorkers(); }

// Returns when all of them wait for work: what a thread allocates at its start is behind us then.
void Loader::StartWorkers(int count) {
  const BlockSignals block;
  workers_.reserve(static_cast<size_t>(count));
  try {
    for (int i = 0; i < count; ++i) {
      workers_.emplace_back([this, i] { Work(static_cast<size_t>(i)); });
    }
  } catch (const std::system_error& error) {
    StopWorkers();
    throw UserError("cannot start " + std::to_string(count) +
                        " threads for loading data: " + error.code().message(),
                    "use fewer of them");
  }
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [&] { return started_ == count; });
}

void Loader::StopWorkers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    cancel_ = true;
  }
  work_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

void Loader::StartEpoch(int64_t epoch, int64_t first_batch) {
  CGRUN_CHECK(first_batch >= 0 && first_batch <= batches_per_epoch_);
  {
    std::unique_lock lock(mutex_);
    end_ = claimed_;  // nothing more is claimed
    cancel_ = true;
    ready_.wait(lock, [&] { return filling_ == 0; });
    cancel_ = false;
    sampler_.StartEpoch(epoch);
    for (Slot& slot : slots_) slot.ready = -1;
    released_ = next_ = claimed_ = first_batch;
    end_ = batches_per_epoch_;
  }
  work_.notify_all();
}

const Batch* Loader::Next() {
  std::unique_lock lock(mutex_);
  if (released_ < next_) {  // the batch that the caller had
    released_ = next_;
    work_.notify_all();
  }
  if (next_ >= end_) return nullptr;
  Slot& slot = SlotOf(next_);
  if (slot.ready != next_ && workers_.empty()) {
    Fill(next_, 0, slot);
    slot.ready = next_;
    claimed_ = next_ + 1;
  }
  if (slot.ready != next_) {
    const Clock::time_point begin = Clock::now();
    ready_.wait(lock, [&] { return slot.ready == next_; });
    stall_seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
  }
  if (slot.failed) throw UserError(slot.error, slot.help);
  ++next_;
  return &slot.batch;
}

bool Loader::CanClaim() const {
  return claimed_ < end_ && claimed_ < released_ + static_cast<int64_t>(slots_.size());
}

Loader::Slot& Loader::SlotOf(int64_t batch) {
  return slots_[static_cast<size_t>(batch) % slots_.size()];
}

void Loader::Work(size_t worker) {
  std::unique_lock lock(mutex_);
  ++started_;
  ready_.notify_all();
  while (true) {
    work_.wait(lock, [&] { return stop_ || CanClaim(); });
    if (stop_) return;
    const int64_t batch = claimed_++;
    Slot& slot = SlotOf(batch);
    ++filling_;
    lock.unlock();
    Fill(batch, worker, slot);
    lock.lock();
    --filling_;
    slot.ready = batch;
    ready_.notify_all();
  }
}

void Loader::Fill(int64_t batch, size_t worker, Slot& slot) noexcept {
  slot.failed = false;
  slot.batch.index = batch;
  slot.batch.first = batch * batch_;
  slot.batch.count = std::min(batch_, dataset_.size() - slot.batch.first);
  const auto numbers = std::span(slot.numbers).first(static_cast<size_t>(slot.batch.count));
  sampler_.Numbers(slot.batch.first, numbers);
  slot.batch.samples = numbers;
  try {
    ReadSamples(slot, scratch_[worker]);
  } catch (const UserError& error) {
    slot.failed = true;
    slot.error = error.what();
    slot.help = error.help();
  } catch (const std::exception& error) {
    slot.failed = true;
    slot.error = std::string("a sample cannot be read: ") + error.what();
    slot.help.clear();
  }
}

void Loader::ReadSamples(Slot& slot, std::span<std::span<std::byte>> out) {
  const size_t count = slot.batch.samples.size();
  for (size_t i = 0; i < count && !cancel_.load(std::memory_order_relaxed); ++i) {
    for (size_t f = 0; f < out.size(); ++f) {
      const size_t bytes = static_cast<size_t>(field_bytes_[f]);
      out[f] = slot.memory[f].subspan(i * bytes, bytes);
    }
    dataset_.Read(slot.batch.samples[i], out);
  }
  for (size_t f = 0; f < out.size(); ++f) {
    const size_t used = count * static_cast<size_t>(field_bytes_[f]);
    slot.batch.fields[f] = slot.memory[f].first(used);
    std::ranges::fill(slot.memory[f].subspan(used), std::byte{0});
  }
}

}  // namespace cgrun
