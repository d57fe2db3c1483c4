// Each rule of algebra by itself, on graphs that are drawn by chance: the interpreter gives the
// same numbers before and after it, NaN, infinities and both zeros among them where the rule is
// exact, and no node costs more. A rule without a case, and a case whose rule does not fire, fail.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/random.h"
#include "src/ops/batch_norm.h"
#include "src/ops/cast.h"
#include "src/ops/compare.h"
#include "src/ops/dropout.h"
#include "src/ops/flatten.h"
#include "src/ops/matmul.h"
#include "src/ops/reduce.h"
#include "src/ops/reshape.h"
#include "src/ops/slice.h"
#include "src/ops/transpose.h"
#include "src/passes/algebra.h"
#include "tests/passes/draft.h"
#include "tests/passes/pass_test.h"
#include "tests/support/dice.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

using passes::AlgebraRule;
using Violations = std::vector<std::string>;

constexpr uint64_t kSeeds = kSanitized ? 20 : 60;  // of each case

// op(x, constant) or op(constant, x), where the constant is operand `at`.
void Beside(Draft& d, OpId op, double number, size_t at) {
  const Shape shape = d.AnyShape(0, 3);
  std::vector<ValueId> operands(2, d.Input(shape));
  operands[at] = d.Filled(d.Repeatable(shape), number);
  d.Finish(d.Emit(op, operands));
}

size_t AnyOperand(Draft& d) { return d.dice.OneIn(2) ? 0 : 1; }
double AnyZero(Draft& d) { return d.dice.OneIn(2) ? 0.0 : -0.0; }

// Returns a view with the same elements: one axis, an axis of size 1 more, or the axes reversed.
ValueId Reshaped(Draft& d, ValueId x) {
  Shape shape = d.ShapeOf(x);
  const int64_t how = d.dice.Between(0, 2);
  if (how == 0) shape = Shape{shape.ElementsDim()};
  if (how == 1) shape.dims().push_back(Dim(1));
  if (how == 2) std::ranges::reverse(shape.dims());
  return d.Emit(OpId::reshape, {x}, ReshapeAttributes{shape});
}

ValueId Flattened(Draft& d, ValueId x) {
  const int rank = d.ShapeOf(x).rank();
  return d.Emit(OpId::flatten, {x}, FlattenAttributes{d.dice.Between(-rank, rank)});
}

ValueId AnyView(Draft& d, ValueId x) {
  return d.Share(d.dice.OneIn(2) ? Reshaped(d, x) : Flattened(d, x));
}

// Axes as a model file may write them: some from the end.
IntList Written(Draft& d, const std::vector<int>& axes, int rank) {
  IntList written(axes.begin(), axes.end());
  for (int64_t& axis : written) axis -= d.dice.OneIn(3) ? rank : 0;
  return written;
}

ValueId Transposed(Draft& d, ValueId x, const std::vector<int>& perm) {
  return d.Emit(OpId::transpose, {x}, TransposeAttributes{Written(d, perm, d.ShapeOf(x).rank())});
}

std::vector<int> Unmoved(int rank, int exchanged_from_last = 0) {
  std::vector<int> perm;
  for (int axis = 0; axis < rank; ++axis) perm.push_back(axis);
  if (exchanged_from_last > 0) std::reverse(perm.end() - exchanged_from_last, perm.end());
  return perm;
}

void TransposeTwice(Draft& d) {
  const ValueId x = d.Input(d.AnyShape(1, 4));
  const int rank = d.ShapeOf(x).rank();
  const ValueId once = d.Share(Transposed(d, x, d.AnyPermutation(rank)));
  d.Finish(Transposed(d, once, d.AnyPermutation(rank)));
}

// A factor of a product: the attribute says that it is read transposed, and where it is `turned`
// its source lies the other way round.
ValueId Factor(Draft& d, Shape::Dims stack, Dim rows, Dim columns, bool read_transposed,
               bool turned) {
  if (read_transposed) std::swap(rows, columns);
  if (turned) std::swap(rows, columns);
  stack.push_back(rows);
  stack.push_back(columns);
  const ValueId x = d.Input(Shape(stack));
  return turned ? d.Share(Transposed(d, x, Unmoved(d.ShapeOf(x).rank(), 2))) : x;
}

