// Planners `owl`, `singa` and `calcgraph` follow the rules by which three other systems hand out
// memory, for comparison. These systems decide on in-place operators and the like before. The
// problem already has these decisions.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "src/packing/planners/greedy.h"
#include "src/packing/planners/time_sections.h"

namespace cgrun {
namespace {

// Buffers that have bytes: fixed ones first, then by birth, in the order of ids.
std::vector<BufferId> InOrderOfBirth(const MemoryProblem& problem) {
  std::vector<BufferId> ids;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (problem.buffers[i].bytes > 0) ids.push_back(BufferId(static_cast<int64_t>(i)));
  }
  std::stable_sort(ids.begin(), ids.end(), [&](BufferId a, BufferId b) {
    const bool a_fixed = problem[a].offset.has_value(), b_fixed = problem[b].offset.has_value();
    return a_fixed != b_fixed ? a_fixed : problem[a].lower < problem[b].lower;
  });
  return ids;
}

// Fixed buffers at their offsets; `end` is where they are all over.
MemoryPlan FixedAlone(const MemoryProblem& problem, Bytes& end) {
  MemoryPlan plan;
  plan.nodes = static_cast<int64_t>(problem.buffers.size());
  end = 0;
  for (const Buffer& buffer : problem.buffers) {
    plan.offsets.push_back(buffer.offset.value_or(0));
    if (buffer.offset && buffer.bytes > 0) end = std::max(end, *buffer.offset + buffer.bytes);
  }
  return plan;
}

// A stretch of memory that holds one buffer at a time.
struct Block {
  Bytes bytes = 0;
  Bytes alignment = 1;
  TimePoint free_from = 0;
};

// Owl's choice among the free blocks; null where there is none.
Block* ChooseBlock(std::vector<Block>& blocks, const Buffer& buffer) {
  Block* tightest = nullptr;
  Block* largest = nullptr;
  for (Block& block : blocks) {
    if (block.free_from > buffer.lower) continue;
    if (largest == nullptr || block.bytes > largest->bytes) largest = &block;
    if (block.bytes < buffer.bytes) continue;
    if (tightest == nullptr || block.bytes < tightest->bytes) tightest = &block;
  }
  return tightest != nullptr ? tightest : largest;
}

}  // namespace

MemoryPlan PlanOwl(const MemoryProblem& problem) {
  Bytes end = 0;
  MemoryPlan plan = FixedAlone(problem, end);
  std::vector<Block> blocks;
  std::vector<size_t> block_of(problem.buffers.size());
  const std::vector<BufferId> ids = InOrderOfBirth(problem);
  for (BufferId id : ids) {
    const Buffer& buffer = problem[id];
    if (buffer.offset) continue;
    Block* block = ChooseBlock(blocks, buffer);
    if (block == nullptr) block = &blocks.emplace_back();
    block->bytes = std::max(block->bytes, buffer.bytes);
    block->alignment = std::max(block->alignment, buffer.alignment);
    block->free_from = buffer.upper;
    block_of[static_cast<size_t>(id.index)] = static_cast<size_t>(block - blocks.data());
  }
  std::vector<Bytes> begins;
  for (const Block& block : blocks) {
    begins.push_back(RoundUp(end, block.alignment));
    end = begins.back() + block.bytes;
  }
  for (BufferId id : ids) {
    const auto i = static_cast<size_t>(id.index);
    if (!problem[id].offset) plan.offsets[i] = begins[block_of[i]];
  }
  plan.peak_bytes = PeakBytes(problem, plan.offsets);
  return plan;
}

MemoryPlan PlanSinga(const MemoryProblem& problem) {
  const TimeSections sections(problem);
  return PlaceInSequence(problem, sections, InOrderOfBirth(problem), Fit::kBest);
}

MemoryPlan PlanCalcgraph(const MemoryProblem& problem) {
  Bytes end = 0;
  MemoryPlan plan = FixedAlone(problem, end);
  std::vector<BufferId> ids = InOrderOfBirth(problem);
  std::erase_if(ids, [&](BufferId id) { return problem[id].offset.has_value(); });
  const auto key = [&](BufferId id) {
    return std::make_pair(problem[id].zone == kWorkspaceZone, problem[id].zone);
  };
  std::stable_sort(ids.begin(), ids.end(), [&](BufferId a, BufferId b) { return key(a) < key(b); });
  Bytes workspace_end = 0;
  TimePoint last_upper = std::numeric_limits<TimePoint>::min();  // of the workspace's users
  for (BufferId id : ids) {
    const Buffer& buffer = problem[id];
    Bytes& offset = plan.offsets[static_cast<size_t>(id.index)];
    if (buffer.zone != kWorkspaceZone) {
      offset = RoundUp(end, buffer.alignment);
      end = offset + buffer.bytes;
    } else {
      // Users in turn share the zone from its beginning; users at a time lie side by side.
      offset = RoundUp(buffer.lower >= last_upper ? end : workspace_end, buffer.alignment);
      workspace_end = offset + buffer.bytes;
      last_upper = std::max(last_upper, buffer.upper);
    }
  }
  plan.peak_bytes = PeakBytes(problem, plan.offsets);
  return plan;
}

}  // namespace cgrun
