// Schedules of choices against the graphs that their plans give; the search against all choices.
#include "src/budget/kept_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "src/budget/kept_schedule.h"
#include "src/passes/pass.h"
#include "tests/support/compile_graph.h"
#include "tests/support/dice.h"
#include "tests/support/graph_maker.h"
#include "tests/support/random_graph.h"

namespace cgrun {
namespace {

using Strings = std::vector<std::string>;

constexpr double kAnyTime = std::numeric_limits<double>::infinity();

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

std::vector<Bytes> BytesOf(const Graph& graph, const Schedule& schedule) {
  return TransientBytes(graph, schedule);
}

Bytes PeakOf(const std::vector<Bytes>& bytes) { return *std::ranges::max_element(bytes); }

Graph With(const RematPlan& plan, const Graph& graph) {
  Graph changed = graph;
  passes::Rematerialise(changed, {Reference(), false, &plan});
  return changed;
}

// A chain there and back: each step back reads what the step there gave. The exponentials take
// longer, by their kernels' estimates.
struct ThereAndBack {
  explicit ThereAndBack(int steps) {
    ValueId x = make.Feed("x", {1000});
    std::vector<ValueId> there;
    for (int i = 0; i < steps; ++i) {
      x = make.Op(i % 3 == 1 ? OpId::exp : OpId::sigmoid, "there" + std::to_string(i), {x});
      there.push_back(x);
    }
    make.phase = Phase::kBackward;
    for (int i = steps; i-- > 0;) {
      const auto k = static_cast<size_t>(i);
      x = make.Op(OpId::mul, "back" + std::to_string(i), {x, there[k]});
    }
    make.Out(x, "out");
    graph = PrepareGraph(make.graph(), 1, Reference());
    for (Node& node : graph.nodes) {
      node.kernel->is_measured = true;
      node.kernel->seconds = node.op == OpId::exp ? 3 : 1;
    }
    schedule = FindOrder("serial")->Order(graph);
  }

