// Finds out once, from the bytes that instructions use, which of them wait for others.
#include "src/program/join_streams.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <span>

#include "src/plan/schedule.h"
#include "src/program/image_values.h"

namespace cgrun {
namespace {

constexpr int kSpins = 256;         // before a stream that waits gives its processor away
constexpr size_t kMostPairs = 256;  // of which it is asked whether one must wait for the other

// Tells the processor that this loop waits.
void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Returns whether one of them writes what the other reads or writes.
bool Conflict(const ImageInstruction& a, const ImageInstruction& b) {
  return std::ranges::any_of(a.operands, [&](const ImageOperand& mine) {
    return std::ranges::any_of(b.operands, [&](const ImageOperand& other) {
      const bool both_read =
          mine.operand.access == Access::kRead && other.operand.access == Access::kRead;
      return !both_read && Overlap(mine, other);
    });
  });
}

// Instructions that stand behind each other in the program, in streams.
class Stretch {
 public:
  Stretch(std::span<const ImageInstruction> image, std::span<const Instruction> instructions,
          int threads)
      : threads_(threads), in_order_(instructions.begin(), instructions.end()) {
    std::array<std::vector<size_t>, kParallelStreams> places;  // of each stream's, in the stretch
    for (size_t i = 0; i < image.size(); ++i) {
      const auto stream = static_cast<size_t>(image[i].stream - 1);
      Work work{instructions[i], {}};
      for (size_t other = 0; other < kParallelStreams; ++other) {
        if (other == stream) continue;
        const std::vector<size_t>& earlier = places[other];
        const size_t least = std::max(awaited_[stream][other],
                                      earlier.size() - std::min(earlier.size(), kMostPairs));
        size_t count = earlier.size();
        while (count > least && !Conflict(image[i], image[earlier[count - 1]])) --count;
        awaited_[stream][other] = std::max(awaited_[stream][other], count);
        work.awaits[other] = static_cast<uint32_t>(awaited_[stream][other]);
      }
      places[stream].push_back(i);
      streams_[stream].push_back(work);
    }
  }

  static void Run(const RunContext& context, const Instruction& instruction) noexcept {
    const auto& stretch = *static_cast<const Stretch*>(instruction.parameters);
    for (Count& count : stretch.done_) count.value.store(0, std::memory_order_relaxed);
#pragma omp parallel num_threads(stretch.threads_)
    if (omp_get_num_threads() >= kParallelStreams) {
      stretch.RunStream(context, static_cast<size_t>(omp_get_thread_num()));
    } else if (omp_get_thread_num() == 0) {
      for (const Instruction& one : stretch.in_order_) one.run(context, one);
    }
    for (const Count& count : stretch.done_) count.value.load(std::memory_order_acquire);
  }

 private:
  struct Work {
    Instruction instruction;
    std::array<uint32_t, kParallelStreams> awaits;  // as many of each other stream must be done
  };
  struct alignas(64) Count {
    std::atomic<uint32_t> value{0};
  };

  void RunStream(const RunContext& context, size_t stream) const noexcept {
    if (stream >= streams_.size()) return;
    uint32_t done = 0;
    for (const Work& work : streams_[stream]) {
      for (size_t other = 0; other < kParallelStreams; ++other) Await(other, work.awaits[other]);
      work.instruction.run(context, work.instruction);
      done_[stream].value.store(++done, std::memory_order_release);
      done_[stream].value.notify_one();
    }
    // Run() waits for the thread team, by a barrier that the thread sanitizer does not see.
    done_[stream].value.store(done, std::memory_order_release);
  }

  void Await(size_t stream, uint32_t count) const noexcept {
    const std::atomic<uint32_t>& done = done_[stream].value;
    for (int spins = 0; spins < kSpins; ++spins) {
      if (done.load(std::memory_order_acquire) >= count) return;
      Pause();
    }
    for (uint32_t seen; (seen = done.load(std::memory_order_acquire)) < count;) done.wait(seen);
  }

  int threads_;
  std::vector<Instruction> in_order_;
  std::array<std::vector<Work>, kParallelStreams> streams_;
  std::array<std::array<size_t, kParallelStreams>, kParallelStreams> awaited_{};
  mutable std::array<Count, kParallelStreams> done_;  // instructions of each stream
};

}  // namespace

std::vector<Instruction> JoinStreams(const ImageEntry& entry,
                                     const std::vector<Instruction>& instructions, int threads,
                                     std::vector<std::shared_ptr<const void>>& kept) {
  const std::vector<ImageInstruction>& image = entry.instructions;
  const auto is_beside = [](const ImageInstruction& instruction) { return instruction.stream > 0; };
  std::vector<Instruction> runs;
  if (std::ranges::none_of(image, is_beside)) return runs;
  for (size_t i = 0, end; i < image.size(); i = end) {
    end = i + 1;
    if (!is_beside(image[i])) {
      runs.push_back(instructions[i]);
      continue;
    }
    while (end < image.size() && is_beside(image[end])) ++end;
    const auto stretch = std::make_shared<const Stretch>(
        std::span(image).subspan(i, end - i), std::span(instructions).subspan(i, end - i), threads);
    runs.push_back({Stretch::Run, nullptr, stretch.get(), 0, static_cast<int32_t>(i)});
    kept.push_back(stretch);
  }
  return runs;
}

}  // namespace cgrun
