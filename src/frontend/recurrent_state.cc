// A state is a source of the graph, and its update is an edge.
#include "src/frontend/recurrent_state.h"

#include <algorithm>

#include "src/ops/cast.h"

namespace cgrun {

std::string StateName(const std::string& input, EntryKind kind) {
  if (kind == EntryKind::kTrain || kind == EntryKind::kAccumulate) return input;
  return kOwnState + std::string(Name(kind)) + "." + input;
}

bool IsWidened(DType type, const FrontendOptions& options) {
  return type == DType::kF32 && options.precision == DType::kF64;
}

bool IsConverted(const ModelSpec& model, const std::string& input) {
  bool is_cast = false;
  for (const PathSpec& path : model.paths) {
    for (const OpSpec& op : path.ops) {
      if (std::ranges::find(op.in, input, &MarkedText::value) == op.in.end()) continue;
      if (op.kind != OpSpec::Kind::kOperator || op.target.value != "cast") return false;
      is_cast = true;
    }
  }
  return is_cast;
}

std::string WidenedName(const std::string& input) { return input + ".widened"; }

ValueId AddInput(const InputSpec& input, TensorType type, bool carried,
                 const FrontendOptions& options, Builder& builder) {
  const bool widens = IsWidened(type.dtype, options);
  if (!carried) {
    const ValueId fed = builder.AddSource(Role::kPlaceholder, Zone::kForward, type,
                                          input.name.value, input.name.mark);
    if (!widens) return fed;
    return builder.AddNode(OpId::cast, Attributes::Of(CastAttributes{DType::kF64}), {fed},
                           WidenedName(input.name.value),
                           {.path = PathId(0), .mark = input.name.mark})[0];
  }
  if (widens) type.dtype = DType::kF64;
  const ValueId state =
      builder.AddSource(Role::kRecurrentState, Zone::kForward, type,
                        StateName(input.name.value, options.kind), input.name.mark);
  ParameterInfo info;
  info.init = "zeros";
  info.trainable = false;
  builder.graph().parameters[state] = info;
  return state;
}

void AddStateUpdates(const ModelSpec& model, EntryKind kind, const Names& names, Graph& graph,
                     Diagnostics& diagnostics) {
  if (kind == EntryKind::kPredict) return;
  for (const StateUpdate& update : model.update) {
    const auto state = names.global().Find(update.state.value);
    const ValueId next = names.Lookup(update.value, names.global(), diagnostics);
    if (!state || !state->valid() || !next.valid()) continue;  // reported
    const TensorType &from = graph.values[next].type, &to = graph.values[*state].type;
    if (from == to) {
      graph.updates.push_back({*state, next});
      continue;
    }
    diagnostics.Error(update.value.mark,
                      "'" + update.value.value + "' is " + from.ToString() + ", but the input '" +
                          update.state.value + "' that takes its value is " + to.ToString(),
                      "both have the same type from step to step");
  }
}

}  // namespace cgrun
