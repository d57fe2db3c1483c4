// In each mutation one thing of an instruction is wrong: its sizes, places, layouts, types, order
// or body.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "src/ir/op_def.h"
#include "src/ops/concat.h"
#include "src/ops/slice.h"
#include "tests/program/mutations.h"
#include "tests/program/tiny_models.h"

namespace cgrun {
namespace {

TEST(Mutation, TheProgramsAreSoundAndDoWhatTheirValuesSay) {
  for (const ProgramImage& image : Images()) {
    ASSERT_EQ(Refusal(image), "");
    for (size_t e = 0; e < image.entries.size(); ++e) {
      EXPECT_TRUE(DoesNoHarm(image, e)) << image.model << ", " << image.entries[e].name;
    }
  }
}

TEST(Mutation, WrongSizesAreRefused) {
  ForEachOperand([](const Place& place) {
    for (const int64_t delta : {-64, -4, -1, 1, 4, 64, 1 << 20}) {
      ProgramImage changed = place.Copy();
      place.OperandIn(changed).bytes += delta;
      if (!IsWorkspace(place)) {
        ExpectRefused(changed, place, "size " + std::to_string(delta));
        continue;
      }
      int refused = 0, harmless = 0;  // a larger workspace can meet what others read
      ExpectRefusedOrHarmless(changed, place.entry, "workspace", &refused, &harmless);
      EXPECT_EQ(harmless, 0) << place.Original().name;
    }
  });
}

TEST(Mutation, WrongPlacesOfInputsAreRefused) {
  ForEachOperand([](const Place& place) {
    if (!IsInput(place)) return;
    for (const int64_t delta : {-64, -8, -1, 1, 2, 4, 64, 1 << 20}) {
      ProgramImage changed = place.Copy();
      place.OperandIn(changed).operand.offset += delta;
      ExpectRefused(changed, place, "offset " + std::to_string(delta));
    }
  });
}

TEST(Mutation, WrongPlacesOfOutputsAreRefusedOrHarmless) {
  int refused = 0, harmless = 0;
  ForEachOperand([&](const Place& place) {
    if (IsInput(place)) return;
    const int64_t arena = Images()[place.image].arena_bytes[0];
    for (int64_t offset = 0; offset < arena; offset += 64) {
      ProgramImage changed = place.Copy();
      if (place.OperandIn(changed).operand.offset == offset) continue;
      place.OperandIn(changed).operand.offset = offset;
      ExpectRefusedOrHarmless(changed, place.entry,
                              place.Original().name + " at " + std::to_string(offset), &refused,
                              &harmless);
    }
    for (const int64_t offset : {int64_t{-64}, arena + 64, INT64_MAX, INT64_MIN}) {
      ProgramImage changed = place.Copy();
      place.OperandIn(changed).operand.offset = offset;
      ASSERT_NE(Refusal(changed), "") << place.Original().name << " at " << offset;
    }
  });
  EXPECT_GT(refused, 1000 / kStride);
  EXPECT_GT(harmless, 100 / kStride) << "workspaces and what nobody reads can move";
}

TEST(Mutation, WrongAccessesArenasAndValuesAreRefused) {
  ForEachOperand([](const Place& place) {
    for (const Access access :
         {Access::kRead, Access::kWrite, Access::kReadWrite, Access::kScratch}) {
      ProgramImage changed = place.Copy();
      if (place.OperandIn(changed).operand.access == access) continue;
      place.OperandIn(changed).operand.access = access;
      ExpectRefused(changed, place, "access " + std::to_string(static_cast<int>(access)));
    }
    for (const int arena : {0, 1, 2, 3, 255}) {
      ProgramImage changed = place.Copy();
      if (place.OperandIn(changed).operand.arena == static_cast<ArenaKind>(arena)) continue;
      place.OperandIn(changed).operand.arena = static_cast<ArenaKind>(arena);
      ExpectRefused(changed, place, "arena " + std::to_string(arena));
    }
    for (const int32_t value : {-2, -1, 0, 1, 1 << 30}) {
      ProgramImage changed = place.Copy();
      const int32_t original = place.OperandIn(changed).value;
      if (original == value || (!IsInput(place) && !IsWorkspace(place) && value >= 0)) continue;
      place.OperandIn(changed).value = value;
      ExpectRefused(changed, place, "value " + std::to_string(value));
    }
  });
}

TEST(Mutation, WrongLayoutsAndStridesAreRefused) {
  ForEachOperand([](const Place& place) {
    if (IsWorkspace(place)) return;
    for (const char* layout : {"a", "ba", "Ab16a", "Ab2a", "aBcd2b", "acdb", "dcba"}) {
      ProgramImage changed = place.Copy();
      ASSERT_TRUE(Layout::Parse(layout, &place.OperandIn(changed).layout.layout));
      ExpectRefused(changed, place, layout);
    }
    ProgramImage changed = place.Copy();
    place.OperandIn(changed).layout.strides = {1};
    ExpectRefused(changed, place, "strides");
  });
}

TEST(Mutation, WrongOperatorsAndKernelsAreRefused) {
  ForEachInstruction([](const Place& place) {
    for (int op = 0; op < OpCount(); ++op) {
      ProgramImage changed = place.Copy();
      NodeSignature& node = place.In(changed).node;
      if (node.op == static_cast<OpId>(op)) continue;
      node.op = static_cast<OpId>(op);
      node.attributes = Attributes::Defaults(*GetOpDef(node.op).schema);
      ExpectRefused(changed, place, std::string(NameOf(node.op)));
    }
    for (const char* kernel : {"", "reference.reorder", "no such kernel"}) {
      ProgramImage changed = place.Copy();
      place.In(changed).kernel = kernel;
      ExpectRefused(changed, place, kernel);
    }
    for (const int threads : {INT32_MIN, -1, 0, 1 << 20}) {
      ProgramImage changed = place.Copy();
      place.In(changed).threads = threads;
      ExpectRefused(changed, place, std::to_string(threads) + " threads");
    }
    for (const int team : {INT32_MIN, -1, 1 << 20, INT32_MAX}) {
      ProgramImage changed = place.Copy();
      place.In(changed).thread_team = team;
      ExpectRefused(changed, place, "a thread team of " + std::to_string(team));
    }
    for (const double share : {-0.1, 1.1, std::nan("")}) {
      ProgramImage changed = place.Copy();
      place.In(changed).share_for_less = share;
      ExpectRefused(changed, place, "a share of " + std::to_string(share));
    }
    for (const int path : {-2, 2, INT32_MAX}) {
      ProgramImage changed = place.Copy();
      place.In(changed).path = path;
      ExpectRefused(changed, place, "path " + std::to_string(path));
    }
  });
}

bool HasEffect(const ImageInstruction& instruction) {
  return GetOpDef(instruction.node.op).has_effect;
}

TEST(Mutation, StreamsThatThereAreNotAreRefused) {
  int in_streams = 0;
  ForEachInstruction([&](const Place& place) {
    for (const int stream : {INT32_MIN, -1, 3, INT32_MAX}) {
      ProgramImage changed = place.Copy();
      place.In(changed).stream = stream;
      ExpectRefused(changed, place, "stream " + std::to_string(stream));
    }
    ProgramImage in_team = place.Copy(), alone = place.Copy();
    place.In(in_team).stream = 1;
    place.In(in_team).threads = 2;
    ExpectRefused(in_team, place, "two threads in a stream");
    place.In(alone).stream = 1 + static_cast<int>(place.instruction % 2);
    place.In(alone).threads = 1;
    if (alone.entries[place.entry].incremental || HasEffect(place.Original())) {
      ExpectRefused(alone, place, "a stream of what cannot run beside others");
    } else if (place.Original().threads == 1) {
      EXPECT_TRUE(DoesNoHarm(alone, place.entry)) << place.Original().name;
      ++in_streams;
    }
  });
  EXPECT_GT(in_streams, 50 / kStride);
}

// In any stream, an instruction waits for what it reads and for what it writes over.
TEST(Mutation, AnyStreamsDoNoHarm) {
  for (size_t m = 0; m < Images().size(); ++m) {
    for (size_t e = 0; e < Images()[m].entries.size(); ++e) {
      if (Images()[m].entries[e].incremental) continue;
      for (uint32_t dice = 1; dice <= 20; ++dice) {
        ProgramImage changed = Images()[m];
        uint32_t roll = dice * 0x9E3779B9u;
        bool one_thread = true;
        for (ImageInstruction& instruction : changed.entries[e].instructions) {
          roll = roll * 1664525u + 1013904223u;
          instruction.stream = HasEffect(instruction) ? 0 : static_cast<int>(roll >> 30) % 3;
          one_thread &= instruction.threads == 1;
        }
        if (!one_thread) continue;
        EXPECT_TRUE(DoesNoHarm(changed, e)) << m << ", " << dice;
      }
    }
  }
}

TEST(Mutation, WrongTypesAreRefused) {
  ForEachInstruction([](const Place& place) {
    const size_t inputs = place.Original().node.inputs.size();
    const size_t tensors = inputs + place.Original().node.outputs.size();
    for (size_t t = 0; t < tensors; ++t) {
      const auto change = [&](const std::function<void(TensorType&)>& mutate, const char* what) {
        ProgramImage changed = place.Copy();
        NodeSignature& node = place.In(changed).node;
        TensorType& type = t < inputs ? node.inputs[t] : node.outputs[t - inputs];
        const TensorType before = type;
        mutate(type);
        if (type == before) return;
        if (t < inputs) return ExpectRefused(changed, place, what);
        int refused = 0, harmless = 0;  // another number type of an output disturbs its readers
        ExpectRefusedOrHarmless(changed, place.entry, what, &refused, &harmless);
        EXPECT_EQ(harmless, 0) << place.Original().name << ", " << what;
      };
      for (const DType dtype : kAllDTypes) {
        change([&](TensorType& type) { type.dtype = dtype; }, "number type");
      }
      change([](TensorType& type) { type.shape = Shape{}; }, "scalar");
      change([](TensorType& type) { type.shape = Shape{1 << 30, 1 << 30, 1 << 30}; }, "huge");
      change([](TensorType& type) { type.shape = Shape{Dim(1, true)}; }, "unbound");
    }
  });
}

// Bytes are read as the number type as which they were written: that they are as many says nothing.
TEST(Mutation, ValuesKeepTheirNumberTypes) {
  ProgramImage image = TinyImage("tiny_conv");
  ImageInstruction& normalize = image.entries[0].instructions[0];
  ASSERT_EQ(normalize.node.inputs[0].dtype, DType::kU8);
  normalize.node.inputs[0].dtype = DType::kBool;
  EXPECT_TRUE(Names(Refusal(image), normalize.name)) << Refusal(image);
}

TEST(Mutation, MissingAndAddedOperandsAreRefused) {
  ForEachOperand([](const Place& place) {
    ProgramImage fewer = place.Copy();
    auto& operands = place.In(fewer).operands;
    operands.erase(operands.begin() + static_cast<int64_t>(place.operand));
    ExpectRefused(fewer, place, "one operand fewer");
    ProgramImage more = place.Copy();
    place.In(more).operands.push_back(place.OperandIn(more));
    ExpectRefused(more, place, "one operand more");
  });
}

// The verifier asks an operator about its operands: there must be some.
TEST(Mutation, MissingTensorsAreRefused) {
  ForEachInstruction([](const Place& place) {
    for (const bool inputs_too : {false, true}) {
      ProgramImage changed = place.Copy();
      ImageInstruction& instruction = place.In(changed);
      if (inputs_too) instruction.node.inputs.clear();
      instruction.node.outputs.clear();
      instruction.operands.resize(instruction.node.inputs.size());
      EXPECT_NE(Refusal(changed), "") << place.Original().name;
    }
  });
}

TEST(Mutation, AttributesOutOfRangeAreRefused) {
  ProgramImage image = PartsImage();
  for (ImageInstruction& instruction : image.entries[0].instructions) {
    const Attributes before = instruction.node.attributes;
    if (instruction.node.op == OpId::concat) {
      instruction.node.attributes = Attributes::Of(ConcatAttributes{99});
    } else if (instruction.node.op == OpId::concat_grad) {
      instruction.node.attributes = Attributes::Of(ConcatGradAttributes{99, {0}, {1}});
    } else if (instruction.node.op == OpId::slice) {
      instruction.node.attributes = Attributes::Of(SliceAttributes{{0}, {0}, {16}, {0}});
    } else {
      continue;
    }
    EXPECT_NE(Refusal(image), "") << instruction.name;
    instruction.node.attributes = before;
  }
  EXPECT_EQ(Refusal(image), "");
}

// Without a feed that reaches it an instruction would not run when that changes; one too many does
// no harm to results.
TEST(Mutation, WrongReachesAreRefusedOrHarmless) {
  int dropped = 0, refused = 0, harmless = 0;
  ForEachInstruction(
      [&](const Place& place) {
        if (!place.Copy().entries[place.entry].incremental) return;
        for (int bit = 0; bit < 64; ++bit) {
          ProgramImage changed = place.Copy();
          const ReachSet before =
              std::exchange(place.In(changed).reach, place.Original().reach ^ (ReachSet{1} << bit));
          if ((before >> bit & 1) != 0) {
            ExpectRefused(changed, place, "without bit " + std::to_string(bit));
            ++dropped;
          } else {
            ExpectRefusedOrHarmless(changed, place.entry, "a bit more", &refused, &harmless);
          }
        }
      },
      1);
  EXPECT_GT(dropped, 5);
  EXPECT_GT(refused, 100) << "readers and results have not that bit";
  EXPECT_GT(harmless, 0);
}

// If a later run reads a value, no run without its maker may write over it.
TEST(Mutation, MovedOutputsAreRefusedWhereALaterRunNeedsTheBytes) {
  const ProgramImage image = IncrementalImage();
  int tried = 0, refused = 0, harmless = 0;
  const size_t count = image.entries[0].instructions.size();
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) {
      ProgramImage changed = image;
      auto& code = changed.entries[0].instructions;
      const int64_t from = code[i].operands.back().operand.offset;
      const int64_t to = image.entries[0].instructions[j].operands.back().operand.offset;
      const int32_t moved = code[i].operands.back().value;
      if (from == to) continue;
      const auto move = [&](ImageOperand& operand) {
        if (operand.value == moved) operand.operand.offset = to;
      };
      for (ImageInstruction& instruction : code) std::ranges::for_each(instruction.operands, move);
      for (ImagePort& result : changed.entries[0].results) move(result.bytes);
      ++tried;
      ExpectRefusedOrHarmless(changed, 0, image.entries[0].instructions[i].name, &refused,
                              &harmless);
    }
  }
  EXPECT_GT(tried, 10);
  EXPECT_GT(refused, 5);
  ProgramImage whole = image;  // the same, for a program that never runs in part
  whole.entries[0].incremental = false;
  EXPECT_EQ(Refusal(whole), "");
}

