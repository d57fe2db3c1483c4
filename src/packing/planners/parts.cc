// Parts are problems of their own; their offsets go back to where they came from.
#include "src/packing/planners/parts.h"

#include <algorithm>
#include <utility>

namespace cgrun {
namespace {

// Planners need no names, and copying them takes time.
Buffer WithoutName(const Buffer& buffer) {
  Buffer copy;
  copy.bytes = buffer.bytes;
  copy.lower = buffer.lower;
  copy.upper = buffer.upper;
  copy.alignment = buffer.alignment;
  copy.offset = buffer.offset;
  copy.zone = buffer.zone;
  return copy;
}

MemoryProblem Part(const MemoryProblem& problem, const std::vector<BufferId>& ids) {
  MemoryProblem part;
  part.buffers.reserve(ids.size());
  for (BufferId id : ids) part.buffers.push_back(WithoutName(problem[id]));
  return part;
}

std::vector<Bytes> KnownOffsets(const MemoryProblem& problem) {
  std::vector<Bytes> offsets;
  for (const Buffer& buffer : problem.buffers) offsets.push_back(buffer.offset.value_or(0));
  return offsets;
}

// Moves what may lie below everything else of the piece out of it, and its base up.
void PeelBottom(ProblemPiece& piece, std::vector<Bytes>& offsets) {
  const std::vector<Buffer>& buffers = piece.problem.buffers;
  TimePoint lower = buffers.front().lower, upper = buffers.front().upper;
  Bytes alignment = 1;
  for (const Buffer& buffer : buffers) {
    if (buffer.offset) return;
    lower = std::min(lower, buffer.lower);
    upper = std::max(upper, buffer.upper);
    alignment = std::max(alignment, buffer.alignment);
  }
  ProblemPiece rest;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& buffer = buffers[i];
    if (buffer.lower == lower && buffer.upper == upper && buffer.bytes % alignment == 0) {
      offsets[static_cast<size_t>(piece.ids[i].index)] = piece.base;
      piece.base += buffer.bytes;
    } else {
      rest.problem.buffers.push_back(buffer);
      rest.ids.push_back(piece.ids[i]);
    }
  }
  rest.base = piece.base;
  piece = std::move(rest);
}

}  // namespace

MemoryPlan PlanByParts(const MemoryProblem& problem, const PartPlanner& planner) {
  MemoryPlan plan;
  plan.offsets = KnownOffsets(problem);
  Bytes target = LowerBound(problem);
  for (const std::vector<BufferId>& ids : SplitByTime(problem)) {
    const MemoryPlan part = planner(Part(problem, ids), target);
    for (size_t i = 0; i < ids.size(); ++i) {
      plan.offsets[static_cast<size_t>(ids[i].index)] = part.offsets[i];
    }
    target = std::max(target, part.peak_bytes);
    plan.nodes += part.nodes;
  }
  plan.peak_bytes = PeakBytes(problem, plan.offsets);
  return plan;
}

ProblemPieces CutIntoPieces(const MemoryProblem& problem) {
  ProblemPieces result;
  result.offsets = KnownOffsets(problem);
  std::vector<ProblemPiece> open(1);
  open[0].problem = problem;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    open[0].ids.push_back(BufferId(static_cast<int64_t>(i)));
  }
  while (!open.empty()) {
    const ProblemPiece whole = std::move(open.back());
    open.pop_back();
    for (const std::vector<BufferId>& group : SplitByTime(whole.problem)) {
      ProblemPiece piece = {Part(whole.problem, group), {}, whole.base};
      for (BufferId id : group) piece.ids.push_back(whole.ids[static_cast<size_t>(id.index)]);
      const size_t before = piece.ids.size();
      PeelBottom(piece, result.offsets);
      if (piece.ids.empty()) continue;
      (piece.ids.size() < before ? open : result.pieces).push_back(std::move(piece));
    }
  }
  return result;
}

}  // namespace cgrun