  GraphMaker make;
  Graph graph;
  Schedule schedule;
};

TEST(KeptSchedule, IsThatOfTheGraphWithItsPlan) {
  int with_second_runs = 0, for_each = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Graph graph = PrepareGraph(MakeRandomGraph(seed), 3, Reference());
    const Schedule schedule = FindOrder("serial")->Order(graph);
    KeptSchedule held(graph, schedule, Reference(), 1, {});
    ASSERT_TRUE(held.Make(kAnyTime));
    EXPECT_EQ(held.CountBytes(), BytesOf(graph, schedule)) << "all is held";
    EXPECT_TRUE(held.Plan().empty());
    Dice dice(seed);
    for (int round = 0; round < 5; ++round) {
      for (ValueId id : held.choices()) {
        const Keeping keeping = static_cast<Keeping>(dice.Between(0, 2));
        for_each += keeping == Keeping::kRecomputedForEach;
        held.Set(id, keeping);
      }
      if (!held.Make(kAnyTime)) continue;
      const Graph again = With(held.Plan(), graph);
      const Schedule longer = held.ScheduleOfPlan();
      with_second_runs += again.nodes.size() > graph.nodes.size();
      ASSERT_EQ(VerifyGraph(again), Strings()) << seed;
      ASSERT_EQ(VerifySchedule(again, longer), Strings()) << seed;
      ASSERT_EQ(held.CountBytes(), BytesOf(again, longer)) << seed;
      ASSERT_NEAR(held.seconds(), SecondsForLess(again), 1e-9) << seed;
      EXPECT_EQ(held.Make(held.seconds() / 2), held.seconds() == 0);
    }
  }
  EXPECT_GT(with_second_runs, 20);
  EXPECT_GT(for_each, 20);
}

TEST(KeptSchedule, ReadsNoStateThatHasChanged) {
  for (const bool changes : {false, true}) {
    GraphMaker make;
    const ValueId w = make.State("w", {1000});
    const ValueId y = make.Op(OpId::neg, "y", {w});
    ValueId x = make.Op(OpId::exp, "x", {y});
    if (changes) make.Update(w, make.Op(OpId::neg, "next", {w}));
    for (int i = 0; i < 12; ++i) x = make.Op(OpId::exp, "x" + std::to_string(i), {x});
    make.Out(make.Op(OpId::mul, "out", {x, y}), "out");
    const Graph graph = PrepareGraph(make.graph(), 1, Reference());
    KeptSchedule held(graph, FindOrder("serial")->Order(graph), Reference(), 1, {});
    held.Set(graph.FindValue("y"), Keeping::kRecomputed);
    EXPECT_EQ(held.Make(kAnyTime), !changes);
  }
}

TEST(KeptSchedule, ChoosesAsAGraphHas) {
  const ThereAndBack model(12);
  KeptSchedule held(model.graph, model.schedule, Reference(), 1, {});
  for (const char* name : {"there2", "there1"}) {
    held.Set(model.graph.FindValue(name), Keeping::kRecomputed);
  }
  ASSERT_TRUE(held.Make(kAnyTime));
  const std::vector<Bytes> bytes = held.CountBytes();
  KeptSchedule same(model.graph, model.schedule, Reference(), 1, {});
  same.ChooseAsIn(With(held.Plan(), model.graph));
  ASSERT_TRUE(same.Make(kAnyTime));
  EXPECT_GT(same.seconds(), 0);
  EXPECT_EQ(same.seconds(), held.seconds());
  EXPECT_EQ(same.CountBytes(), bytes);
}

// The least time with which at most so many bytes are alive, among all choices.
double LeastSeconds(const ThereAndBack& model, Bytes most) {
  KeptSchedule held(model.graph, model.schedule, Reference(), 1, {});
  if (!held.Make(kAnyTime)) return 0;
  const std::vector<ValueId> choices = held.wanted();
  double least = kAnyTime;
  int64_t count = 1;
  for (size_t i = 0; i < choices.size(); ++i) count *= 3;
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number;
    for (ValueId id : choices) {
      held.Set(id, static_cast<Keeping>(rest % 3));
      rest /= 3;
    }
    if (!held.Make(least)) continue;
    if (PeakOf(held.CountBytes()) > most) continue;
    least = std::min(least, held.seconds());
  }
  return least;
}

TEST(SearchKept, FindsTheBestChoices) {
  const ThereAndBack model(10);
  const Bytes peak = PeakOf(BytesOf(model.graph, model.schedule));
  KeptSchedule held(model.graph, model.schedule, Reference(), 1, {});
  for (ValueId id : held.choices()) held.Set(id, Keeping::kRecomputedForEach);
  ASSERT_TRUE(held.Make(kAnyTime));
  const Graph start = With(held.Plan(), model.graph);
  const Schedule schedule = held.ScheduleOfPlan();
  for (const Bytes less : {4032, 2 * 4032, 3 * 4032}) {
    const double least = LeastSeconds(model, peak - less);
    ASSERT_GT(least, 0);
    ASSERT_LT(least, SecondsForLess(start));
    const auto found =
        SearchKept(start, schedule, Reference(), {peak - less, 1, {}, /*nodes=*/1'000'000});
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->seconds, least);
    EXPECT_EQ(ToString(found->graph), ToString(model.graph));
    const Graph again = With(found->remat, found->graph);
    EXPECT_EQ(VerifySchedule(again, found->schedule), Strings());
    EXPECT_LE(PeakOf(BytesOf(again, found->schedule)), peak - less);
    EXPECT_EQ(SecondsForLess(again), least);
  }
}

TEST(SearchKept, FindsNothingWhereNothingIsBetter) {
  const ThereAndBack model(10);
  EXPECT_FALSE(SearchKept(model.graph, model.schedule, Reference(), {1 << 30, 1, {}, 100'000}));
}

}  // namespace
}  // namespace cgrun
