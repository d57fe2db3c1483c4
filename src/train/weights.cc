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

// Reads the next tensor, whose numbers are of type `from`, into `plain` as numbers of type `to`. No
// plan counts a copy of the tensor.
void ReadConverted(SafetensorsReader& reader, DType from, DType to, std::span<std::byte> plain) {
  HostTensor converted;
  reader.ReadParts([&](std::span<const std::byte> part) {
    const auto count = std::ssize(part) / SizeOf(from);
    if (converted.elements() < count) converted = HostTensor(to, Shape::Of({count}));
    for (int64_t i = 0; i < count; ++i) {
      converted.Set(i, NumberAt(from, part.data() + i * SizeOf(from)));
    }
    const auto bytes = static_cast<size_t>(count * SizeOf(to));
    std::ranges::copy(converted.bytes().first(bytes), plain.begin());
    plain = plain.subspan(bytes);
  });
}

// Reads the next tensor, which is of `type`, to where the state lies.
void ReadState(SafetensorsReader& reader, const TensorType& type, size_t state, Engine& engine) {
  const DType wanted = engine.model().states[state].type.dtype;
  engine.FillState(state, [&](std::span<std::byte> plain) {
    if (type.dtype == wanted) return reader.ReadTo(plain);
    ReadConverted(reader, type.dtype, wanted, plain);
  });
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