// All four transposes, of matrices and of stacks of them, on either side or both; of a stack that
// shares one matrix, that matrix is turned at least.
void ProductOfTransposed(Draft& d) {
  const int64_t stacks = d.dice.Between(0, 3), batch = d.dice.Between(0, 2);
  const Shape::Dims stack = d.AnyShape(1, 2).dims();
  const Shape::Dims of_a = stacks & 1 ? stack : Shape::Dims();
  const Shape::Dims of_b = stacks & 2 ? stack : Shape::Dims();
  const bool may_depend = stacks == 0;  // on the batch: of each shape one axis does at most
  const Dim rows(d.dice.Between(1, 4), may_depend && batch == 1), columns(d.dice.Between(1, 4));
  const Dim depth(d.dice.Between(1, 4), may_depend && batch == 2);
  const bool turns_a = d.dice.OneIn(2), turns_b = !turns_a || stacks == 1 || d.dice.OneIn(2);
  const MatmulAttributes flags{d.dice.OneIn(2), d.dice.OneIn(2)};
  const ValueId a = Factor(d, of_a, rows, depth, flags.transpose_a, turns_a);
  const ValueId b = Factor(d, of_b, depth, columns, flags.transpose_b, turns_b);
  d.Finish(d.Emit(OpId::matmul, {a, b}, flags));
}

// One operand is repeated along some axes, which the other one has.
template <class T = NoAttributes>
void Repeat(Draft& d, OpId op, T attributes = {}) {
  const Shape whole = d.AnyShape(1, 4);
  Shape once = whole, other = whole;
  for (int axis = 0; axis < whole.rank(); ++axis) {
    const int64_t which = d.dice.Between(0, 3);
    if (which == 0) other[axis] = Dim(1);
    if (which > 1) once[axis] = Dim(1);
  }
  const BroadcastAttributes to_whole{whole, false};
  const ValueId x = d.Share(d.Emit(OpId::broadcast, {d.Input(once)}, to_whole));
  ValueId y = d.Input(other);
  if (d.dice.OneIn(3)) y = d.Share(d.Emit(OpId::broadcast, {y}, to_whole));
  d.Finish(d.Emit(op, d.dice.OneIn(2) ? std::vector{x, y} : std::vector{y, x}, attributes));
}

void RepeatBeforeCompare(Draft& d) {
  const auto is = d.dice.Of<std::string>({"less", "equal", "not_equal", "greater_or_equal"});
  Repeat(d, OpId::compare, CompareAttributes{is});
}

// The gradient of what stands before a batch_norm, summed over each channel.
void SumBehindNorm(Draft& d) {
  if (d.dtype == DType::kBF16) d.dtype = DType::kF32;  // rounding is not little beside the sum
  Shape shape = d.AnyShape(2, 4);
  shape[1] = Dim(d.dice.Between(1, 3));
  const Shape channels{shape[1]};
  const Attributes norm = Attributes::Of(BatchNormAttributes());
  const ValueId x = d.Input(shape), dy = d.Input(shape), scale = d.Input(channels);
  const std::vector<ValueId> y = d.builder.AddNode(
      OpId::batch_norm, norm,
      {x, scale, d.Filled(channels, 0), d.Filled(channels, 0), d.Filled(channels, 1)}, "norm", {});
  ValueId dx =
      d.builder.AddNode(OpId::batch_norm_grad, norm, {x, dy, scale, y[3], y[4]}, "dx", {})[0];
  d.Share(dx);
  if (d.dice.OneIn(3)) dx = d.Emit(OpId::cast, {dx}, CastAttributes{DType::kF64});
  std::vector<int> axes = Unmoved(shape.rank());
  if (d.dice.OneIn(2)) axes.erase(axes.begin() + 1);
  d.Finish(d.Emit(OpId::reduce_sum, {dx},
                  ReduceAttributes{Written(d, axes, shape.rank()), d.dice.OneIn(2)}));
}

