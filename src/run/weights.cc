// Loading weights by name.
#include "src/run/weights.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "src/base/finite.h"
#include "src/io/file_error.h"
#include "src/io/safetensors.h"
#include "src/run/checkpoint.h"

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

// Other programs and half-precision exports have weights of another floating-point type.
bool IsConvertible(const TensorType& from, const TensorType& to) {
  return from.shape == to.shape && IsFloat(from.dtype) && IsFloat(to.dtype) &&
         to.dtype != DType::kF16;
}

// Reads the next tensor, whose numbers are of type `from`, into `plain` as numbers of type `to`. No
// plan counts a copy of the tensor. Returns the first number that is finite, but too large for
// `to`.
std::optional<double> ReadConverted(SafetensorsReader& reader, DType from, DType to,
                                    std::span<std::byte> plain) {
  std::optional<double> too_large;
  HostTensor converted;
  reader.ReadParts([&](std::span<const std::byte> part) {
    const auto count = std::ssize(part) / SizeOf(from);
    if (converted.elements() < count) converted = HostTensor(to, Shape::Of({count}));
    for (int64_t i = 0; i < count; ++i) {
      const double number = NumberAt(from, part.data() + i * SizeOf(from));
      converted.Set(i, number);
      const bool fits = !std::isfinite(number) ||
                        std::isfinite(NumberAt(to, converted.bytes().data() + i * SizeOf(to)));
      if (!fits && !too_large) too_large = number;
    }
    const auto bytes = static_cast<size_t>(count * SizeOf(to));
    std::ranges::copy(converted.bytes().first(bytes), plain.begin());
    plain = plain.subspan(bytes);
  });
  return too_large;
}

[[noreturn]] void ThrowTooLarge(const std::string& path, const std::string& tensor, double number,
                                DType type) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", number);
  ThrowFileError(path,
                 "holds " + std::string(text) + " in tensor '" + tensor +
                     "', which is too large for " + std::string(Name(type)),
                 "these are hardly weights that were learned: look at what wrote the file");
}

// Reads the next tensor, which is of `type`, to where the state lies. Returns whether all of its
// numbers are finite.
bool ReadState(SafetensorsReader& reader, const std::string& path, const TensorType& type,
               size_t state, Engine& engine) {
  const DType wanted = engine.model().states[state].type.dtype;
  std::optional<double> too_large;
  bool finite = true;
  engine.FillState(state, [&](std::span<std::byte> plain) {
    if (type.dtype == wanted) {
      reader.ReadTo(plain);
    } else {
      too_large = ReadConverted(reader, type.dtype, wanted, plain);
    }
    finite = AllFinite(wanted, plain);
  });
  if (too_large) ThrowTooLarge(path, engine.model().states[state].name, *too_large, wanted);
  return finite;
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
      const bool finite = ReadState(reader, path, type, it->second, engine);
      if (!finite && !IsRunState(state.role)) report.not_finite.push_back(state.name);
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
