// Loading weights by name.
#include "src/run/weights.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "src/base/finite.h"
#include "src/io/file_error.h"
#include "src/run/checkpoint.h"
#include "src/run/weight_names.h"
#include "src/torch/weights_file.h"

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
std::optional<double> ReadConverted(TensorFile& reader, DType from, DType to,
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

// The tensor of the operator `parameter` may be infinite, as the masks of attention are.
bool MayBeInfinite(const std::string& state) { return state.ends_with(".value"); }

// Reads the next tensor, which is of `type`, to where the state lies. Returns whether all of its
// numbers are finite.
bool ReadState(TensorFile& reader, const std::string& path, const TensorType& type, size_t state,
               Engine& engine) {
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

[[noreturn]] void ThrowSameName(const std::string& path, const std::string& name,
                                const std::string& first, const std::string& second) {
  ThrowFileError(
      path,
      "has the tensors '" + first + "' and '" + second + "', which both become '" + name + "'",
      "the key `rename` of the model file gives them their names");
}

// For each tensor of the file, the state that it becomes; nothing for others.
class StateFinder {
 public:
  StateFinder(const std::vector<EngineState>& states, const std::vector<RenameRule>& rules,
              const std::string& path, const std::vector<TensorSpec>& tensors)
      : rules_(rules), path_(path), taken_(states.size()) {
    std::vector<std::string_view> names;
    for (const TensorSpec& tensor : tensors) names.push_back(tensor.name);
    front_ = CommonFront(names);
    for (size_t i = 0; i < states.size(); ++i) index_[states[i].name] = i;
  }

  // Lists in `report` the tensors that the model does not have.
  std::optional<size_t> Find(const std::string& tensor, WeightsReport* report) {
    bool is_left_out = false;
    auto state = StateOf(tensor, &is_left_out);
    if (state == index_.end() && !front_.empty() && !is_left_out) {
      state = StateOf(tensor.substr(front_.size()), &is_left_out);
      if (state != index_.end()) report->front = front_;
    }
    if (is_left_out) {
      report->left_out.push_back(tensor);
      return std::nullopt;
    }
    if (state == index_.end()) {
      if (!IsRunTensor(tensor)) report->unused.push_back(tensor);
      return std::nullopt;
    }
    std::string& taken = taken_[state->second];
    if (!taken.empty()) ThrowSameName(path_, std::string(state->first), taken, tensor);
    taken = tensor;
    return state->second;
  }

 private:
  using Index = std::map<std::string_view, size_t, std::less<>>;

  // The state of a name, or of what the rules make of it.
  Index::const_iterator StateOf(const std::string& tensor, bool* is_left_out) const {
    const auto state = index_.find(tensor);
    if (state != index_.end()) return state;
    const std::optional<std::string> name = Renamed(tensor, rules_);
    *is_left_out = !name;
    return name ? index_.find(*name) : index_.end();
  }

  const std::vector<RenameRule>& rules_;
  const std::string& path_;
  std::string front_;               // of all names in the file
  Index index_;                     // of the states by name
  std::vector<std::string> taken_;  // the tensor that a state has found
};

}  // namespace

WeightsReport LoadWeights(Engine& engine, const std::string& path, WeightsScope scope,
                          const std::vector<RenameRule>& rename) {
  const std::unique_ptr<TensorFile> file = OpenWeightsFile(path);
  TensorFile& reader = *file;
  const std::vector<EngineState>& states = engine.model().states;
  StateFinder finder(states, rename, path, reader.tensors());
  std::vector<bool> found(states.size());
  std::vector<TensorType> fitting, wanted;
  WeightsReport report;
  for (const TensorSpec& tensor : reader.tensors()) {
    const std::optional<size_t> place = finder.Find(tensor.name, &report);
    if (!place) {
      reader.Skip();
      continue;
    }
    const EngineState& state = states[*place];
    found[*place] = true;
    if (scope == WeightsScope::kModel && IsRunState(state.role)) {
      reader.Skip();
      report.skipped.push_back(state.name);
      continue;
    }
    const TensorType type{tensor.dtype, tensor.shape};
    const bool recurrent = state.role == Role::kRecurrentState;
    if (recurrent && type != state.type) {  // of another batch
      reader.Skip();
      found[*place] = false;
    } else if (type == state.type || IsConvertible(type, state.type)) {
      const bool finite = ReadState(reader, path, type, *place, engine);
      if (!finite && !IsRunState(state.role) && !MayBeInfinite(state.name))
        report.not_finite.push_back(state.name);
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
