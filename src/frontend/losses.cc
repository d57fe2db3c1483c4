// Losses: operators around those that the model file names.
#include "src/frontend/losses.h"

#include <utility>

#include "src/frontend/numbers.h"
#include "src/ir/op_def.h"
#include "src/model/values.h"
#include "src/ops/fill.h"

namespace cgrun {

ValueId Losses::Sum(const PathSpec& spec, const Place& place, const Add& add) {
  const bool alone = spec.losses.size() == 1;
  ValueId sum;
  bool failed = false;
  for (size_t i = 0; i < spec.losses.size(); ++i) {
    const LossSpec& loss = spec.losses[i];
    const bool plain = loss.weight.value == 1;
    const std::string label = alone ? "loss" : "loss[" + std::to_string(i) + "]";
    const auto value = add(loss.op, plain ? label : label + ".unweighted");
    failed = failed || !value;
    if (failed) continue;
    WarnOfTwice(loss.op, *value);
    const ValueId weighted = plain ? *value : Weighted(*value, loss, place, label);
    if (i == 0) {
      sum = weighted;
      continue;
    }
    const bool last = i + 1 == spec.losses.size();
    const std::string name = place.prefix + (last ? "loss" : label + ".sum");
    sum = builder_.AddNode(OpId::add, Attributes(), {sum, weighted}, name,
                           NodeOptionsAt(loss.op, place))[0];
  }
  return failed ? ValueId() : sum;
}

ValueId Losses::Weighted(ValueId value, const LossSpec& loss, const Place& place,
                         const std::string& label) {
  HostTensor weight(builder_.graph().values[value].type.dtype, Shape());
  weight.Set(0, loss.weight.value);
  const std::string name = place.prefix + label;
  const ValueId factor = builder_.AddConstant(std::move(weight), name + ".weight");
  return builder_.AddNode(OpId::mul, Attributes(), {value, factor}, name,
                          NodeOptionsAt(loss.op, place))[0];
}

bool Losses::IsLoss(const OpSpec& op, ValueId value) {
  const TensorType& type = builder_.graph().values[value].type;
  if (type.shape.rank() == 0) return true;
  diagnostics_.Error(op.target.mark,
                     "a loss is one number, and '" + op.target.value + "' gives " + type.ToString(),
                     "`reduce_mean` makes a number of it");
  return false;
}

void Losses::FillNumbers(const OpSpec& op, const Place& place, const std::string& label,
                         std::vector<ValueId>& inputs) {
  for (size_t i = 1; i < inputs.size() && i < op.in.size(); ++i) {
    if (!IsNumber(op.in[i])) continue;
    const FillAttributes fill{ParseReal(op.in[i].value).value_or(0)};
    inputs[i] = builder_.AddNode(OpId::fill, Attributes::Of(fill), {inputs[0]},
                                 place.prefix + label + ".target", NodeOptionsAt(op, place))[0];
  }
}

void Losses::WarnOfTwice(const OpSpec& spec, ValueId loss) {
  const Node& node = builder_.graph().nodes[builder_.graph().values[loss].producer];
  const NodeId before = builder_.graph().values[node.inputs[0]].producer;
  if (!before.valid()) return;
  const OpId op = builder_.graph().nodes[before].op;
  const OpDef& def = GetOpDef(node.op);
  if (def.applies == nullptr || def.applies(node.attributes) != op) return;
  const std::string twice(NameOf(op));
  const bool is_optional = def.schema->Find("from_logits") != nullptr;
  diagnostics_.Warning(
      spec.target.mark,
      "'" + spec.target.value + "' applies " + twice + " itself: here it is applied twice",
      "give it what the " + twice + " reads" +
          (is_optional ? ", or say `from_logits: false`" : ""));
}

}  // namespace cgrun