// Two neighbours, of which the second reads what the first writes.
TEST(Mutation, DependentInstructionsKeepTheirOrder) {
  int dependent = 0, free = 0;
  const auto swap_with_next = [&](const Place& place) {
    ProgramImage changed = place.Copy();
    auto& code = changed.entries[place.entry].instructions;
    if (place.instruction + 1 >= code.size()) return;
    ImageInstruction& first = code[place.instruction];
    ImageInstruction& second = code[place.instruction + 1];
    bool reads = false;
    for (size_t o = first.node.inputs.size(); o < first.operands.size(); ++o) {
      for (size_t i = 0; i < second.node.inputs.size(); ++i) {
        reads |= first.operands[o].value == second.operands[i].value;
      }
    }
    const std::string name = second.name;
    std::swap(first, second);
    if (!reads) {
      int refused = 0;
      ExpectRefusedOrHarmless(changed, place.entry, name + " comes early", &refused, &free);
      return;
    }
    ++dependent;
    const std::string refusal = Refusal(changed);
    EXPECT_TRUE(Names(refusal, name)) << name << " comes early: " << refusal;
  };
  ForEachInstruction(swap_with_next, 1);
  EXPECT_GT(dependent, 30);
  EXPECT_GT(free, 10);
}

TEST(Mutation, RemovedInstructionsAreMissedByTheirReaders) {
  int refused = 0, harmless = 0;
  const auto remove = [&](const Place& place) {
    ProgramImage changed = place.Copy();
    auto& code = changed.entries[place.entry].instructions;
    code.erase(code.begin() + static_cast<int64_t>(place.instruction));
    ExpectRefusedOrHarmless(changed, place.entry, "without " + place.Original().name, &refused,
                            &harmless);
  };
  ForEachInstruction(remove, 1);
  EXPECT_GT(refused, 80);
  EXPECT_GT(harmless, 10) << "an update that is left out leaves the state as it was";
}

