// Two rules hold for each value. First, its readers run whenever it is made anew. Second, a run may
// read a value that an earlier run has made. Then no instruction behind the maker writes over the
// value. An instruction before the maker writes over it only if the maker runs whenever that one
// does. So each run is a part of the whole run, in its order, which VerifyImage has replayed.
#include "src/program/verify_incremental.h"

#include <algorithm>
#include <map>

#include "src/program/image_values.h"

namespace cgrun {
namespace {

// Written by the feed or the instruction at `time`; feeds are written at time −1.
struct WrittenBytes {
  std::string name;
  ImageOperand operand;
  int64_t time = -1;
  ReachSet reach = 0;
};

// Returns whether what has reach `b` runs in every run that what has `a` does.
bool RunsWith(ReachSet a, ReachSet b) {
  return b == kEveryRun || (a != kEveryRun && (a & ~b) == 0);
}

class IncrementalVerifier {
 public:
  explicit IncrementalVerifier(const ImageEntry& entry) : entry_(entry) {}

  std::vector<std::string> Run() {
    for (const ImagePort& feed : entry_.feeds) {
      AddWrite({feed.name, feed.bytes, -1, Join(feed.reach, 0)});
    }
    for (size_t i = 0; i < entry_.instructions.size(); ++i) {
      const ImageInstruction& instruction = entry_.instructions[i];
      for (size_t o = instruction.node.inputs.size(); o < instruction.operands.size(); ++o) {
        AddWrite({instruction.name, instruction.operands[o], static_cast<int64_t>(i),
                  Join(instruction.reach, 0)});
      }
    }
    for (const ImageOperand& operand : entry_.resident) AddResident(operand);
    for (const ImageInstruction& instruction : entry_.instructions) CheckReads(instruction);
    for (const ImagePort& result : entry_.results) CheckResult(result);
    return std::move(violations_);
  }

 private:
  void Fail(const std::string& sentence) { violations_.push_back(entry_.name + ": " + sentence); }

  void AddWrite(WrittenBytes write) {
    if (write.operand.value >= 0 && !writer_.emplace(write.operand.value, writes_.size()).second) {
      Fail(write.name + " writes a value that is written already");
    }
    all_ |= write.reach;
    writes_.push_back(std::move(write));
  }

  // State that is written changes in every run.
  void AddResident(const ImageOperand& operand) {
    const bool changes = std::ranges::any_of(
        writes_, [&](const WrittenBytes& write) { return Overlap(write.operand, operand); });
    resident_[operand.value] = changes ? kEveryRun : 0;
  }

  void CheckReads(const ImageInstruction& instruction) {
    const ReachSet reach = Join(instruction.reach, 0);
    if (instruction.node.op == OpId::all_reduce && reach != kEveryRun) {
      Fail(instruction.name + " does not run when other processes wait for it");
    }
    for (size_t i = 0; i < instruction.node.inputs.size(); ++i) {
      const int32_t value = instruction.operands[i].value;
      const auto writer = writer_.find(value);
      const ReachSet of_value =
          writer == writer_.end() ? resident_[value] : writes_[writer->second].reach;
      CheckFed(instruction.name, value);
      if (!RunsWith(of_value, reach)) {
        Fail(instruction.name + " does not run when its operand changes");
      } else if (!RunsWith(reach, of_value) && writer != writer_.end()) {
        CheckKept(instruction.name, writes_[writer->second]);
      }
    }
  }

  void CheckResult(const ImagePort& result) {
    const auto writer = writer_.find(result.bytes.value);
    if (writer == writer_.end()) return;  // of the persistent region
    CheckFed("result " + result.name, result.bytes.value);
    const WrittenBytes& write = writes_[writer->second];
    if (!RunsWith(Join(all_, 0), write.reach)) CheckKept("result " + result.name, write);
  }

  // A feed without a bit is written before whole runs alone.
  void CheckFed(const std::string& reader, int32_t value) {
    const auto writer = writer_.find(value);
    if (writer == writer_.end() || writes_[writer->second].time >= 0) return;
    if (writes_[writer->second].reach == 0) Fail(reader + " reads a feed that has no bit");
  }

  // `reader` can want what `kept` wrote in an earlier run.
  void CheckKept(const std::string& reader, const WrittenBytes& kept) {
    for (const WrittenBytes& write : writes_) {
      if (&write == &kept || !Overlap(write.operand, kept.operand)) continue;
      if (write.time <= kept.time && RunsWith(write.reach, kept.reach)) continue;
      Fail(reader + " reads between runs what " + write.name + " writes over");
      return;
    }
  }

  const ImageEntry& entry_;
  std::vector<std::string> violations_;
  std::vector<WrittenBytes> writes_;
  std::map<int32_t, size_t> writer_;  // of each value: its place in `writes_`
  std::map<int32_t, ReachSet> resident_;
  ReachSet all_ = 0;
};

}  // namespace

std::vector<std::string> VerifyIncremental(const ImageEntry& entry) {
  return IncrementalVerifier(entry).Run();
}

}  // namespace cgrun
