// Loading weights by name.
#include "src/train/weights.h"

#include <algorithm>
#include <map>

#include "src/io/safetensors.h"
#include "src/train/checkpoint.h"

namespace cgrun {

bool IsRunState(Role role) {
  return role == Role::kOptimizerState || role == Role::kRecurrentState;
}

bool FitByChance(const std::vector<TensorType>& fitting, const std::vector<TensorType>& wanted) {
  const auto has_axes = [](const TensorType& type) { return type.shape.rank() > 1; };
  return !fitting.empty() && std::ranges::none_of(fitting, has_axes) &&
         std::ranges::any_of(wanted, has_axes);
}

namespace {

// Of another floating-point type, as other programs and half-precision exports have them.
bool IsConvertible(const TensorType& from, const TensorType& to) {
  return from.shape == to.shape && IsFloat(from.dtype) && IsFloat(to.dtype) &&
         to.dtype != DType::kF16;
}

HostTensor Converted(const HostTensor& from, DType dtype) {
  HostTensor to(dtype, from.shape());
  for (int64_t i = 0; i < to.elements(); ++i) to.Set(i, from.At(i));
  return to;
}

// Reads the next tensor, which is of `type`, to where the state lies; one of another type is
// converted first.
void ReadState(SafetensorsReader& reader, const TensorType& type, size_t state, Engine& engine) {
  const DType wanted = engine.model().states[state].type.dtype;
  if (type.dtype == wanted) {
    engine.FillState(state, [&](std::span<std::byte> plain) { reader.ReadTo(plain); });
  } else {
    engine.WriteState(state, Converted(reader.Read(), wanted));
  }
}

}  // namespace

WeightsReport LoadWeights(Engine& engine, const std::string& path, WeightsScope scope) {
  SafetensorsReader reader(path);
  const std::vector<EngineState>& states = engine.model().states;
  std::map<std::string_view, size_t> index;  // of the states by name
  for (size_t i = 0; i < states.size(); ++i) index[states[i].name] = i;
  std::vector<bool> found(states.size());
  std::vector<TensorType> fitting, wanted;
  WeightsReport report;
  for (const TensorSpec& tensor : reader.tensors()) {
    const auto it = index.find(tensor.name);
    if (it == index.end()) {
      if (!IsRunTensor(tensor.name)) report.unused.push_back(tensor.name);
      reader.Skip();
      continue;
    }
    const EngineState& state = states[it->second];
    found[it->second] = true;
    if (scope == WeightsScope::kModel && IsRunState(state.role)) {
      reader.Skip();
      report.skipped.push_back(state.name);
      continue;
    }
    const TensorType type{tensor.dtype, tensor.shape};
    const bool recurrent = state.role == Role::kRecurrentState;
    if (recurrent && type != state.type) {  // of another batch
      reader.Skip();
      found[it->second] = false;
    } else if (type == state.type || IsConvertible(type, state.type)) {
      ReadState(reader, type, it->second, engine);
      report.loaded.push_back(state.name);
      if (type != state.type) ++report.converted[{type.dtype, state.type.dtype}];
      if (!IsRunState(state.role)) fitting.push_back(type);
    } else {
      reader.Skip();
      report.mismatched.push_back(state.name + ": " + type.ToString() + " in the file, " +
                                  state.type.ToString() + " in the model");
    }
  }
  for (size_t i = 0; i < states.size(); ++i) {
    if (!IsRunState(states[i].role)) wanted.push_back(states[i].type);
    if (found[i] || IsOwnState(states[i].name)) continue;
    const bool of_run = IsRunState(states[i].role);
    if (of_run && scope == WeightsScope::kModel) continue;
    (of_run ? report.missing_run_state : report.missing).push_back(states[i].name);
  }
  report.by_chance = FitByChance(fitting, wanted);
  return report;
}

}  // namespace cgrun
