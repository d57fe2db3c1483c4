// The alias model against the buffers that are made of it, and with what a search adds to it. Rules
// are tested where they show: liveness_test, buffer_assignment_test, stream_schedule_test,
// reach_test.
#include "src/plan/alias_model.h"

#include <gtest/gtest.h>

#include "src/plan/buffer_assignment.h"
#include "tests/support/compile_graph.h"
#include "tests/support/graph_maker.h"
#include "tests/support/random_graph.h"

namespace cgrun {
namespace {

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

TEST(AliasModel, CountsTheBytesOfBuffersInAnySequenceOfSchedules) {
  int with_in_place = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Graph graph = PrepareGraph(MakeRandomGraph(seed), 3, Reference());
    const BufferOptions in_place{}, apart{true, true}, none{false, false};
    for (const BufferOptions& options : {in_place, apart, none}) {
      AliasModel model(graph, options);
      for (const OrderEntry& order : Orders()) {
        const Schedule schedule = order.Order(graph);
        const BufferAssignment assignment = AssignBuffers(graph, schedule, options);
        ASSERT_EQ(model.CountBytes(RunsOf(graph, schedule)), TransientBytes(assignment))
            << seed << " " << order.name;
        with_in_place += assignment.in_place_bytes > 0;
      }
    }
  }
  EXPECT_GT(with_in_place, 0);
}

TEST(AliasModel, CountsSecondResultsLikeFirstOnes) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {1000});
  const ValueId y = make.Op(OpId::exp, "y", {x});
  make.Out(make.Op(OpId::mul, "z", {y, x}), "z");
  const Graph graph = PrepareGraph(make.graph(), 1, Reference());
  AliasModel model(graph, {.in_place = false});
  const Node &first = graph.nodes[NodeId(0)], &last = graph.nodes[NodeId(1)];
  const NodeId again = model.AddNode(/*is_view=*/false, /*workspace=*/100, {});
  for (int i = 0; i < 2; ++i) {
    const std::vector<ValueId> second = {model.AddRecomputed(y)}, inputs = {second[0], x};
    const std::vector<NodeRun> runs = {{NodeId(0), first.inputs, first.outputs},
                                       {again, first.inputs, second},
                                       {NodeId(1), inputs, last.outputs}};
    EXPECT_EQ(model.CountBytes(runs), (std::vector<Bytes>{2 * 4032, 2 * 4032 + 128, 3 * 4032}));
    model.ForgetRecomputed();
  }
}

}  // namespace
}  // namespace cgrun
