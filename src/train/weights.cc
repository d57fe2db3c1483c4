// Checkpoints and weights.
#include "src/train/weights.h"

#include <cstdio>
#include <cstring>
#include <map>

namespace cgrun {
namespace {

std::vector<TensorSpec> SpecsOf(const Engine& engine) {
  std::vector<TensorSpec> specs;
  for (const EngineState& state : engine.model().states) {
    specs.push_back({state.name, state.type.dtype, state.type.shape});
  }
  return specs;
}

// Writes a number into text that has room for it: digits with leading zeros.
void SetNumber(std::string& text, int64_t number) {
  std::snprintf(text.data(), text.size() + 1, "%0*lld", static_cast<int>(text.size()),
                static_cast<long long>(number));
}

}  // namespace

int64_t CheckpointWriter::HostBytes(int64_t state_bytes) {
  return AtomicFile::kBufferBytes + state_bytes;
}

CheckpointWriter::CheckpointWriter(const Engine& engine) : writer_(SpecsOf(engine)) {
  for (const EngineState& state : engine.model().states) {
    tensors_.emplace_back(state.type.dtype, state.type.shape);
  }
  for (const HostTensor& tensor : tensors_) bytes_.push_back(tensor.bytes());
  metadata_ = {{"format", "cgrun"},
               {"model", engine.model().name},
               {"step", std::string(12, '0')},
               {"epoch", std::string(12, '0')}};
}

void CheckpointWriter::Write(const Engine& engine, std::string_view path, int64_t step,
                             int64_t epoch) {
  for (size_t i = 0; i < tensors_.size(); ++i) engine.ReadState(i, tensors_[i]);
  SetNumber(metadata_["step"], step);
  SetNumber(metadata_["epoch"], epoch);
  writer_.Write(path, bytes_, metadata_);
}

WeightsReport LoadWeights(Engine& engine, const std::string& path) {
  SafetensorsReader reader(path);
  const std::vector<EngineState>& states = engine.model().states;
  std::map<std::string_view, size_t> index;  // of the states by name
  for (size_t i = 0; i < states.size(); ++i) index[states[i].name] = i;
  std::vector<bool> found(states.size());
  WeightsReport report;
  for (const TensorSpec& tensor : reader.tensors()) {
    const auto it = index.find(tensor.name);
    if (it == index.end()) {
      report.unused.push_back(tensor.name);
      reader.Skip();
      continue;
    }
    const EngineState& state = states[it->second];
    found[it->second] = true;
    const TensorType type{tensor.dtype, tensor.shape};
    if (type == state.type) {
      engine.WriteState(it->second, reader.Read());
      report.loaded.push_back(state.name);
    } else {
      reader.Skip();
      report.mismatched.push_back(state.name + ": " + type.ToString() + " in the file, " +
                                  state.type.ToString() + " in the model");
    }
  }
  for (size_t i = 0; i < states.size(); ++i) {
    if (found[i]) continue;
    const bool optimizer = states[i].role == Role::kOptimizerState;
    (optimizer ? report.missing_optimizer_state : report.missing).push_back(states[i].name);
  }
  return report;
}

}  // namespace cgrun
