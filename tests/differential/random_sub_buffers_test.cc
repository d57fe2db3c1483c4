// Random graphs of joins and cuts whose parts begin where buffers may: every order and planner
// gives the interpreter's bits, and what lies elsewhere than its place is refused.
#include <gtest/gtest.h>

#include "src/ir/op_def.h"
#include "src/ops/concat.h"
#include "src/ops/slice.h"
#include "tests/support/compile_graph.h"
#include "tests/support/dice.h"
#include "tests/support/graph_maker.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

constexpr int kGraphs = kSanitized ? 40 : 600;
constexpr int64_t kGrain = 16;  // elements: 64 bytes

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

// These are the libraries of this build. All of them give the same bits for these graphs.
std::vector<const KernelLibrary*> Libraries() {
  std::vector<const KernelLibrary*> libraries;
  for (const char* device : {"reference", "blas", "cpu"}) {
    if (const KernelLibrary* library = FindKernelLibrary(device)) libraries.push_back(library);
  }
  return libraries;
}

// Vectors, or matrices of one row.
class RandomParts {
 public:
  explicit RandomParts(uint64_t seed) : dice_(seed), is_matrix_(dice_.OneIn(2)) {
    const int64_t feeds = dice_.Between(1, 2), operators = dice_.Between(4, 24);
    for (int64_t i = 0; i < feeds; ++i) {
      values_.push_back(make_.Feed("x" + std::to_string(i), Sized(dice_.Between(1, 4) * kGrain)));
    }
    for (int64_t i = 0; i < operators; ++i) Add("v" + std::to_string(i));
    std::vector<bool> read(make_.graph().values.size());
    for (const Node& node : make_.graph().nodes) {
      for (ValueId input : node.inputs) read[static_cast<size_t>(input.index)] = true;
    }
    for (ValueId id : make_.graph().values.ids()) {
      const bool is_leaf = !read[static_cast<size_t>(id.index)];
      if (is_leaf || dice_.OneIn(12)) make_.Out(id, make_.graph().values[id].name);
    }
  }

  const Graph& graph() { return make_.graph(); }

 private:
  Shape Sized(int64_t elements) const { return is_matrix_ ? Shape{1, elements} : Shape{elements}; }
  int64_t SizeOf(ValueId id) { return make_.graph().values[id].type.shape.Elements(); }
  int64_t axis() const { return is_matrix_ ? 1 : 0; }

  // Rather one of the last ones: so chains come about.
  ValueId Any() {
    const auto count = static_cast<int64_t>(values_.size());
    return values_[static_cast<size_t>(count - dice_.Between(1, std::min<int64_t>(count, 6)))];
  }

  // Returns a position that mostly lies at a whole grain.
  int64_t Position(int64_t size) {
    const int64_t grains = dice_.Between(0, size / kGrain);
    return std::min(grains * kGrain + (dice_.OneIn(8) ? 1 : 0), size);
  }

  void Add(const std::string& name) {
    switch (dice_.Between(0, 7)) {
      case 0:
      case 1:
        return Join(name);
      case 2:
      case 3:
      case 4:
        return CutAll(name);
      case 5:
        return Push(make_.Op(OpId::relu, name, {Any()}));
      case 6:
        return Push(make_.Op(OpId::neg, name, {Any()}));
      default:
        return AddTwo(name);
    }
  }

  void Push(ValueId id) { values_.push_back(id); }

  void AddTwo(const std::string& name) {
    const ValueId a = Any(), b = Any();
    if (SizeOf(a) != SizeOf(b)) return Push(make_.Op(OpId::neg, name, {a}));
    Push(make_.Op(OpId::add, name, {a, b}));
  }

  void Join(const std::string& name) {
    std::vector<ValueId> inputs;
    int64_t size = 0;
    for (int64_t i = 0, n = dice_.Between(1, 3); i < n; ++i) {
      inputs.push_back(Any());
      size += SizeOf(inputs.back());
    }
    if (size > 64 * kGrain) return;
    Push(make_.Op(OpId::concat, name, inputs, Attributes::Of(ConcatAttributes{axis()})));
  }