// Phases say what an instruction is for; they are for people and do no harm.
TEST(Mutation, PhasesAndPathsThatExistAreHarmless) {
  int refused = 0, harmless = 0;
  ForEachInstruction([&](const Place& place) {
    ProgramImage changed = place.Copy();
    place.In(changed).phase = Phase::kCommunication;
    place.In(changed).path = -1;
    ExpectRefusedOrHarmless(changed, place.entry, "phase", &refused, &harmless);
  });
  EXPECT_EQ(refused, 0);
  EXPECT_GT(harmless, 100 / kStride);
}

// A program that swaps, and changes of it that leave every value in its place.
class Swapping {
 public:
  std::vector<ImageInstruction>& code() { return image_.entries[0].instructions; }
  ImageInstruction& At(const std::string& name) {
    return *std::ranges::find(code(), name, &ImageInstruction::name);
  }
  void Erase(const std::string& name) {
    std::erase_if(code(), [&](auto& i) { return i.name == name; });
  }
  void MoveBehind(const std::string& name, const std::string& other) {
    const ImageInstruction moved = At(name);
    Erase(name);
    code().insert(std::ranges::find(code(), other, &ImageInstruction::name) + 1, moved);
  }
  // `reader` reads `now` where it read `before`.
  void Reread(const std::string& reader, const ImageOperand& before, ImageOperand now) {
    now.operand.access = Access::kRead;
    for (ImageOperand& operand : At(reader).operands) {
      if (operand.value == before.value) operand = now;
    }
  }
  ImageOperand ResultOf(const std::string& name) { return At(name).operands.back(); }
  std::string Refused() const { return Refusal(image_); }
  ProgramImage& image() { return image_; }

