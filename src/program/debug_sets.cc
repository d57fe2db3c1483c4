// Poisons the bytes, runs, looks, runs with another poison, and puts the bytes back.
#include "src/program/debug_sets.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "src/ir/op_def.h"

namespace cgrun {
namespace {

// Two poisons, ordinary numbers in f32, f64 and bf16: a NaN would be lost in a maximum.
constexpr std::byte kPoison{0x3F};
constexpr std::byte kOtherPoison{0xC1};

constexpr const char* kNobody = "bytes that no buffer has then";

bool IsOnDevice(const ImageOperand& operand) {
  return operand.operand.arena == ArenaKind::kDevice && operand.bytes > 0;
}

// Returns whether all bytes of a stretch, which is not empty, are `wanted`. Each byte is compared
// with the next one, at the speed of memory.
bool AreAll(const std::byte* bytes, int64_t count, std::byte wanted) {
  return *bytes == wanted && std::memcmp(bytes, bytes + 1, static_cast<size_t>(count - 1)) == 0;
}

}  // namespace

DebugSets::DebugSets(Program& program)
    : program_(program),
      arena_bytes_(program.image().arena_bytes[static_cast<size_t>(ArenaKind::kDevice)]),
      saved_(static_cast<size_t>(arena_bytes_)),
      results_(static_cast<size_t>(arena_bytes_)) {
  const ProgramImage& image = program.image();
  for (const ImageEntry& entry : image.entries) {
    values_.push_back(ValuesOf(image, entry));
    std::vector<Segments> segments;
    for (const ImageInstruction& one : entry.instructions) segments.push_back(SegmentsOf(one));
    segments_.push_back(std::move(segments));
  }
  coverage_.resize(image.entries.size());
}

DebugSets::Segments DebugSets::SegmentsOf(const ImageInstruction& instruction) const {
  std::set<int64_t> cuts = {0, arena_bytes_};
  for (const ImageOperand& operand : instruction.operands) {
    if (!IsOnDevice(operand)) continue;
    cuts.insert(operand.operand.offset);
    cuts.insert(operand.operand.offset + operand.bytes);
  }
  Segments segments;
  for (auto begin = cuts.begin(); std::next(begin) != cuts.end(); ++begin) {
    Segment segment{*begin, *std::next(begin)};
    for (const ImageOperand& operand : instruction.operands) {
      const int64_t first = operand.operand.offset;
      const bool covers =
          IsOnDevice(operand) && first <= segment.begin && segment.end <= first + operand.bytes;
      if (!covers) continue;
      segment.is_read |= operand.operand.access == Access::kRead;
      segment.is_result |= operand.operand.access == Access::kWrite;
      segment.is_scratch |= operand.operand.access == Access::kScratch;
      if (operand.operand.access == Access::kReadWrite) {
        segment.is_read = segment.is_result = true;
      }
    }
    segments.push_back(segment);
  }
  return segments;
}

void DebugSets::Run(int entry) {
  const auto e = static_cast<size_t>(entry);
  Coverage now{coverage_[e].runs + 1};
  program_.RunBy(entry, [&](const RunContext& context, const Instruction& instruction) {
    const auto index = static_cast<size_t>(instruction.node);
    if (IsTransfer(program_.image().entries[e].instructions[index].node.op)) {
      ++now.left_out;
      instruction.run(context, instruction);
    } else {
      ++now.checked;
      Check(entry, context, instruction);
    }
  });
  coverage_[e] = now;
}

void DebugSets::Check(int entry, const RunContext& context, const Instruction& instruction) {
  const Segments& segments =
      segments_[static_cast<size_t>(entry)][static_cast<size_t>(instruction.node)];
  arena_ = context.arenas[static_cast<size_t>(ArenaKind::kDevice)];
  std::copy_n(arena_, arena_bytes_, saved_.begin());
  RunPoisoned(context, instruction, segments, kPoison);
  CheckWrites(entry, instruction.node, segments, kPoison);
  for (const Segment& s : segments) {
    if (s.is_result) std::copy(arena_ + s.begin, arena_ + s.end, results_.begin() + s.begin);
  }
  RunPoisoned(context, instruction, segments, kOtherPoison);
  CheckWrites(entry, instruction.node, segments, kOtherPoison);
  CheckReads(entry, context, instruction, segments);
  for (const Segment& s : segments) {
    const std::vector<std::byte>& from = s.is_result ? results_ : saved_;
    std::copy(from.begin() + s.begin, from.begin() + s.end, arena_ + s.begin);
  }
}

void DebugSets::RunPoisoned(const RunContext& context, const Instruction& instruction,
                            const Segments& segments, std::byte poison) {
  for (const Segment& s : segments) {
    if (s.is_read) {
      std::copy(saved_.begin() + s.begin, saved_.begin() + s.end, arena_ + s.begin);
    } else {
      std::fill(arena_ + s.begin, arena_ + s.end, poison);
    }
  }
  instruction.run(context, instruction);
}

void DebugSets::CheckWrites(int entry, int index, const Segments& segments, std::byte poison) {
  for (const Segment& s : segments) {
    if (s.may_change()) continue;
    const bool is_kept = s.is_read
                             ? std::equal(arena_ + s.begin, arena_ + s.end, &saved_[0] + s.begin)
                             : AreAll(arena_ + s.begin, s.end - s.begin, poison);
    if (is_kept) continue;
    int64_t at = s.begin;
    while (arena_[at] == (s.is_read ? saved_[static_cast<size_t>(at)] : poison)) ++at;
    Report(entry, index, "writes to", OwnerOf(entry, index, at));
  }
}

bool DebugSets::ResultsAre(const std::vector<std::byte>& results, const Segments& segments) const {
  return std::ranges::all_of(segments, [&](const Segment& s) {
    return !s.is_result || std::equal(arena_ + s.begin, arena_ + s.end, &results[0] + s.begin);
  });
}

void DebugSets::CheckReads(int entry, const RunContext& context, const Instruction& instruction,
                           const Segments& segments) {
  if (ResultsAre(results_, segments)) return;
  if (known_.contains({entry, instruction.node, "reads"})) return;
  known_.insert({entry, instruction.node, "reads"});
  Report(entry, instruction.node, "reads", FindRead(entry, context, instruction, segments));
}

std::string DebugSets::FindRead(int entry, const RunContext& context,
                                const Instruction& instruction, const Segments& segments) {
  // The operator's own results come last. If it leaves a part of them unwritten, that part shows
  // the poison, too.
  std::vector<const ImageValue*> others, own;
  for (const ImageValue& value : values_[static_cast<size_t>(entry)]) {
    const bool is_alive = value.lifespan.lower <= instruction.node &&
                          instruction.node < value.lifespan.upper && IsOnDevice(value.bytes);
    if (!is_alive) continue;
    const bool is_own =
        value.kind == ImageValueKind::kWritten && value.instruction == instruction.node;
    (is_own ? own : others).push_back(&value);
  }
  others.insert(others.end(), own.begin(), own.end());
  for (const ImageValue* value : others) {
    const int64_t begin = value->bytes.operand.offset, end = begin + value->bytes.bytes;
    for (const Segment& s : segments) {
      if (s.is_read) {
        std::copy(saved_.begin() + s.begin, saved_.begin() + s.end, arena_ + s.begin);
        continue;
      }
      std::fill(arena_ + s.begin, arena_ + s.end, kPoison);
      const int64_t first = std::max(begin, s.begin), last = std::min(end, s.end);
      if (first < last) std::fill(arena_ + first, arena_ + last, kOtherPoison);
    }
    instruction.run(context, instruction);
    if (!ResultsAre(results_, segments)) return value->name;
  }
  return kNobody;
}

std::string DebugSets::OwnerOf(int entry, int index, int64_t begin) const {
  for (const ImageValue& value : values_[static_cast<size_t>(entry)]) {
    const int64_t first = value.bytes.operand.offset;
    const bool is_alive = value.lifespan.lower <= index && index < value.lifespan.upper;
    if (is_alive && IsOnDevice(value.bytes) && first <= begin && begin < first + value.bytes.bytes)
      return value.name;
  }
  return kNobody;
}

std::string DebugSets::OperatorText(int entry, int index) const {
  const ImageEntry& of = program_.image().entries[static_cast<size_t>(entry)];
  const ImageInstruction& instruction = of.instructions[static_cast<size_t>(index)];
  return "'" + instruction.name + "' of '" + of.name + "' (" +
         (instruction.source.empty() ? "" : instruction.source + ", ") + "kernel " +
         instruction.kernel + ")";
}

void DebugSets::Report(int entry, int index, const std::string& what, const std::string& owner) {
  if (!known_.insert({entry, index, what + owner}).second) return;
  const ImageInstruction& instruction =
      program_.image().entries[static_cast<size_t>(entry)].instructions[static_cast<size_t>(index)];
  const bool is_own = owner == instruction.name || owner.starts_with(instruction.name + ".");
  std::string sentence = OperatorText(entry, index) + " ";
  if (what == "reads" && is_own) {
    sentence += "gives results that depend on what lay in '" + owner +
                "' before: it leaves a part of it unwritten, or reads it first";
  } else {
    const std::string buffer = owner == kNobody ? owner : "'" + owner + "'";
    sentence += what + " " + buffer + ", which it does not declare";
  }
  findings_.push_back(std::move(sentence));
}

}  // namespace cgrun
