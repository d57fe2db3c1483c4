// OwnedTensors: names, sharing, initial values.
#include "src/frontend/owned_tensors.h"

#include <algorithm>

#include "src/frontend/parameter_options.h"

namespace cgrun {
namespace {

// Returns the option of a tensor, or null where it has none. If `general` is set, the option ""
// serves tensors without one of their own.
template <class T>
const T* Find(const std::map<std::string, T>& options, const std::string& tensor, bool general) {
  const auto named = options.find(tensor);
  if (named != options.end()) return &named->second;
  const auto all = options.find("");
  return general && all != options.end() ? &all->second : nullptr;
}

ParameterInfo InfoOf(const OwnedTensor& tensor, const ParameterOptions& options, bool first) {
  ParameterInfo info;
  info.init = tensor.init;
  info.init_args = tensor.init_args;
  if (const ParameterInfo* init = Find(options.init, tensor.name, first)) info = *init;
  info.fan_in = tensor.fan_in;
  info.fan_out = tensor.fan_out;
  const bool* frozen = Find(options.frozen, tensor.name, true);
  info.trainable = tensor.role == Role::kParameter && (frozen == nullptr || !*frozen);
  const double* scale = Find(options.learning_rate_scale, tensor.name, true);
  if (scale != nullptr) info.learning_rate_scale = *scale;
  if (const Regularization* added = Find(options.regularization, tensor.name, first)) {
    info.l1 = added->l1;
    info.l2 = added->l2;
  }
  return info;
}

}  // namespace

bool OwnedTensors::Add(const OpDef& def, const Attributes& attributes, const OpSpec& op,
                       const Place& place, const std::string& label, std::vector<ValueId>& inputs) {
  Graph& graph = builder_.graph();
  const std::vector<OwnedTensor> owned = Tensors(def, attributes, inputs);
  std::vector<std::string> names;
  for (const OwnedTensor& tensor : owned) names.push_back(tensor.name);
  const int errors = diagnostics_.error_count();
  const ParameterOptions options = ReadParameterOptions(op, names, diagnostics_, model_file_);
  if (diagnostics_.error_count() > errors) return false;
  for (size_t i = 0; i < owned.size(); ++i) {
    const std::string name = place.owner + label + "." + owned[i].name;
    const auto shared = by_name_.find(name);
    ValueId id = shared == by_name_.end() ? ValueId() : shared->second;
    if (!id.valid()) {
      id = builder_.AddSource(owned[i].role, Zone::kForward, owned[i].type, name, op.target.mark);
      graph.parameters[id] = InfoOf(owned[i], options, i == 0);
      by_name_[name] = id;
    } else if (graph.values[id].type != owned[i].type) {
      // Outside a network two operators have one name: an error of the file, which was reported.
      if (place.networks.empty()) return false;
      diagnostics_.Error(op.target.mark,
                         name + " is " + graph.values[id].type.ToString() + " in one use of '" +
                             place.networks.back() + "' and " + owned[i].type.ToString() +
                             " in this one",
                         "all uses of a network share its parameters");
      return false;
    }
    Note(id, place);
    inputs.push_back(Current(id));
  }
  return true;
}

void OwnedTensors::UpdateStatistics(const OpDef& def, const std::vector<ValueId>& inputs,
                                    const std::vector<ValueId>& outputs) {
  std::vector<UpdateEdge>& updates = builder_.graph().updates;
  for (const InPlacePair& update : def.updates) {
    if (static_cast<size_t>(update.output) >= outputs.size()) continue;
    const ValueId read = inputs[static_cast<size_t>(update.input)];
    const ValueId next = outputs[static_cast<size_t>(update.output)];
    size_t place = updates.size();
    if (const auto edge = edge_of_next_.extract(read)) {
      place = edge.mapped();
      updates[place].next = next;
    } else {
      updates.push_back({read, next});
      edge_of_state_.emplace(read, place);
    }
    edge_of_next_.emplace(next, place);
  }
}

// Returns nothing if the inputs are wrong: inference reports how.
std::vector<OwnedTensor> OwnedTensors::Tensors(const OpDef& def, const Attributes& attributes,
                                               const std::vector<ValueId>& inputs) const {
  if (def.owned == nullptr) return {};
  std::vector<TensorType> types;
  for (ValueId input : inputs) types.push_back(builder_.graph().values[input].type);
  InferContext context(attributes, std::move(types));
  return def.owned(context);
}

void OwnedTensors::Note(ValueId id, const Place& place) {
  const auto add = [&](const std::string& user) {
    if (uses_.emplace(user, id).second) used_by_[user].push_back(id);
  };
  add(place.path_name);
  for (const std::string& network : place.networks) add(network);
}

// A state's value after the updates so far.
ValueId OwnedTensors::Current(ValueId state) const {
  const auto edge = edge_of_state_.find(state);
  return edge == edge_of_state_.end() ? state : builder_.graph().updates[edge->second].next;
}

}  // namespace cgrun