 private:
  ProgramImage image_ = SwapImage(/*reuse=*/false);
};

TEST(Mutation, WhatIsOnItsWayIsLeftAlone) {
  ASSERT_EQ(Swapping().Refused(), "");
  Swapping early;
  early.Reread("d", early.ResultOf("b.swap_in.wait"), early.ResultOf("b.swap_in"));
  EXPECT_EQ(early.Refused(), "") << "it has arrived, since the wait is over";
  early.MoveBehind("b.swap_in.wait", "d");
  EXPECT_NE(early.Refused().find("d meets what b.swap_in has on its way"), std::string::npos)
      << early.Refused();
  Swapping unwaited;
  unwaited.Reread("d", unwaited.ResultOf("b.swap_in.wait"), unwaited.ResultOf("c"));
  unwaited.Erase("b.swap_in.wait");
  EXPECT_NE(unwaited.Refused().find("b.swap_in is never waited for"), std::string::npos)
      << unwaited.Refused();
  Swapping mixed;
  mixed.Reread("a.swap_out.wait", mixed.ResultOf("a.swap_out"), mixed.ResultOf("b.swap_out"));
  EXPECT_NE(mixed.Refused().find("a.swap_out.wait waits for nothing"), std::string::npos)
      << mixed.Refused();
  Swapping in_part;
  in_part.image().entries[0].incremental = true;
  EXPECT_NE(in_part.Refused().find("can run in part"), std::string::npos) << in_part.Refused();
}

