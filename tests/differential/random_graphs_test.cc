// Random graphs through the whole compiler, against the interpreter on the graph as it was drawn:
// every order, planner and memory option, with and without passes, must give the same bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <set>

#include "src/budget/recompute_at_peak.h"
#include "src/budget/swap.h"
#include "src/ir/op_def.h"
#include "src/passes/pipeline.h"
#include "src/plan/stream_schedule.h"
#include "tests/support/compile_graph.h"
#include "tests/support/random_graph.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

int GraphCount() {
  if (const char* count = std::getenv("CGRUN_GRAPHS")) return std::atoi(count);
  return kSanitized ? CGRUN_GRAPHS / 20 : CGRUN_GRAPHS;
}

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

// Layers that random graphs need not hold: whole models try them.
const std::set<OpId> kNotDrawn = {OpId::reorder,
                                  OpId::parameter,
                                  OpId::bias,
                                  OpId::conv,
                                  OpId::conv_input_grad,
                                  OpId::max_pool,
                                  OpId::max_pool_grad,
                                  OpId::avg_pool,
                                  OpId::avg_pool_grad,
                                  OpId::global_avg_pool,
                                  OpId::batch_norm,
                                  OpId::batch_norm_apply,
                                  OpId::batch_norm_grad,
                                  OpId::batch_norm_add,
                                  OpId::batch_norm_add_apply,
                                  OpId::batch_norm_add_grad,
                                  OpId::roi_align,
                                  OpId::roi_align_grad,
                                  OpId::region_proposals,
                                  OpId::detections};

// Counts what the run as a whole has met. Without these cases, the comparison would prove little.
struct Coverage {
  std::set<std::string> planners, ops;
  int64_t passes_removed = 0, recomputations = 0, swaps = 0, in_streams = 0, copies = 0, elided = 0,
          in_place_bytes = 0, workspaces = 0;
  int64_t numbers = 0, nans = 0;

  void Count(const Graph& prepared, const GraphProgram& program, const std::string& planner) {
    planners.insert(planner);
    in_place_bytes += program.layout.entries[0].in_place_bytes;
    for (NodeId id : prepared.nodes.ids()) {
      const Node& node = prepared.nodes[id];
      ops.insert(std::string(NameOf(node.op)));
      elided += program.layout.entries[0].elided[id];
      workspaces += node.kernel->workspace_bytes > 0;
      copies += node.name.find(".copy") != std::string::npos;
    }
  }

  void Count(const std::vector<StepResult>& results) {
    for (const StepResult& result : results) {
      for (const auto& [name, tensor] : result.outputs) {
        numbers += tensor.elements();
        for (int64_t i = 0; i < tensor.elements(); ++i) nans += std::isnan(tensor.At(i));
      }
    }
  }
};

class OneGraph {
 public:
  OneGraph(uint64_t seed, Coverage& coverage)
      : seed_(seed), coverage_(coverage), graph_(MakeRandomGraph(seed)) {}

  void Run() {
    ASSERT_EQ(VerifyGraph(graph_), std::vector<std::string>()) << Name("as drawn");
    const Graph bound = BindBatch(graph_, Batch());
    inputs_ = RandomInputs(bound, 2, seed_);
    wanted_ = InterpretSteps(bound, Reference(), inputs_);
    coverage_.Count(wanted_);
    for (const bool passes : {false, true}) {
      Graph graph = graph_;
      if (passes) {
        for (const PassReport& report : RunPasses(graph, {Reference()})) {
          coverage_.passes_removed += report.nodes_removed;
        }
      }
      const Graph prepared = PrepareGraph(graph, Batch(), Reference());
      RunOrders(prepared, passes);
      if (passes) RunWithRecomputations(prepared);
      if (passes) RunWithSwaps(prepared);
      if (passes && seed_ % 4 == 0) RunWithStreams(prepared);
    }
  }

 private:
  int64_t Batch() const { return static_cast<int64_t>(1 + seed_ % 3); }
  std::string Name(const std::string& what) const {
    return "seed " + std::to_string(seed_) + ", " + what + "\n" + ToString(graph_);
  }

  // All values that lower the peak of some order are recomputed, whatever it takes.
  void RunWithRecomputations(const Graph& prepared) {
    const std::string order(Orders()[seed_ % Orders().size()].name);
    CompiledEntry entry{{"step"}, prepared, FindOrder(order)->Order(prepared)};
    const RecomputeGoal anything{.share = 1e9, .bytes = 0};
    if (!RecomputeAtPeak(entry, Reference(), {}, anything)) return;
    coverage_.recomputations +=
        static_cast<int64_t>(entry.graph.nodes.size() - prepared.nodes.size());
    ASSERT_EQ(VerifyGraph(entry.graph), std::vector<std::string>()) << Name("with recomputations");
    for (const OrderEntry& other : Orders()) {
      ASSERT_NO_FATAL_FAILURE(Compare(entry.graph, std::string(other.name), {},
                                      Name("with recomputations, " + std::string(other.name))));
    }
  }