  // One value into two or three parts, by slice or by concat_grad.
  void CutAll(const std::string& name) {
    const ValueId whole = Any();
    const int64_t size = SizeOf(whole);
    int64_t begin = 0;
    for (int part = 0; part < 3 && begin < size; ++part) {
      const int64_t end = part == 2 ? size : std::max(begin + 1, Position(size));
      const std::string part_name = name + "." + std::to_string(part);
      if (dice_.OneIn(2)) {
        const SliceAttributes slice{{axis()}, {begin}, {end}, {dice_.OneIn(10) ? 2 : 1}};
        Push(make_.Op(OpId::slice, part_name, {whole}, Attributes::Of(slice)));
      } else {
        const ConcatGradAttributes grad{axis(), {begin}, {end - begin}};
        Push(make_.Op(OpId::concat_grad, part_name, {whole}, Attributes::Of(grad)));
      }
      begin = dice_.OneIn(10) ? begin : end;
    }
  }

  Dice dice_;
  const bool is_matrix_;
  GraphMaker make_;
  std::vector<ValueId> values_;
};

// Operands that lie in others: an instruction's input and output.
struct InPlace {
  size_t instruction, input, output;
};

std::vector<InPlace> PartsInPlace(const ImageEntry& entry) {
  std::vector<InPlace> found;
  for (size_t n = 0; n < entry.instructions.size(); ++n) {
    const ImageInstruction& instruction = entry.instructions[n];
    if (GetOpDef(instruction.node.op).sub_buffers == nullptr) continue;
    const size_t output = instruction.node.inputs.size();
    for (size_t i = 0; i < output; ++i) {
      const ImageOperand &a = instruction.operands[i], &b = instruction.operands[output];
      const bool meet = a.operand.offset < b.operand.offset + b.bytes &&
                        b.operand.offset < a.operand.offset + a.bytes;
      if (meet) found.push_back({n, i, output});
    }
  }
  return found;
}

TEST(PartsInPlace, GiveTheInterpretersBits) {
  int64_t joined = 0, cut = 0;
  const std::vector<const KernelLibrary*> libraries = Libraries();
  for (int seed = 1; seed <= kGraphs; ++seed) {
    const auto key = static_cast<uint64_t>(seed);
    RandomParts random(key);
    const KernelLibrary& library = *libraries[key % libraries.size()];
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + ToString(random.graph()));
    const Graph bound = PrepareGraph(random.graph(), 1, Reference());
    const StepInputs inputs = RandomInputs(bound, 2, key);
    const auto wanted = InterpretSteps(bound, Reference(), inputs);
    const Graph prepared = PrepareGraph(random.graph(), 1, library, 1 + seed % 2);
    for (const OrderEntry& order : Orders()) {
      for (const bool zones_apart : {false, true}) {
        const std::string planner(Planners()[key % Planners().size()].name);
        const GraphProgram program =
            EncodeGraph(prepared, order.name, {planner, zones_apart}, library);
        ASSERT_EQ(VerifyImage(program.image), std::vector<std::string>()) << order.name;
        ASSERT_EQ(FirstDifference(RunSteps(program.image, library, inputs), wanted), "")
            << library.name() << ", " << order.name;
        const ImageEntry& entry = program.image.entries[0];
        for (const InPlace& part : PartsInPlace(entry)) {
          const bool joins = entry.instructions[part.instruction].node.op == OpId::concat;
          ++(joins ? joined : cut);
        }
      }
    }
  }
  EXPECT_GT(joined, kGraphs);
  EXPECT_GT(cut, kGraphs);
}

TEST(PartsInPlace, AreRefusedInOtherPlaces) {
  int refused = 0;
  for (int seed = 1; seed <= kGraphs / 4; ++seed) {
    const auto key = static_cast<uint64_t>(seed);
    RandomParts random(key);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + ToString(random.graph()));
    const Graph prepared = PrepareGraph(random.graph(), 1, Reference());
    const GraphProgram program = EncodeGraph(prepared, "serial", {}, Reference());
    for (const InPlace& part : PartsInPlace(program.image.entries[0])) {
      for (const int64_t by : {-64, 64}) {
        ProgramImage moved = program.image;
        ImageInstruction& instruction = moved.entries[0].instructions[part.instruction];
        const bool joins = instruction.node.op == OpId::concat;
        instruction.operands[joins ? part.input : part.output].operand.offset += by;
        EXPECT_NE(VerifyImage(moved), std::vector<std::string>()) << instruction.name;
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, kGraphs / 4);
}

}  // namespace
}  // namespace cgrun