// The gradients of two or three slices of one tensor, which touch, added up from either end.
void GradientsOfParts(Draft& d) {
  const int axis = static_cast<int>(d.dice.Between(0, 2));
  Shape shape = d.AnyShape(3, 4);
  shape[0].batch = shape[0].batch && axis > 0;
  const int64_t begin = d.dice.Between(0, 1);
  std::vector<int64_t> ends = {begin};
  for (int64_t parts = d.dice.Between(2, 3); parts > 0; --parts) {
    ends.push_back(ends.back() + d.dice.Between(1, 3));
  }
  const int64_t size = ends.back() + d.dice.Between(0, 1);
  shape[axis] = Dim(size);
  std::vector<ValueId> grads;
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    Shape part = shape;
    part[axis] = Dim(ends[i + 1] - ends[i]);
    const auto written = [&](int64_t position) {
      return position < size && d.dice.OneIn(3) ? position - size : position;
    };
    const SliceGradAttributes attributes{
        Written(d, {axis}, shape.rank()), {written(ends[i])}, {written(ends[i + 1])}, {}, shape};
    grads.push_back(d.Emit(OpId::slice_grad, {d.Input(part)}, attributes));
  }
  if (d.dice.OneIn(2)) std::ranges::reverse(grads);
  ValueId sum = grads[0];
  for (size_t i = 1; i < grads.size(); ++i) {
    sum = d.Emit(OpId::add,
                 d.dice.OneIn(2) ? std::vector{sum, grads[i]} : std::vector{grads[i], sum});
  }
  d.Finish(sum);
}

struct Case {
  std::string_view rule;
  void (*draw)(Draft&);
  // These members are for inexact rules: the numbers on which a rule holds, and how far off it is,
  // as a part of the largest number that there is.
  Numbers holds_for = Numbers::kAny;
  double tolerance = 0;
};

const Case kCases[] = {
    {"identity(x) = x",
     [](Draft& d) { d.Finish(d.Emit(OpId::identity, {d.Input(d.AnyShape(0, 4))})); }},
    {"x + (-0) = x", [](Draft& d) { Beside(d, OpId::add, -0.0, AnyOperand(d)); }},
    {"x + (+0) = x", [](Draft& d) { Beside(d, OpId::add, 0.0, AnyOperand(d)); }},
    {"slice_grad(x) + slice_grad(y) = concat(x, y) + (+0)", GradientsOfParts},
    {"x - (+0) = x", [](Draft& d) { Beside(d, OpId::sub, 0.0, 1); }},
    {"x - (-0) = x", [](Draft& d) { Beside(d, OpId::sub, -0.0, 1); }},
    {"x * 1 = x", [](Draft& d) { Beside(d, OpId::mul, 1, AnyOperand(d)); }},
    {"x * 0 = 0", [](Draft& d) { Beside(d, OpId::mul, AnyZero(d), AnyOperand(d)); },
     Numbers::kFinite},
    {"x / 1 = x", [](Draft& d) { Beside(d, OpId::div, 1, 1); }},
    {"0 / x = 0", [](Draft& d) { Beside(d, OpId::div, AnyZero(d), 0); }, Numbers::kNotZero},
    {"-(-x) = x",
     [](Draft& d) {
       d.Finish(d.Emit(OpId::neg, {d.Share(d.Emit(OpId::neg, {d.Input(d.AnyShape(0, 4))}))}));
     }},
    {"reshape(x) = x",
     [](Draft& d) {
       const Shape shape = d.AnyShape(0, 4);
       d.Finish(d.Emit(OpId::reshape, {d.Input(shape)}, ReshapeAttributes{shape}));
     }},
    {"reshape(reshape(x)) = reshape(x)",
     [](Draft& d) { d.Finish(Reshaped(d, AnyView(d, d.Input(d.AnyShape(0, 4))))); }},
    {"flatten(x) = x",
     [](Draft& d) {
       const int64_t axis = d.dice.OneIn(2) ? 1 : -1;
       d.Finish(d.Emit(OpId::flatten, {d.Input(d.AnyShape(2, 2))}, FlattenAttributes{axis}));
     }},
    {"flatten(reshape(x)) = reshape(x)",
     [](Draft& d) { d.Finish(Flattened(d, AnyView(d, d.Input(d.AnyShape(0, 4))))); }},
    {"cast(x) = x",
     [](Draft& d) {
       d.Finish(d.Emit(OpId::cast, {d.Input(d.AnyShape(0, 4))}, CastAttributes{d.dtype}));
     }},
    {"sum(batch_norm_grad(x)) = 0", SumBehindNorm, Numbers::kFinite, 1e-5},
    {"dropout(x) = x",
     [](Draft& d) {
       d.Finish(
           d.Emit(OpId::dropout, {d.Input(d.AnyShape(0, 4))}, DropoutAttributes{0.5, 7, false}));
     }},
    {"transpose(x) = x",
     [](Draft& d) {
       const ValueId x = d.Input(d.AnyShape(0, 4));
       d.Finish(Transposed(d, x, Unmoved(d.ShapeOf(x).rank())));
     }},
    {"transpose(transpose(x)) = transpose(x)", TransposeTwice},
    {"matmul(transpose(a), b) = matmul(a, b)", ProductOfTransposed},
    {"repeat(x) + y = x + y", [](Draft& d) { Repeat(d, OpId::add); }},
    {"repeat(x) - y = x - y", [](Draft& d) { Repeat(d, OpId::sub); }},
    {"repeat(x) * y = x * y", [](Draft& d) { Repeat(d, OpId::mul); }},
    {"repeat(x) / y = x / y", [](Draft& d) { Repeat(d, OpId::div); }},
    {"pow(repeat(x), y) = pow(x, y)", [](Draft& d) { Repeat(d, OpId::pow); }},
    {"min(repeat(x), y) = min(x, y)", [](Draft& d) { Repeat(d, OpId::min); }},
    {"max(repeat(x), y) = max(x, y)", [](Draft& d) { Repeat(d, OpId::max); }},
    {"compare(repeat(x), y) = compare(x, y)", RepeatBeforeCompare},
};

