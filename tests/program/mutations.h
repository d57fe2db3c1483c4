// Programs with one thing wrong: where they are changed, and what is expected of the change. Either
// the program is refused, with a sentence that names the instruction or one that the change
// disturbs, or the change does no harm: the program still computes what its instructions say, value
// by value.
#ifndef CGRUN_TESTS_PROGRAM_MUTATIONS_H_
#define CGRUN_TESTS_PROGRAM_MUTATIONS_H_

#include <functional>
#include <string>
#include <vector>

#include "src/program/image.h"
#include "tests/support/sanitized.h"

namespace cgrun {

// The sound programs that are changed; the last one has a fused node.
const std::vector<ProgramImage>& Images();

// Says where a mutation was made.
struct Place {
  size_t image = 0, entry = 0, instruction = 0;
  size_t operand = 0;

  ProgramImage Copy() const { return Images()[image]; }
  ImageInstruction& In(ProgramImage& changed) const {
    return changed.entries[entry].instructions[instruction];
  }
  ImageOperand& OperandIn(ProgramImage& changed) const { return In(changed).operands[operand]; }
  const ImageInstruction& Original() const {
    return Images()[image].entries[entry].instructions[instruction];
  }
};

// If there is much to try for each instruction, one in so many is tried.
inline constexpr int kStride = kSanitized ? 5 : 1;

void ForEachInstruction(const std::function<void(const Place&)>& visit, size_t stride = kStride);
void ForEachOperand(const std::function<void(const Place&)>& visit);

bool IsInput(const Place& place);
bool IsWorkspace(const Place& place);

// Returns whether a refusal names `name`: "program is not sound: train: classify.conv reads bytes
// …".
bool Names(const std::string& refusal, const std::string& name);

// Runs as its values say, as a whole and, where it can, in part.
bool DoesNoHarm(const ProgramImage& image, size_t entry);

void ExpectRefused(const ProgramImage& changed, const Place& place, const std::string& what);

// The change of an output or a workspace can disturb another instruction: then that is named.
void ExpectRefusedOrHarmless(const ProgramImage& changed, size_t entry, const std::string& what,
                             int* refused, int* harmless);

}  // namespace cgrun

#endif  // CGRUN_TESTS_PROGRAM_MUTATIONS_H_
