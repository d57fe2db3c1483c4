// Runs random graphs as programs that run in part. After any feeds have changed, results and states
// have the bits that the interpreter gives for a whole run. The operators that ran are exactly
// those that the changed feeds reach.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "src/base/random.h"
#include "src/device/cpu.h"
#include "src/passes/pipeline.h"
#include "src/program/build_image.h"
#include "src/program/program.h"
#include "src/program/serialize.h"
#include "tests/support/compile_graph.h"
#include "tests/support/random_graph.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

constexpr int kGraphs = kSanitized ? 60 : 600;
constexpr int kRuns = 8;

using Names = std::set<std::string>;

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

// Counts the cases that make the comparison prove something.
struct Coverage {
  int64_t partial_runs = 0, empty_runs = 0, skipped = 0, ran = 0;
  int64_t kept_bytes = 0, in_place_bytes = 0, elided = 0, once = 0, every_run = 0;
  int64_t refused = 0, harmless = 0, reach_refused = 0;
};

// Graphs without learning and updates among them, where less changes in every run.
Graph DrawGraph(uint64_t seed) {
  Graph graph = MakeRandomGraph(seed, {.operators = 20, .learning = seed % 4 == 0});
  if (seed % 4 >= 2) graph.updates.clear();
  if (seed % 3 == 0) RunPasses(graph, {Reference()});
  return graph;
}

// The nodes that something leads to that changed: `changed`, a state that has an update, or what
// other processes add.
Names ConeOf(const Graph& graph, const EntryLayout& layout, const Names& changed) {
  IdVector<ValueId, bool> affected(graph.values.size());
  for (ValueId id : graph.values.ids()) {
    const Value& value = graph.values[id];
    affected[id] = value.role == Role::kPlaceholder && changed.contains(value.name);
  }
  for (const UpdateEdge& edge : graph.updates) affected[edge.state] = true;
  Names names;
  for (NodeId id : TopologicalOrder(graph)) {
    const Node& node = graph.nodes[id];
    const bool reads = std::ranges::any_of(node.inputs, [&](ValueId id) { return affected[id]; });
    if (!reads && node.op != OpId::all_reduce) continue;
    for (ValueId output : node.outputs) affected[output] = true;
    if (!layout.elided[id]) names.insert(node.name);
  }
  return names;
}

bool IsRead(const ImageEntry& entry, int32_t value) {
  const auto is_value = [&](const ImageOperand& operand) { return operand.value == value; };
  return std::ranges::any_of(entry.results, is_value, &ImagePort::bytes) ||
         std::ranges::any_of(entry.instructions, [&](const ImageInstruction& instruction) {
           return std::ranges::any_of(instruction.operands, is_value);
         });
}

class OneGraph {
 public:
  OneGraph(uint64_t seed, Coverage& coverage) : seed_(seed), coverage_(coverage) {
    bound_ = BindBatch(DrawGraph(seed), 2);
    prepared_ = PrepareGraph(bound_, 2, Reference());
    inputs_ = RandomInputs(bound_, kRuns, seed);
    ChangeSome();
    wanted_ = InterpretSteps(bound_, Reference(), inputs_);
  }

  void Run() {
    const OrderEntry& order = Orders()[seed_ % Orders().size()];
    const PlannerEntry& planner = Planners()[seed_ / 2 % Planners().size()];
    for (const bool in_place : {false, true}) {
      LayoutOptions options{std::string(planner.name), seed_ % 5 == 0, in_place};
      options.incremental = true;
      Run(std::string(order.name), options);
    }
  }

 private:
  // Each feed stays as it was in half of the runs, so that all sets of changes occur.
  void ChangeSome() {
    changed_.resize(kRuns);
    for (size_t run = 0; run < kRuns; ++run) {
      uint64_t bits = RandomKey(seed_, "changes of run " + std::to_string(run));
      for (auto& [name, tensor] : inputs_.feeds[run]) {
        const bool changes = run == 0 || (bits & 1) != 0;
        bits >>= 1;
        if (changes) changed_[run].insert(name);
        if (!changes) tensor = inputs_.feeds[run - 1].at(name);
      }
    }
  }

  void Run(const std::string& order, const LayoutOptions& options) {
    SCOPED_TRACE("seed " + std::to_string(seed_) + ", " + order + ", " + options.planner +
                 (options.in_place ? ", in place\n" : "\n") + ToString(prepared_));
    const GraphProgram program = EncodeGraph(prepared_, order, options, Reference());
    ASSERT_EQ(VerifyImage(program.image), std::vector<std::string>());
    const std::string bytes = SerializeImage(program.image);
    const ProgramImage loaded = DeserializeImage(bytes, "m.cgb");
    ASSERT_EQ(SerializeImage(loaded), bytes);
    ASSERT_EQ(Disassemble(loaded), Disassemble(program.image));
    const EntryLayout& layout = program.layout.entries[0];
    ASSERT_NO_FATAL_FAILURE(RunInParts(loaded, layout));
    coverage_.kept_bytes += layout.kept_bytes;
    coverage_.in_place_bytes += layout.in_place_bytes;
    for (NodeId id : prepared_.nodes.ids()) coverage_.elided += layout.elided[id];
    DropReach(program.image);
    ASSERT_NO_FATAL_FAILURE(RunWithoutKeeping(order, options));
  }

  void RunInParts(const ProgramImage& image, const EntryLayout& layout) {
    CpuDevice device("reference");
    SingleProcess communicator;
    Program program(image, device, Reference(), communicator);
    const auto& states = program.image().states;
    for (size_t i = 0; i < states.size(); ++i) {
      program.WriteState(i, inputs_.states.at(states[i].name));
    }
    ASSERT_FALSE(program.CanRunChanged(0));
    for (size_t run = 0; run < kRuns; ++run) {
      ASSERT_NO_FATAL_FAILURE(RunOnce(program, layout, run)) << "run " << run;
    }
    if (states.empty()) return;
    program.WriteState(0, inputs_.states.at(states[0].name));
    ASSERT_FALSE(program.CanRunChanged(0)) << "what depends on the state is another now";
  }

