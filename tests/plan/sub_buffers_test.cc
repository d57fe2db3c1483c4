// Parts in place, by hand: which buffers lie in others, and where that is wrong or takes more.
#include "src/plan/sub_buffers.h"

#include <gtest/gtest.h>

#include "src/kernels/kernel.h"
#include "src/ops/concat.h"
#include "src/ops/slice.h"
#include "tests/support/compile_graph.h"
#include "tests/support/graph_maker.h"

namespace cgrun {
namespace {

constexpr int64_t kElements = 16;  // of a part: 64 bytes, to which buffers are aligned

Attributes Rows(int64_t axis = 0) { return Attributes::Of(ConcatAttributes{axis}); }

Attributes Cut(int64_t begin, int64_t end, int64_t step = 1) {
  return Attributes::Of(SliceAttributes{{0}, {begin}, {end}, {step}});
}

// A graph with a vector `x` that is fed and handed out: nothing is written over it.
class Parts : public testing::Test {
 protected:
  Parts() {
    x_ = make_.Feed("x", {kElements});
    make_.Out(x_, "x");
  }

  // Makes a vector as long as x, or `times` as long, from it.
  ValueId Made(const std::string& name, int64_t times = 1) {
    std::vector<ValueId> inputs(static_cast<size_t>(times), x_);
    if (times == 1) return make_.Op(OpId::exp, name, inputs);
    return make_.Op(OpId::exp, name, {make_.Op(OpId::concat, name + ".x", inputs, Rows())});
  }

  // The node called `long_one`, if there is one, runs beside the next one.
  BufferAssignment Assign(bool parts = true, const std::string& long_one = "") {
    prepared_ = PrepareGraph(make_.graph(), 1, *FindKernelLibrary("reference"));
    Schedule schedule = FindOrder("serial")->Order(prepared_);
    for (size_t i = 0; i + 1 < schedule.steps.size(); ++i) {
      if (prepared_.nodes[schedule.steps[i].node].name != long_one) continue;
      schedule.steps[i].length = 2;
      schedule.steps[i + 1].stream = 1;
    }
    return AssignBuffers(prepared_, schedule, {.sub_buffers = parts});
  }

  // Bytes from where `whole` begins to where `part` does; −1 where they are in different buffers.
  static int64_t Place(const BufferAssignment& assignment, ValueId part, ValueId whole) {
    if (assignment.of_value[part] != assignment.of_value[whole]) return -1;
    return assignment.offset[part] - assignment.offset[whole];
  }

