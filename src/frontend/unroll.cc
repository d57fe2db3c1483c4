// Unroller: slices, uses, and a concatenation of what they give.
#include "src/frontend/unroll.h"

#include <utility>

#include "src/model/expand_blocks.h"
#include "src/ops/concat.h"
#include "src/ops/reshape.h"
#include "src/ops/slice.h"

namespace cgrun {
namespace {

Shape WithoutAxis(Shape shape, int axis) {
  shape.dims().erase(shape.dims().begin() + axis);
  return shape;
}

Shape WithAxis(Shape shape, int axis) {
  shape.dims().insert(shape.dims().begin() + axis, Dim(1));
  return shape;
}

}  // namespace

std::optional<Unroller::Values> Unroller::Run(const Values& inputs, const Use& use) {
  if (!CheckAxis(inputs[0])) return std::nullopt;
  const int64_t count = TypeOf(inputs[0]).shape[axis_].size;
  Values states(inputs.begin() + 1, inputs.end()), results;
  for (int64_t i = 0; i < count; ++i) {
    Values given = {At(inputs[0], i)};
    given.insert(given.end(), states.begin(), states.end());
    const auto outputs = use(LabelAt(i), given);
    if (!outputs || outputs->empty()) return std::nullopt;
    auto next = NextStates(*outputs, states);
    if (!next || !CheckResult(outputs->front())) return std::nullopt;
    states = std::move(*next);
    results.push_back(outputs->front());
  }
  Values all = {Stack(results)};
  all.insert(all.end(), states.begin(), states.end());
  return all;
}

bool Unroller::CheckAxis(ValueId sequence) {
  const Value& value = builder_.graph().values[sequence];
  const Shape& shape = value.type.shape;
  const std::string what = "'" + value.name + "' is " + value.type.ToString();
  if (op_.unroll->value >= shape.rank()) {
    diagnostics_.Error(op_.unroll->mark,
                       what + ": it has no axis " + std::to_string(op_.unroll->value),
                       "axis 0 is the batch; a sequence [N, length] has its steps on axis 1");
    return false;
  }
  axis_ = static_cast<int>(op_.unroll->value);
  const bool fixed = !shape[axis_].batch;
  if (fixed && shape[axis_].size <= kMaxExpandedOps) return true;
  diagnostics_.Error(op_.unroll->mark,
                     what + ": axis " + std::to_string(axis_) +
                         (fixed ? " is too long" : " depends on the batch size"),
                     fixed ? "at most " + std::to_string(kMaxExpandedOps) + " uses come out"
                           : "a network is unrolled along an axis of a fixed size");
  return false;
}

std::optional<Unroller::Values> Unroller::NextStates(const Values& outputs, const Values& states) {
  const bool one_is_both = outputs.size() == 1 && states.size() == 1;
  const Values next = one_is_both ? outputs : Values(outputs.begin() + 1, outputs.end());
  if (next.size() != states.size()) {
    diagnostics_.Error(
        op_.target.mark,
        "'" + op_.target.value + "' has " +
            CountText(static_cast<int64_t>(outputs.size()), "output") + " and " +
            CountText(static_cast<int64_t>(states.size()) + 1, "input") +
            ": unrolled, its outputs after the first are its inputs after the first",
        "give it as many outputs as inputs; where both are two, one output can be both");
    return std::nullopt;
  }
  for (size_t i = 0; i < next.size(); ++i) {
    if (TypeOf(next[i]) == TypeOf(states[i])) continue;
    diagnostics_.Error(op_.target.mark,
                       "input " + std::to_string(i + 2) + " of '" + op_.target.value + "' is " +
                           TypeOf(states[i]).ToString() + ", but what takes its place is " +
                           TypeOf(next[i]).ToString(),
                       "from one index to the next both have the same type");
    return std::nullopt;
  }
  return next;
}

bool Unroller::CheckResult(ValueId result) {
  if (axis_ <= TypeOf(result).shape.rank()) return true;
  diagnostics_.Error(op_.target.mark,
                     "'" + op_.target.value + "' gives " + TypeOf(result).ToString() +
                         ", which cannot stand side by side along axis " + std::to_string(axis_),
                     "its first output needs " + CountText(axis_, "axis", "axes") + " or more");
  return false;
}

std::string Unroller::Label() const {
  return op_.labels.empty() ? op_.target.value : op_.labels[0];
}

std::string Unroller::LabelAt(int64_t index) const {
  return Label() + "[" + std::to_string(index) + "]";
}

ValueId Unroller::At(ValueId sequence, int64_t index) {
  const std::string name = place_.prefix + LabelAt(index);
  const SliceAttributes part{{axis_}, {index}, {index + 1}, {}};
  const ValueId slice = builder_.AddNode(OpId::slice, Attributes::Of(part), {sequence},
                                         name + ".slice", NodeOptionsAt(op_, place_))[0];
  return Reshape(slice, WithoutAxis(TypeOf(slice).shape, axis_), name + ".at");
}

ValueId Unroller::Stack(const Values& results) {
  Values parts;
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string name = place_.prefix + LabelAt(static_cast<int64_t>(i)) + ".part";
    parts.push_back(Reshape(results[i], WithAxis(TypeOf(results[i]).shape, axis_), name));
  }
  if (parts.size() == 1) return parts[0];
  return builder_.AddNode(OpId::concat, Attributes::Of(ConcatAttributes{axis_}), parts,
                          place_.prefix + Label(), NodeOptionsAt(op_, place_))[0];
}

ValueId Unroller::Reshape(ValueId value, Shape shape, const std::string& name) {
  return builder_.AddNode(OpId::reshape, Attributes::Of(ReshapeAttributes{std::move(shape)}),
                          {value}, name, NodeOptionsAt(op_, place_))[0];
}

}  // namespace cgrun
