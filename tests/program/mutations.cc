// Images() and what is expected of changed ones.
#include "tests/program/mutations.h"

#include <gtest/gtest.h>

#include "tests/program/tiny_models.h"

namespace cgrun {
namespace {

constexpr int64_t kStep = 3;

// Returns whether the refusal is about the arena. If an operand is moved or left out, less of the
// arena is used than it holds.
bool IsOfTheArena(const std::string& refusal) {
  return refusal.find("an arena of ") != std::string::npos;
}

}  // namespace

const std::vector<ProgramImage>& Images() {
  static const std::vector<ProgramImage> images = {TinyImage("tiny_mlp"),
                                                   TinyImage("tiny_conv"),
                                                   TinyImage("tiny_paths"),
                                                   IncrementalImage(),
                                                   SwapImage(),
                                                   PartsImage(),
                                                   FusedImage()};
  return images;
}

void ForEachInstruction(const std::function<void(const Place&)>& visit, size_t stride) {
  for (size_t m = 0; m < Images().size(); ++m) {
    for (size_t e = 0; e < Images()[m].entries.size(); ++e) {
      const size_t count = Images()[m].entries[e].instructions.size();
      for (size_t i = 0; i < count; i += stride) visit({m, e, i, 0});
    }
  }
}

void ForEachOperand(const std::function<void(const Place&)>& visit) {
  ForEachInstruction([&](Place place) {
    for (size_t o = 0; o < place.Original().operands.size(); ++o) {
      place.operand = o;
      visit(place);
    }
  });
}

bool IsInput(const Place& place) { return place.operand < place.Original().node.inputs.size(); }

bool IsWorkspace(const Place& place) {
  const NodeSignature& node = place.Original().node;
  return place.operand >= node.inputs.size() + node.outputs.size();
}

bool Names(const std::string& refusal, const std::string& name) {
  return refusal.find(" " + name + " ") != std::string::npos;
}

bool DoesNoHarm(const ProgramImage& image, size_t entry) {
  const int index = static_cast<int>(entry);
  const RunResult wanted = RunByValues(image, index, kStep);
  TinyProgram program(image);
  if (program.Run(index, kStep) != wanted) return false;
  return !image.entries[entry].incremental || program.RunInPart(index, kStep) == wanted;
}

void ExpectRefused(const ProgramImage& changed, const Place& place, const std::string& what) {
  const std::string refusal = Refusal(changed);
  const std::string& name = place.Original().name;
  ASSERT_NE(refusal, "") << name << ", operand " << place.operand << ": " << what;
  EXPECT_TRUE(Names(refusal, name) || IsOfTheArena(refusal))
      << name << ": " << what << ": " << refusal;
}

void ExpectRefusedOrHarmless(const ProgramImage& changed, size_t entry, const std::string& what,
                             int* refused, int* harmless) {
  const std::string refusal = Refusal(changed);
  if (refusal.empty()) {
    ++*harmless;
    EXPECT_TRUE(DoesNoHarm(changed, entry)) << what << " does harm, and is not refused\n"
                                            << Disassemble(changed);
    return;
  }
  ++*refused;
  bool named = IsOfTheArena(refusal);
  for (const ImageEntry& code : changed.entries) {
    for (const ImageInstruction& i : code.instructions) named |= Names(refusal, i.name);
    for (const ImagePort& feed : code.feeds) named |= Names(refusal, feed.name);
    for (const ImagePort& result : code.results) named |= Names(refusal, result.name);
  }
  EXPECT_TRUE(named) << refusal;
}

}  // namespace cgrun