  GraphMaker make_;
  Graph prepared_;
  ValueId x_;
};

TEST_F(Parts, OfAConcatLieInItsResult) {
  const ValueId a = Made("a"), b = Made("b");
  const ValueId y = make_.Op(OpId::concat, "y", {a, b}, Rows());
  make_.Out(make_.Op(OpId::exp, "z", {y}), "z");
  const BufferAssignment assignment = Assign();
  EXPECT_EQ(Place(assignment, a, y), 0);
  EXPECT_EQ(Place(assignment, b, y), kElements * 4);
  EXPECT_EQ(assignment.sub_buffers, 2);
  const SharedBuffer& buffer = assignment.buffers[assignment.of_value[y]];
  EXPECT_EQ(buffer.bytes, 2 * kElements * 4);
  EXPECT_EQ(buffer.lifespan.lower, 0);  // when a is made
  const BufferAssignment apart = Assign(false);
  EXPECT_EQ(Place(apart, a, y), -1);
  EXPECT_EQ(apart.sub_buffers, 0);
  EXPECT_EQ(assignment.in_place_bytes, apart.in_place_bytes + 2 * kElements * 4);
}

TEST_F(Parts, OfPartsLieInTheOutermost) {
  const ValueId a = Made("a"), b = Made("b"), c = Made("c");
  const ValueId ab = make_.Op(OpId::concat, "ab", {a, b}, Rows());
  const ValueId y = make_.Op(OpId::concat, "y", {c, ab}, Rows());
  make_.Out(make_.Op(OpId::exp, "z", {y}), "z");
  const BufferAssignment assignment = Assign();
  EXPECT_EQ(Place(assignment, c, y), 0);
  EXPECT_EQ(Place(assignment, ab, y), kElements * 4);
  EXPECT_EQ(Place(assignment, b, y), 2 * kElements * 4);
  EXPECT_EQ(assignment.sub_buffers, 4);
}

TEST_F(Parts, AreNotMovedWhereTheyAreReadBehindOrHandedOutOrFed) {
  const ValueId read = Made("read"), out = Made("out");
  make_.Out(out, "out");
  const ValueId y = make_.Op(OpId::concat, "y", {read, out, x_, Made("free")}, Rows());
  const ValueId z = make_.Op(OpId::exp, "z", {y});
  make_.Out(z, "z");
  make_.Out(make_.Op(OpId::exp, "late", {read}), "late");
  const BufferAssignment assignment = Assign();
  EXPECT_EQ(Place(assignment, read, y), -1);
  EXPECT_EQ(Place(assignment, out, y), -1);
  EXPECT_EQ(Place(assignment, x_, y), -1);
  EXPECT_EQ(assignment.sub_buffers, 1);
}

// From the join on the bytes are the whole's, whatever the other stream still does.
TEST_F(Parts, AreNotMovedWhereTheyAreReadBesideTheJoin) {
  const ValueId a = Made("a"), b = Made("b");
  const ValueId y = make_.Op(OpId::concat, "y", {a, b}, Rows());
  make_.Out(make_.Op(OpId::reduce_sum, "beside", {a}), "beside");
  make_.Out(make_.Op(OpId::exp, "z", {y}), "z");
  const BufferAssignment assignment = Assign(true, "y");
  EXPECT_EQ(Place(assignment, a, y), -1);
  EXPECT_EQ(Place(assignment, b, y), kElements * 4);
}

TEST_F(Parts, AreNotMovedWhereTheyAreJoinedTwiceOrNotAligned) {
  const ValueId twice = Made("twice"), a = Made("a"), short_x = make_.Feed("short", {3});
  make_.Out(short_x, "short");
  const ValueId odd = make_.Op(OpId::exp, "odd", {short_x});
  const ValueId y = make_.Op(OpId::concat, "y", {twice, twice, odd, a}, Rows());
  make_.Out(make_.Op(OpId::exp, "z", {y}), "z");
  const BufferAssignment assignment = Assign();
  EXPECT_EQ(Place(assignment, twice, y), -1);
  EXPECT_EQ(Place(assignment, odd, y), 2 * kElements * 4);
  EXPECT_EQ(Place(assignment, a, y), -1) << "it begins at 140 bytes";
}

TEST_F(Parts, AreNotMovedWhereTheResultWouldBeAliveInAFullerStep) {
  const ValueId early = Made("early");
  const ValueId large = Made("large", 32);  // 32 times as many bytes, gone before `late`
  const ValueId sum = make_.Op(OpId::reduce_sum, "sum", {large});
  const ValueId late = Made("late", 15);
  const ValueId y = make_.Op(OpId::concat, "y", {early, late}, Rows());
  make_.Out(make_.Op(OpId::reduce_sum, "z", {y}), "z");
  make_.Out(sum, "sum");
  EXPECT_EQ(Place(Assign(), early, y), -1);
}

TEST_F(Parts, ThatAreCutLieInWhatTheyAreCutFrom) {
  const ValueId whole = Made("whole", 3);
  const ValueId a = make_.Op(OpId::slice, "a", {whole}, Cut(0, kElements));
  const ValueId b = make_.Op(OpId::slice, "b", {whole}, Cut(kElements, 3 * kElements));
  const ValueId a2 = make_.Op(OpId::exp, "a2", {a});  // in place of a: b does not see it
  make_.Out(make_.Op(OpId::reduce_sum, "s", {a2}), "s");
  make_.Out(make_.Op(OpId::reduce_sum, "t", {b}), "t");
  const BufferAssignment assignment = Assign();
  EXPECT_EQ(Place(assignment, a, whole), 0);
  EXPECT_EQ(Place(assignment, a2, whole), 0);
  EXPECT_EQ(Place(assignment, b, whole), kElements * 4);
}

TEST_F(Parts, ThatAreCutAreCopiedWhereTheyOverlapOrMoreIsReadOrTheyHaveGaps) {
  const ValueId whole = Made("whole", 3);
  const ValueId a = make_.Op(OpId::slice, "a", {whole}, Cut(0, 2 * kElements));
  const ValueId b = make_.Op(OpId::slice, "b", {whole}, Cut(kElements, 3 * kElements));
  const ValueId read = Made("read", 2);
  const ValueId c = make_.Op(OpId::slice, "c", {read}, Cut(0, kElements));
  const ValueId sparse = Made("sparse", 2);
  const ValueId d = make_.Op(OpId::slice, "d", {sparse}, Cut(0, 2 * kElements, 2));
  for (const ValueId part : {a, b, c, d, read}) {
    const std::string name = make_.graph().values[part].name + ".sum";
    make_.Out(make_.Op(OpId::reduce_sum, name, {part}), name);
  }
  const BufferAssignment assignment = Assign();
  EXPECT_EQ(Place(assignment, a, whole), -1);
  EXPECT_EQ(Place(assignment, b, whole), -1);
  EXPECT_EQ(Place(assignment, c, read), -1);
  EXPECT_EQ(Place(assignment, d, sparse), -1);
}

TEST_F(Parts, OfRowsAreNoSpanOfBytes) {
  const ValueId rows = make_.Feed("rows", {2, kElements});
  make_.Out(rows, "rows");
  const ValueId a = make_.Op(OpId::exp, "a", {rows}), b = make_.Op(OpId::exp, "b", {rows});
  const ValueId y = make_.Op(OpId::concat, "y", {a, b}, Rows(1));
  make_.Out(make_.Op(OpId::exp, "z", {y}), "z");
  EXPECT_EQ(Assign().sub_buffers, 0);
}

}  // namespace
}  // namespace cgrun