  void RunOnce(Program& program, const EntryLayout& layout, size_t run) {
    const ImageEntry& entry = program.image().entries[0];
    ReachSet changed = 0;
    for (size_t i = 0; i < entry.feeds.size(); ++i) {
      const ImagePort& feed = entry.feeds[i];
      const bool changes = changed_[run].contains(feed.name);
      if (!changes || (run > 0 && feed.reach == 0)) continue;
      changed |= feed.reach;
      program.Feed(0, i, inputs_.feeds[run].at(feed.name).bytes());
    }
    if (run == 0) {
      program.Run(0);
    } else {
      ASSERT_TRUE(program.CanRunChanged(0));
      Names ran;
      const int64_t count = program.RunChangedChecked(0, changed, [&](const Instruction& i) {
        ran.insert(entry.instructions[static_cast<size_t>(i.node)].name);
      });
      EXPECT_EQ(count, static_cast<int64_t>(ran.size())) << "each once";
      EXPECT_EQ(ran, ConeOf(prepared_, layout, changed_[run]));
      Count(entry, ran.size());
    }
    EXPECT_EQ(FirstDifference({ResultOf(program)}, {wanted_[run]}), "");
  }

  void Count(const ImageEntry& entry, size_t ran) {
    const size_t skipped = entry.instructions.size() - ran;
    coverage_.partial_runs += ran > 0 && skipped > 0;
    coverage_.empty_runs += ran == 0;
    coverage_.ran += static_cast<int64_t>(ran);
    coverage_.skipped += static_cast<int64_t>(skipped);
    for (const ImageInstruction& instruction : entry.instructions) {
      coverage_.once += instruction.reach == 0;
      coverage_.every_run += instruction.reach == kEveryRun;
    }
  }

  static StepResult ResultOf(const Program& program) {
    StepResult result;
    const std::vector<ImagePort>& ports = program.image().entries[0].results;
    for (size_t i = 0; i < ports.size(); ++i) {
      const ImagePort& port = ports[i];
      HostTensor tensor(port.type.dtype, port.type.shape);
      program.Fetch(0, i, tensor.bytes());
      result.outputs.emplace(port.name, std::move(tensor));
    }
    for (size_t i = 0; i < program.image().states.size(); ++i) {
      result.states.emplace(program.image().states[i].name, program.ReadState(i));
    }
    return result;
  }

  // An instruction that forgets one of the feeds that it depends on, and a feed that has none.
  void DropReach(const ProgramImage& image) {
    for (size_t i = 0; i < image.entries[0].instructions.size(); ++i) {
      ProgramImage changed = image;
      ReachSet& reach = changed.entries[0].instructions[i].reach;
      if (reach == 0) continue;
      reach &= reach - 1;
      EXPECT_NE(VerifyImage(changed), std::vector<std::string>())
          << changed.entries[0].instructions[i].name;
      ++coverage_.reach_refused;
    }
    for (size_t i = 0; i < image.entries[0].feeds.size(); ++i) {
      ProgramImage changed = image;
      changed.entries[0].feeds[i].reach = 0;
      if (!IsRead(image.entries[0], image.entries[0].feeds[i].bytes.value)) continue;
      EXPECT_NE(VerifyImage(changed), std::vector<std::string>())
          << changed.entries[0].feeds[i].name;
    }
  }

  // A plan that keeps nothing between runs is refused, or it happens to do.
  void RunWithoutKeeping(const std::string& order, LayoutOptions options) {
    options.incremental = false;
    GraphProgram program = EncodeGraph(prepared_, order, options, Reference());
    program.layout.entries[0].incremental = true;
    ProgramImage image = BuildImage(
        {{"step", EntryKind::kPredict, 1, &prepared_, &program.schedule}}, program.layout);
    image.seed = prepared_.seed;
    const bool refused = !VerifyImage(image).empty();
    ++(refused ? coverage_.refused : coverage_.harmless);
    if (!refused) RunInParts(image, program.layout.entries[0]);
  }

  uint64_t seed_;
  Coverage& coverage_;
  Graph bound_, prepared_;
  StepInputs inputs_;
  std::vector<Names> changed_;  // in each run
  std::vector<StepResult> wanted_;
};

TEST(Incremental, PartsOfRunsGiveTheBitsOfWholeOnes) {
  Coverage coverage;
  for (uint64_t seed = 1; seed <= kGraphs; ++seed) {
    OneGraph graph(seed, coverage);
    ASSERT_NO_FATAL_FAILURE(graph.Run());
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  EXPECT_GT(coverage.partial_runs, 5 * kGraphs);
  EXPECT_GT(coverage.empty_runs, kGraphs / 4);
  EXPECT_GT(coverage.skipped, 20 * kGraphs);
  EXPECT_GT(coverage.ran, 20 * kGraphs);
  EXPECT_GT(coverage.kept_bytes, 100 * kGraphs);
  EXPECT_GT(coverage.in_place_bytes, 20 * kGraphs);
  EXPECT_GT(coverage.elided, kGraphs / 2);
  EXPECT_GT(coverage.once, kGraphs);
  EXPECT_GT(coverage.every_run, kGraphs);
  EXPECT_GT(coverage.refused, kGraphs / 4);
  EXPECT_GT(coverage.harmless, 0);
  EXPECT_GT(coverage.reach_refused, kGraphs);
}

}  // namespace
}  // namespace cgrun
