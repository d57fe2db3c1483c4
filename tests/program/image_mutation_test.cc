// One thing wrong in what instructions share: states, constants, feeds, results, arenas; and random
// changes.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/program/mutations.h"
#include "tests/program/tiny_models.h"

namespace cgrun {
namespace {

TEST(ImageMutation, WrongPlacesOfStatesAndConstantsAreRefused) {
  int with_constants = 0;
  for (const ProgramImage& image : Images()) {
    for (size_t s = 0; s < image.states.size(); ++s) {
      for (const int64_t delta : {-64, 64, 1 << 20}) {
        ProgramImage changed = image;
        changed.states[s].offset += delta;
        EXPECT_NE(Refusal(changed), "") << image.states[s].name << " at " << delta;
      }
      ProgramImage unknown = image;
      unknown.states[s].info.init = "no such initialiser";
      EXPECT_NE(Refusal(unknown).find(image.states[s].name + " has an unknown initialiser"),
                std::string::npos);
    }
    if (image.constants.empty()) continue;
    ++with_constants;
    for (const int64_t delta : {-64, 64, 1 << 20}) {
      ProgramImage changed = image;
      changed.constants[0].offset += delta;
      EXPECT_NE(Refusal(changed), "") << image.constants[0].name << " at " << delta;
    }
    ProgramImage larger = image;
    larger.constants[0].tensor = HostTensor(DType::kF32, Shape{100});
    EXPECT_NE(Refusal(larger), "");
  }
  EXPECT_GT(with_constants, 3);
}

TEST(ImageMutation, StateInAnotherLayoutThanItIsReadInIsRefused) {
  int tried = 0;
  for (const ProgramImage& image : Images()) {
    for (size_t s = 0; s < image.states.size(); ++s) {
      const int rank = image.states[s].type.shape.rank();
      if (rank < 2) continue;
      ++tried;
      ProgramImage turned = image, padded = image;
      Layout& layout = turned.states[s].layout;
      for (int axis = rank - 1; axis >= 0; --axis) layout.order.push_back(axis);
      EXPECT_NE(Refusal(turned).find("a resident value is no state and no constant"),
                std::string::npos)
          << image.states[s].name << ": " << Refusal(turned);
      padded.states[s].layout = layout;
      padded.states[s].layout.blocks = {{0, 1 << 10}};
      EXPECT_NE(Refusal(padded).find("is in a layout of another size"), std::string::npos)
          << image.states[s].name << ": " << Refusal(padded);
    }
  }
  EXPECT_GT(tried, 3);
}

// A write over what is never written after the start would change later runs.
TEST(ImageMutation, ConstantsAreNotWritten) {
  for (const ProgramImage& image : Images()) {
    if (image.constants.empty()) continue;
    const ImageConstant& constant = image.constants[0];
    ProgramImage changed = image;
    for (ImageInstruction& instruction : changed.entries[0].instructions) {
      const size_t inputs = instruction.node.inputs.size();
      if (instruction.operands.size() <= inputs) continue;
      ImageOperand& output = instruction.operands[inputs];
      if (output.bytes > static_cast<int64_t>(constant.tensor.bytes().size())) continue;
      output.operand.offset = constant.offset;
      const std::string refusal = Refusal(changed);
      EXPECT_TRUE(Names(refusal, instruction.name)) << refusal;
      EXPECT_NE(refusal.find("persistent region"), std::string::npos) << refusal;
      break;
    }
  }
}

TEST(ImageMutation, WrongFeedsAndResultsAreRefused) {
  for (const ProgramImage& image : Images()) {
    for (size_t e = 0; e < image.entries.size(); ++e) {
      for (size_t p = 0; p < image.entries[e].feeds.size(); ++p) {
        for (const int64_t delta : {-64, 64, 1 << 20}) {
          ProgramImage changed = image;
          changed.entries[e].feeds[p].bytes.operand.offset += delta;
          int refused = 0, harmless = 0;
          ExpectRefusedOrHarmless(changed, e, "feed " + image.entries[e].feeds[p].name, &refused,
                                  &harmless);
        }
      }
      for (size_t p = 0; p < image.entries[e].results.size(); ++p) {
        const std::string& name = image.entries[e].results[p].name;
        ProgramImage moved = image, typed = image, gone = image;
        moved.entries[e].results[p].bytes.operand.offset ^= 64;
        typed.entries[e].results[p].type.shape = Shape{1000};
        gone.entries[e].results[p].bytes.value = 1 << 30;
        for (const ProgramImage* changed : {&moved, &typed, &gone}) {
          EXPECT_TRUE(Names(Refusal(*changed), name)) << name << ": " << Refusal(*changed);
        }
      }
    }
  }
}

TEST(ImageMutation, WrongArenaSizesAreRefused) {
  for (const ProgramImage& image : Images()) {
    for (const int64_t delta : {-1024, -64, 64, 1024}) {
      ProgramImage changed = image;
      changed.arena_bytes[0] += delta;
      EXPECT_NE(Refusal(changed), "") << delta;
    }
    for (const int64_t bytes : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX}) {
      ProgramImage changed = image;
      changed.arena_bytes[0] = bytes;
      EXPECT_NE(Refusal(changed), "") << bytes;
    }
    ProgramImage host = image;
    host.arena_bytes[1] = int64_t{1} << 40;
    EXPECT_NE(Refusal(host), "");
  }
}

// A random operand becomes another one of the same entry point, as a whole or in one field.
ProgramImage RandomMutation(size_t* image, size_t* entry) {
  *image = *rc::gen::inRange<size_t>(0, Images().size());
  ProgramImage changed = Images()[*image];
  *entry = *rc::gen::inRange<size_t>(0, changed.entries.size());
  std::vector<ImageOperand*> operands;
  for (ImageInstruction& instruction : changed.entries[*entry].instructions) {
    for (ImageOperand& operand : instruction.operands) operands.push_back(&operand);
  }
  for (ImagePort& port : changed.entries[*entry].feeds) operands.push_back(&port.bytes);
  for (ImagePort& port : changed.entries[*entry].results) operands.push_back(&port.bytes);
  const int times = *rc::gen::inRange(1, 3);
  for (int i = 0; i < times; ++i) {
    ImageOperand& to = *operands[*rc::gen::inRange<size_t>(0, operands.size())];
    const ImageOperand& from = *operands[*rc::gen::inRange<size_t>(0, operands.size())];
    const int what = *rc::gen::inRange(0, 4);
    const Access access = to.operand.access;
    if (what == 0) to = from;
    if (what == 1) to.operand.offset = from.operand.offset;
    if (what == 2)
      to.operand.offset = *rc::gen::inRange<int64_t>(0, changed.arena_bytes[0]) / 8 * 8;
    if (what == 3) to.value = from.value;
    to.operand.access = access;
  }
  return changed;
}

RC_GTEST_PROP(ImageMutation, RandomOnesAreRefusedOrHarmless, ()) {
  size_t image = 0, entry = 0;
  const ProgramImage changed = RandomMutation(&image, &entry);
  const std::string refusal = Refusal(changed);
  RC_TAG(std::string(refusal.empty() ? "accepted" : "refused"));
  if (!refusal.empty()) return;
  RC_ASSERT(DoesNoHarm(changed, entry));
}

}  // namespace
}  // namespace cgrun
