// DebugSets: runs a program operator by operator and finds those whose read or write sets are
// wrong. Before an operator runs, every byte of the arena that it does not declare to read is
// poisoned. It must leave what it does not declare to write as it is, and give the same results
// with another poison. This stands beside the program's own loop, which knows nothing of it.
//
//   arena        | input a | other buffers | output c | workspace |
//   before       |  bytes  |    poison     |  poison  |  poison   |
//   must be kept |  bytes  |    poison     |          |           |
//   compared     |         |               |  result  |           |
#ifndef CGRUN_PROGRAM_DEBUG_SETS_H_
#define CGRUN_PROGRAM_DEBUG_SETS_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "src/program/image_values.h"
#include "src/program/program.h"

namespace cgrun {

class DebugSets {
 public:
  // For a program on the host, which outlives this. It takes as much as two arenas.
  explicit DebugSets(Program& program);

  // Runs an entry point as Program::Run() does, to the same bits, and checks its operators. Those
  // of transfers, which go on beside others, run unchecked.
  void Run(int entry);

  // A sentence for each operator that was found, in the order in which they were found.
  const std::vector<std::string>& findings() const { return findings_; }

  // Counts the operators of an entry point that were checked so far.
  struct Coverage {
    int64_t runs = 0;
    int64_t checked = 0;  // operators of one run
    int64_t left_out = 0;
  };
  const std::vector<Coverage>& coverage() const { return coverage_; }

 private:
  // A stretch of the arena that an operator uses in one way.
  struct Segment {
    int64_t begin = 0;
    int64_t end = 0;
    bool is_read = false;     // an input
    bool is_result = false;   // an output
    bool is_scratch = false;  // a workspace
    bool may_change() const { return is_result || is_scratch; }
  };
  using Segments = std::vector<Segment>;

  Segments SegmentsOf(const ImageInstruction& instruction) const;
  void Check(int entry, const RunContext& context, const Instruction& instruction);
  // Restores what was there before the operator, poison where it declares to read nothing, and runs
  // it.
  void RunPoisoned(const RunContext& context, const Instruction& instruction,
                   const Segments& segments, std::byte poison);
  void CheckWrites(int entry, int index, const Segments& segments, std::byte poison);
  void CheckReads(int entry, const RunContext& context, const Instruction& instruction,
                  const Segments& segments);
  // The buffer whose poison shows in the results; "" where it is no one buffer.
  std::string FindRead(int entry, const RunContext& context, const Instruction& instruction,
                       const Segments& segments);
  bool ResultsAre(const std::vector<std::byte>& results, const Segments& segments) const;
  std::string OwnerOf(int entry, int index, int64_t begin) const;
  std::string OperatorText(int entry, int index) const;
  void Report(int entry, int index, const std::string& what, const std::string& owner);

  Program& program_;
  std::byte* arena_ = nullptr;
  int64_t arena_bytes_ = 0;
  std::vector<std::byte> saved_;                 // the arena before an operator
  std::vector<std::byte> results_;               // the arena after it ran with the first poison
  std::vector<std::vector<ImageValue>> values_;  // of each entry point
  std::vector<std::vector<Segments>> segments_;  // of each, of each instruction
  std::vector<Coverage> coverage_;
  std::vector<std::string> findings_;
  std::set<std::tuple<int, int, std::string>> known_;  // entry, instruction, what
};

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_DEBUG_SETS_H_