TEST(Mutation, WrongBodiesOfFusedNodesAreRefused) {
  const size_t fused = Images().size() - 1;
  ASSERT_EQ(Images()[fused].entries[0].instructions[0].node.op, OpId::fused);
  const Place place = {fused, 0, 0, 0};
  const auto refuse = [&](const char* what, const std::function<void(NodeSignature&)>& mutate) {
    ProgramImage changed = place.Copy();
    mutate(place.In(changed).node);
    for (FusedOperator& inner : place.In(changed).node.body) {
      inner.attributes = Attributes::Defaults(*GetOpDef(inner.op).schema);
    }
    ExpectRefused(changed, place, what);
  };
  refuse("no body", [](NodeSignature& node) { node.body.clear(); });
  refuse("a shorter body", [](NodeSignature& node) { node.body.pop_back(); });  // its workspace
  refuse("itself in its body", [](NodeSignature& node) { node.body[1].op = OpId::fused; });
  refuse("an operand too many", [](NodeSignature& node) { node.body[1].operands.push_back(0); });
  refuse("an operand too few", [](NodeSignature& node) { node.body[0].operands.pop_back(); });
  refuse("an input that is none", [](NodeSignature& node) { node.body[0].operands[0] = 3; });
  refuse("a later result", [](NodeSignature& node) { node.body[1].operands[0] = -2; });
  refuse("its own result", [](NodeSignature& node) { node.body[0].operands[0] = -1; });
  refuse("far away", [](NodeSignature& node) { node.body[0].operands[0] = INT32_MIN; });
  refuse("another type", [](NodeSignature& node) {
    node.body.back().op = OpId::reduce_sum;
    node.body.back().operands = {0};
  });
}

}  // namespace
}  // namespace cgrun
