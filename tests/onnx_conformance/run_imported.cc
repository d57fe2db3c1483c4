// Makes an engine with one entry point, and fills its states from the ONNX file.
#include "tests/onnx_conformance/run_imported.h"

#include <algorithm>
#include <memory>

#include "src/base/diagnostics.h"
#include "src/device/communicator.h"
#include "src/device/device.h"
#include "src/frontend/frontend.h"
#include "src/import/value_names.h"
#include "src/kernels/kernel.h"
#include "src/model/model_file.h"
#include "src/run/engine.h"

namespace cgrun {
namespace {

void FillStates(Engine& engine, const ImportedModel& imported, onnx::OnnxFile& file) {
  const std::vector<EngineState>& states = engine.model().states;
  for (size_t i = 0; i < states.size(); ++i) {
    const auto weight = std::ranges::find(imported.weights, states[i].name, &Weight::name);
    if (weight == imported.weights.end()) continue;
    const onnx::TensorBytes bytes = BytesOf(*weight, file);
    engine.FillState(
        i, [&](std::span<std::byte> plain) { std::ranges::copy(bytes.bytes(), plain.begin()); });
  }
}

void FeedInputs(Engine& engine, const std::map<std::string, HostTensor>& inputs) {
  const std::vector<EnginePort>& feeds = engine.model().entries[0].feeds;
  for (const auto& [name, tensor] : inputs) {
    const auto feed = std::ranges::find(feeds, CleanName(name), &EnginePort::name);
    if (feed == feeds.end()) continue;  // no output depends on it
    if (tensor.shape() != feed->type.shape || tensor.dtype() != feed->type.dtype) {
      throw UserError("the input '" + name + "' is " + tensor.shape().ToString() + ", and " +
                      feed->type.ToString() + " is wanted");
    }
    engine.Feed(0, static_cast<int>(feed - feeds.begin()), tensor.bytes());
  }
}

}  // namespace

std::vector<HostTensor> RunImported(const ImportedModel& imported, onnx::OnnxFile& file,
                                    const std::map<std::string, HostTensor>& inputs, int64_t batch,
                                    Mode mode) {
  Diagnostics diagnostics;
  const auto model = ParseModel({"imported.yaml", ToYaml(imported.tree)}, {}, diagnostics);
  if (!model) throw UserError(diagnostics.ToString());
  CompileOptions options;
  options.precision = PrecisionOf(*model);
  const std::unique_ptr<Device> device = OpenDevice("cpu");
  SingleProcess communicator;
  const std::unique_ptr<Engine> engine =
      BuildEngine(*model, {{"predict", EntryKind::kPredict, batch}}, mode, options,
                  {*FindKernelLibrary("cpu"), *device, communicator}, diagnostics);
  if (engine == nullptr) throw UserError(diagnostics.ToString());
  FillStates(*engine, imported, file);
  FeedInputs(*engine, inputs);
  engine->Run(0);
  std::vector<HostTensor> outputs;
  const std::vector<EnginePort>& results = engine->model().entries[0].results;
  for (size_t i = 0; i < results.size(); ++i) {
    outputs.emplace_back(results[i].type.dtype, results[i].type.shape);
    engine->Fetch(0, static_cast<int>(i), outputs.back().bytes());
  }
  return outputs;
}

}  // namespace cgrun