const AlgebraRule& RuleOf(const Case& c) {
  const auto rules = passes::AlgebraRules();
  const auto it = std::ranges::find(rules, c.rule, &AlgebraRule::name);
  CGRUN_CHECK(it != rules.end()) << "no rule says " << c.rule;
  return *it;
}

// The rule until it does not fire, and what is dead then.
bool Simplify(Graph& graph, const AlgebraRule& rule) {
  bool fired = false;
  for (int round = 0; round < 4 && passes::ApplyRules({&rule, 1}, true, graph); ++round) {
    fired = true;
  }
  EXPECT_FALSE(passes::ApplyRules({&rule, 1}, true, graph)) << "it goes on for ever";
  passes::EliminateDeadCode(graph, {*FindKernelLibrary("reference")});
  return fired;
}

double AnyNumber(Dice& dice, Numbers numbers) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kTiny = std::numeric_limits<float>::denorm_min();
  if (numbers == Numbers::kAny && dice.OneIn(3)) {
    return dice.Of<double>({std::nan(""), kInf, -kInf, 0.0, -0.0, 1, kTiny, -kTiny});
  }
  const double number = static_cast<double>(dice.Between(-(1 << 23), 1 << 23)) / (1 << 21);
  return numbers == Numbers::kNotZero && number == 0 ? 1 : number;
}

std::map<std::string, HostTensor> AnyInputs(const Graph& bound, Dice& dice, Numbers numbers) {
  std::map<std::string, HostTensor> inputs;
  for (const Value& value : bound.values) {
    if (value.role != Role::kPlaceholder) continue;
    HostTensor tensor(value.type.dtype, value.type.shape);
    for (int64_t i = 0; i < tensor.elements(); ++i) tensor.Set(i, AnyNumber(dice, numbers));
    inputs.emplace(value.name, std::move(tensor));
  }
  return inputs;
}

std::map<ValueId, HostTensor> Evaluate(const Graph& bound,
                                       const std::map<std::string, HostTensor>& inputs) {
  std::map<ValueId, HostTensor> sources;
  for (ValueId id : bound.values.ids()) {
    const Value& value = bound.values[id];
    if (value.role == Role::kPlaceholder) sources.emplace(id, inputs.at(value.name));
  }
  return Interpret(bound, *FindKernelLibrary("reference"), std::move(sources));
}

// Returns whether the bits are the same, or both are NaN.
bool IsSame(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

// Returns the largest finite size.
double LargestOf(const std::map<ValueId, HostTensor>& values) {
  double largest = 0;
  for (const auto& [id, tensor] : values) {
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      const double size = std::abs(tensor.At(i));
      if (std::isfinite(size)) largest = std::max(largest, size);
    }
  }
  return largest;
}

// The outputs before and after, element by element.
template <class F>
bool AllOutputs(const Graph& before, const Graph& after, Dice& dice, Numbers numbers, F accepts) {
  const auto inputs = AnyInputs(before, dice, numbers);
  const auto were = Evaluate(before, inputs), are = Evaluate(after, inputs);
  const double largest = LargestOf(were);
  for (size_t o = 0; o < before.outputs.size(); ++o) {
    const HostTensor& a = were.at(before.outputs[o].value);
    const HostTensor& b = are.at(after.outputs[o].value);
    EXPECT_EQ(a.dtype(), b.dtype());
    EXPECT_EQ(a.shape(), b.shape());
    for (int64_t i = 0; i < a.elements(); ++i) {
      if (!accepts(a.At(i), b.At(i), largest)) return false;
    }
  }
  return true;
}

