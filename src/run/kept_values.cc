// Copies are made after every step: nobody knows which one is the last.
#include "src/run/kept_values.h"

#include <algorithm>
#include <filesystem>

#include "src/io/npy_file.h"

namespace cgrun {

namespace fs = std::filesystem;

std::string NpyFileName(std::string name) {
  std::ranges::replace(name, '/', '_');
  return name + ".npy";
}

std::vector<std::string> KeptFiles(const ModelSpec& model) {
  std::vector<std::string> files;
  for (const MarkedText& name : model.keep) files.push_back(NpyFileName(name.value));
  return files;
}

void MakeFolder(const std::string& folder) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
    throw InputError("'" + folder + "' is a file, not a folder", "--out DIR takes another");
  }
  fs::create_directories(folder, error);
  if (error) throw UserError("cannot make the folder '" + folder + "': " + error.message());
}

KeptValues::KeptValues(const Engine& engine, const std::vector<Kept::Item>& states,
                       const Graph& graph) {
  for (const EngineEntry& entry : engine.model().entries) {
    std::vector<Value>& values = values_.emplace_back();
    for (size_t i = 0; i < entry.results.size(); ++i) {
      const EnginePort& port = entry.results[i];
      if (port.kind != OutputKind::kKept) continue;
      values.push_back(
          {static_cast<int>(i), port.name, HostTensor(port.type.dtype, port.type.shape)});
    }
  }
  for (const Kept::Item& item : states) {
    states_.push_back({item.name, engine.model().FindState(graph.values[item.value].name)});
  }
}

void KeptValues::Take(const Engine& engine, int entry) {
  std::vector<Value>& values = values_[static_cast<size_t>(entry)];
  if (values.empty()) return;
  for (Value& value : values) engine.Fetch(entry, value.result, value.tensor.bytes());
  last_ = entry;
}

void KeptValues::Write(const Engine& engine, const std::string& folder) const {
  if (last_ >= 0) {
    for (const Value& value : values_[static_cast<size_t>(last_)]) {
      WriteNpy(folder + "/" + NpyFileName(value.name), value.tensor);
    }
  }
  for (const State& state : states_) {
    const TensorType& type = engine.model().states[state.state].type;
    HostTensor tensor(type.dtype, type.shape);
    engine.ReadState(state.state, tensor);
    WriteNpy(folder + "/" + NpyFileName(state.name), tensor);
  }
}

int64_t KeptValues::bytes() const {
  int64_t bytes = 0;
  for (const auto& values : values_) {
    for (const Value& value : values) bytes += static_cast<int64_t>(value.tensor.bytes().size());
  }
  return bytes;
}

}  // namespace cgrun
