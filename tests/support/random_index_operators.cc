// Random operators that search, read and write at indices, and others of whole axes.
#include <string>

#include "src/ir/op_def.h"
#include "src/ops/arg_max.h"
#include "src/ops/compare.h"
#include "src/ops/cumsum.h"
#include "src/ops/gather.h"
#include "src/ops/infer.h"
#include "src/ops/mod.h"
#include "src/ops/resample.h"
#include "src/ops/tile.h"
#include "src/ops/top_k.h"
#include "src/ops/trilu.h"
#include "tests/support/random_operators.h"

namespace cgrun {

bool RandomOperators::EmitLogic() {
  const ValueId x = AnyValue(), y = AnyValueOfShape(ShapeOf(x));
  std::vector<ValueId> conditions;
  for (const char* is : {"less", "greater_or_equal"}) {
    if (!TryEmit(OpId::compare, Attributes::Of(CompareAttributes{is}), {x, y})) return false;
    conditions.push_back(Last());
    std::swap(conditions.front(), conditions.back());
  }
  if (!TryEmit(OpId::logical_not, {conditions[0]})) return false;
  const OpId op = dice_.Of<OpId>({OpId::logical_and, OpId::logical_or, OpId::logical_xor});
  return TryEmit(op, {Last(), conditions[1]}) && TryEmit(OpId::where, {Last(), x, y});
}

bool RandomOperators::EmitRemainder() {
  const ValueId x = AnyValue();
  HostTensor tensor(dtype_, Shape{1});
  tensor.Set(0, dice_.Of<double>({1, 0.5, -1.5, 0}));
  const ValueId constant = builder_.AddConstant(std::move(tensor), "divisor");
  return TryEmit(OpId::mod, Attributes::Of(ModAttributes{dice_.OneIn(2)}), {x, constant});
}

bool RandomOperators::EmitCumsum() {
  const ValueId x = AnyValue();
  const CumsumAttributes sums{AnyPlainAxis(x), dice_.OneIn(2), dice_.OneIn(2)};
  return sums.axis >= 0 && TryEmit(OpId::cumsum, Attributes::Of(sums), {x});
}

bool RandomOperators::EmitTriangle() {
  const ValueId x = AnyMatrix();
  const TriluAttributes triangle{dice_.OneIn(2), dice_.Between(-1, 1)};
  return x.valid() && TryEmit(OpId::trilu, Attributes::Of(triangle), {x});
}

bool RandomOperators::EmitRepetition() {
  const ValueId x = AnyValue();
  if (dice_.OneIn(2)) {
    TileAttributes tile{IntList(static_cast<size_t>(ShapeOf(x).rank()), 1)};
    const int axis = AnyPlainAxis(x);
    if (axis >= 0) tile.repeats[static_cast<size_t>(axis)] = dice_.Between(1, 3);
    return TryEmit(OpId::tile, Attributes::Of(tile), {x});
  }
  ExpandAttributes expand;
  for (const Dim& dim : ShapeOf(x)) {
    expand.sizes.push_back(dim == Dim(1) ? dice_.Between(0, 3) : 1);
  }
  return TryEmit(OpId::expand, Attributes::Of(expand), {x});
}

bool RandomOperators::EmitResample() {
  const ValueId x = AnyValue();
  ResampleAttributes resample;
  resample.axis = AnyPlainAxis(x);
  resample.size = dice_.Between(1, 5);
  resample.mode = dice_.Of<std::string>({"nearest", "linear", "cubic"});
  resample.antialias = dice_.OneIn(3);
  return resample.axis >= 0 && TryEmit(OpId::resample, Attributes::Of(resample), {x});
}

bool RandomOperators::EmitSearch() {
  const ValueId x = AnyValue();
  const int64_t axis = AnyPlainAxis(x);
  if (axis < 0) return false;
  const ArgMaxAttributes search{axis, true, dice_.OneIn(2)};
  const OpId op = dice_.Of<OpId>({OpId::arg_max, OpId::arg_min, OpId::top_k});
  const Attributes attributes = op == OpId::top_k
                                    ? Attributes::Of(TopKAttributes{1, axis, dice_.OneIn(2)})
                                    : Attributes::Of(search);
  if (!TryEmit(op, attributes, {x})) return false;
  const ValueId index = Last();
  if (!TryEmit(OpId::gather_elements, Attributes::Of(GatherElementsAttributes{axis}), {x, index})) {
    return false;
  }
  const ValueId other = AnyValueOfShape(ShapeOf(x)), found = Last();
  const std::string reduction = dice_.Of<std::string>({"none", "add", "mul", "min", "max"});
  const ScatterElementsAttributes scatter{axis, reduction};
  return TryEmit(OpId::scatter_elements, Attributes::Of(scatter), {other, index, found});
}

ValueId RandomOperators::AnyPlaces(const Shape& shape, int64_t size) {
  HostTensor places(DType::kI64, shape);
  for (int64_t i = 0; i < places.elements(); ++i) {
    places.Set(i, static_cast<double>(dice_.Between(-size, size)));
  }
  return builder_.AddConstant(std::move(places), "places");
}

bool RandomOperators::EmitGather() {
  const ValueId x = AnyValue();
  const int axis = AnyPlainAxis(x);
  if (axis < 0) return false;
  const Shape shape = dice_.OneIn(2) ? Shape{dice_.Between(1, 3)} : Shape{2, 2};
  return TryEmit(OpId::gather, Attributes::Of(GatherAttributes{axis}),
                 {x, AnyPlaces(shape, ShapeOf(x)[axis].size)});
}

bool RandomOperators::EmitBlocks() {
  const ValueId x =
      AnyValueWhere([&](ValueId id) { return ShapeOf(id).rank() > 0 && ShapeOf(id).IsBound(); });
  if (!x.valid()) return false;
  const ValueId index = AnyPlaces({2, 1}, ShapeOf(x)[0].size);
  if (!TryEmit(OpId::gather_nd, Attributes::Of(GatherNdAttributes{}), {x, index})) return false;
  const std::string reduction = dice_.Of<std::string>({"none", "add", "mul", "min", "max"});
  return TryEmit(OpId::scatter_nd, Attributes::Of(ScatterNdAttributes{0, reduction}),
                 {x, index, Last()});
}

}  // namespace cgrun