  // All values that lower the peak of some order go to a file, or are recomputed if that takes
  // less.
  void RunWithSwaps(const Graph& prepared) {
    const std::string order(Orders()[seed_ % Orders().size()].name);
    CompiledEntry entry{{"step"}, prepared, FindOrder(order)->Order(prepared)};
    for (Node& node : entry.graph.nodes) {
      node.kernel->seconds = 1;
      node.kernel->is_measured = true;
    }
    BudgetOptions options;
    options.swap = SwapFolder{"", {1e9, 1e9}};
    if (seed_ % 2 == 0) options.passes.disabled = {"rematerialise"};
    const RecomputeGoal anything{.share = 1e9, .bytes = 0, .may_swap = true};
    if (!RecomputeAtPeak(entry, Reference(), options, anything)) return;
    coverage_.swaps += CountSwaps(entry.graph);
    ASSERT_EQ(VerifyGraph(entry.graph), std::vector<std::string>()) << Name("with swaps");
    for (const OrderEntry& other : Orders()) {
      for (const bool zones_apart : {false, true}) {
        ASSERT_NO_FATAL_FAILURE(Compare(entry.graph, std::string(other.name),
                                        {"portfolio", zones_apart, /*in_place=*/seed_ % 3 != 0},
                                        Name("with swaps, " + std::string(other.name))));
      }
    }
  }

  // Nodes that may run side by side do so, but for a few.
  void RunWithStreams(const Graph& prepared) {
    const std::string order(Orders()[seed_ % Orders().size()].name);
    IdVector<NodeId, double> alone(prepared.nodes.size());
    for (NodeId id : prepared.nodes.ids()) {
      const auto dice = (seed_ + static_cast<uint64_t>(id.index)) * 0x9E3779B97F4A7C15 >> 60;
      const bool is_whole = dice == 0 || GetOpDef(prepared.nodes[id].op).has_effect;
      alone[id] = is_whole ? -1 : 20e-6 * static_cast<double>(dice);
    }
    const bool in_place = seed_ % 3 != 0;
    const auto schedule = ArrangeStreams(prepared, FindOrder(order)->Order(prepared), alone,
                                         {{in_place, false}, /*most_bytes=*/int64_t{1} << 40});
    if (!schedule) return;
    for (const ScheduleStep& step : schedule->steps) coverage_.in_streams += step.stream > 0;
    const GraphProgram program =
        EncodeGraph(prepared, *schedule, {"portfolio", false, in_place}, Reference());
    ASSERT_NO_FATAL_FAILURE(Compare(prepared, program, Name("streams, " + order)));
  }

  // Each order runs with one planner, which is another one for each graph. In one graph of sixteen
  // it runs with every planner.
  void RunOrders(const Graph& prepared, bool passes) {
    const size_t planners = Planners().size(), each = seed_ % 16 == 0 ? planners : 1;
    for (size_t i = 0; i < Orders().size() * each; ++i) {
      const std::string order(Orders()[i / each].name);
      const std::string planner(Planners()[(seed_ + 5 * (i / each) + i % each) % planners].name);
      for (const bool zones_apart : {false, true}) {
        for (const bool in_place : {false, true}) {
          const std::string name =
              Name(std::string(passes ? "passes" : "no passes") + ", " + order + ", " + planner +
                   (zones_apart ? ", zones apart" : "") + (in_place ? ", in place" : ""));
          ASSERT_NO_FATAL_FAILURE(Compare(prepared, order, {planner, zones_apart, in_place}, name));
        }
      }
    }
  }

  void Compare(const Graph& prepared, const std::string& order, const LayoutOptions& options,
               const std::string& name) {
    const GraphProgram program = EncodeGraph(prepared, order, options, Reference());
    ASSERT_NO_FATAL_FAILURE(Compare(prepared, program, name));
    coverage_.Count(prepared, program, options.planner);
  }

  void Compare(const Graph& prepared, const GraphProgram& program, const std::string& name) {
    ASSERT_EQ(VerifySchedule(prepared, program.schedule), std::vector<std::string>()) << name;
    ASSERT_EQ(VerifyImage(program.image), std::vector<std::string>()) << name;
    ASSERT_LE(program.layout.lower_bound_bytes, program.layout.arena_bytes) << name;
    ASSERT_EQ(FirstDifference(RunSteps(program.image, Reference(), inputs_), wanted_), "") << name;
  }

  uint64_t seed_;
  Coverage& coverage_;
  Graph graph_;
  StepInputs inputs_;
  std::vector<StepResult> wanted_;
};

TEST(RandomGraphs, EveryOrderPlannerAndOptionGivesTheInterpretersBits) {
  Coverage coverage;
  const int graphs = GraphCount();
  for (int seed = 1; seed <= graphs; ++seed) {
    OneGraph graph(static_cast<uint64_t>(seed), coverage);
    ASSERT_NO_FATAL_FAILURE(graph.Run());
  }
  if (graphs < 1000) return;  // fewer may miss what is rare, such as swaps
  EXPECT_EQ(coverage.planners.size(), Planners().size());
  EXPECT_GT(coverage.passes_removed, graphs);
  EXPECT_GT(coverage.recomputations, graphs / 10);
  EXPECT_GT(coverage.swaps, graphs / 100);
  EXPECT_GT(coverage.in_streams, graphs / 4);
  EXPECT_GT(coverage.copies, graphs);
  EXPECT_GT(coverage.elided, graphs);
  EXPECT_GT(coverage.in_place_bytes, 100 * graphs);
  EXPECT_GT(coverage.workspaces, graphs);
  EXPECT_LT(coverage.nans, coverage.numbers / 3);
  if (graphs < 2000) return;
  for (int i = 0; i < kBuiltinOpCount; ++i) {
    const std::string name(NameOf(OpId(i)));
    EXPECT_TRUE(coverage.ops.contains(name) || kNotDrawn.contains(OpId(i))) << name;
  }
}

}  // namespace
}  // namespace cgrun
