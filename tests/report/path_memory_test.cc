// Compares the memory that the paths of a small graph share with counts by hand.
#include "src/report/path_memory.h"

#include <gtest/gtest.h>

#include "src/plan/schedule.h"
#include "tests/support/compile_graph.h"
#include "tests/support/graph_maker.h"

namespace cgrun {
namespace {

constexpr int64_t kBytes = 256;  // of every value here

class TwoPaths {
 public:
  TwoPaths() {
    AddPath("first", 0, 1, PathId());
    AddPath("second.1", 0, 2, PathId());
    AddPath("second", 1, 2, PathId(1));
    const ValueId x = make_.Feed("x", {64});
    const ValueId v = make_.State("v", {64}), w = make_.State("w", {64});
    make_.graph().paths[PathId(0)].trains = {v};
    const ValueId a = Op(0, OpId::mul, "a", {x, v});
    const ValueId b = Op(0, OpId::neg, "b", {a});
    const ValueId c = Op(1, OpId::mul, "c", {b, w});
    const ValueId d = Op(1, OpId::mul, "d", {c, v});
    make_.Out(Op(2, OpId::neg, "e", {d}), "e");
  }

  PathSharing Sharing() {
    const Graph graph = PrepareGraph(make_.graph(), 1, *FindKernelLibrary("reference"));
    const Schedule schedule = FindOrder("serial")->Order(graph);
    LayoutOptions options;
    options.in_place = false;
    return SharingOf(graph, PlanLayout({{"train", &graph, &schedule}}, options), 0);
  }

  Graph& graph() { return make_.graph(); }

 private:
  void AddPath(const std::string& name, int64_t repetition, int64_t repetitions, PathId first) {
    Path path;
    path.name = name;
    path.repetition = repetition;
    path.repetitions = repetitions;
    path.first = first;
    make_.graph().paths.push_back(path);
  }
  ValueId Op(int path, OpId op, const std::string& name, std::vector<ValueId> inputs) {
    const ValueId value = make_.Op(op, name, std::move(inputs));
    make_.Producer(value).path = PathId(path);
    return value;
  }

  GraphMaker make_;
};

TEST(PathMemory, CountsWhatPathsHaveAndShare) {
  const PathSharing sharing = TwoPaths().Sharing();
  ASSERT_EQ(sharing.paths.size(), 2u);  // a repetition is no path of its own
  const PathMemory &first = sharing.paths[0], &second = sharing.paths[1];
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.repetitions, 1);
  EXPECT_EQ(first.parameter_bytes, kBytes);
  EXPECT_EQ(first.state_bytes, kBytes);  // v
  EXPECT_EQ(second.name, "second");
  EXPECT_EQ(second.repetitions, 2);
  EXPECT_EQ(second.parameter_bytes, 0);
  EXPECT_EQ(second.state_bytes, 2 * kBytes);  // v, w
  EXPECT_EQ(sharing.state_bytes, kBytes);     // v
  EXPECT_EQ(sharing.passed_bytes, kBytes);    // b
  // Each operator needs two values at once, and the plan has room for two.
  EXPECT_EQ(first.transient_bytes, 2 * kBytes);
  EXPECT_EQ(second.transient_bytes, 2 * kBytes);
  EXPECT_EQ(sharing.transient_bytes, 2 * kBytes);
}

// Names say nothing: a value called as another's workspace would be is not that workspace.
TEST(PathMemory, BuffersAreNotMatchedByName) {
  TwoPaths paths;
  for (Value& value : paths.graph().values) {
    if (value.name == "c") value.name = "a.workspace";
  }
  EXPECT_EQ(paths.Sharing().passed_bytes, kBytes);
}

TEST(PathMemory, OnePathSharesNothing) {
  GraphMaker make;
  Path only;
  only.name = "only";
  make.graph().paths.push_back(only);
  make.Out(make.Op(OpId::neg, "y", {make.Feed("x", {64})}), "y");
  const Graph graph = PrepareGraph(make.graph(), 1, *FindKernelLibrary("reference"));
  const Schedule schedule = FindOrder("serial")->Order(graph);
  const MemoryLayout layout = PlanLayout({{"train", &graph, &schedule}}, LayoutOptions());
  EXPECT_TRUE(SharingOf(graph, layout, 0).paths.empty());
}

}  // namespace
}  // namespace cgrun