struct Cost {
  int64_t flops = 0;
  int64_t bytes = 0;  // that are read and written
};

Cost CostOfAll(const Graph& bound) {
  Cost cost;
  for (const Node& node : bound.nodes) {
    const NodeSignature signature = SignatureOf(bound, node);
    cost.flops += CostOf(signature).flops;
    if (!GetOpDef(node.op).view) cost.bytes += OperandBytes(signature);
  }
  return cost;
}

// Draws the case's graph, applies its rule, and hands both forms and the dice to `check`.
template <class F>
void Try(const Case& c, uint64_t seed, F check) {
  Draft d(RandomKey(seed, c.rule));
  c.draw(d);
  ASSERT_EQ(VerifyGraph(d.graph), Violations());
  SCOPED_TRACE(std::string(c.rule) + ", seed " + std::to_string(seed) + "\n" + ToString(d.graph));
  Graph after = d.graph;
  ASSERT_TRUE(Simplify(after, RuleOf(c))) << "it does not fire";
  ASSERT_EQ(VerifyGraph(after), Violations());
  const int64_t batch = d.dice.Between(1, 3);
  check(BindBatch(d.graph, batch), BindBatch(after, batch), d);
}

template <class F>
void TryAll(F check) {
  for (const Case& c : kCases) {
    for (uint64_t seed = 0; seed < kSeeds && !testing::Test::HasFailure(); ++seed) {
      Try(c, seed,
          [&](const Graph& before, const Graph& after, Draft& d) { check(c, before, after, d); });
    }
  }
}

TEST(AlgebraRules, EachHasANameAReasonAndACase) {
  std::set<std::string_view> names;
  for (const AlgebraRule& rule : passes::AlgebraRules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name << " stands twice";
    EXPECT_NE(rule.reason, "") << rule.name;
    EXPECT_EQ(std::ranges::count(kCases, rule.name, &Case::rule), 1) << rule.name;
  }
  for (const Case& c : kCases) {
    const bool holds_always = c.holds_for == Numbers::kAny && c.tolerance == 0;
    EXPECT_TRUE(holds_always || !RuleOf(c).exact) << c.rule;
  }
}

TEST(AlgebraRules, KeepTheNumbersForWhichTheyHold) {
  TryAll([](const Case& c, const Graph& before, const Graph& after, Draft& d) {
    const auto accepts = [&, exact = RuleOf(c).exact](double a, double b, double largest) {
      return IsSame(a, b) || (!exact && std::abs(a - b) <= c.tolerance * largest);
    };
    EXPECT_TRUE(AllOutputs(before, after, d.dice, c.holds_for, accepts)) << ToString(after);
  });
}

bool KeepsEveryBit(const Graph& before, const Graph& after, Dice& dice) {
  return AllOutputs(before, after, dice, Numbers::kAny,
                    [](double a, double b, double) { return IsSame(a, b); });
}

// On graphs that are made for inexact ones, too, which are nearly right for some exact ones.
TEST(AlgebraRules, WithoutLeaveKeepEveryBit) {
  TryAll([](const Case&, const Graph& before, const Graph&, Draft& d) {
    Graph after = before;
    passes::ApplyRules(passes::AlgebraRules(), false, after);
    EXPECT_EQ(VerifyGraph(after), Violations());
    EXPECT_TRUE(KeepsEveryBit(before, after, d.dice)) << ToString(after);
  });
}

// Else they could be exact.
TEST(AlgebraRules, InexactOnesNeedLeave) {
  std::set<std::string_view> changing;
  TryAll([&](const Case& c, const Graph& before, const Graph& after, Draft& d) {
    if (!RuleOf(c).exact && !KeepsEveryBit(before, after, d.dice)) changing.insert(c.rule);
  });
  for (const Case& c : kCases) {
    EXPECT_TRUE(RuleOf(c).exact || changing.contains(c.rule)) << c.rule;
  }
}

// It falls, but for views, which cost nothing, and where others read what is spared.
TEST(AlgebraRules, RaiseNoCost) {
  TryAll([](const Case& c, const Graph& before, const Graph& after, Draft& d) {
    const Cost was = CostOfAll(before), is = CostOfAll(after);
    EXPECT_LE(is.flops, was.flops);
    EXPECT_LE(is.bytes, was.bytes);
    if (d.is_shared || GetOpDef(RuleOf(c).op).view) return;
    EXPECT_LT(is.flops + is.bytes, was.flops + was.bytes);
  });
}

}  // namespace
}  // namespace cgrun
