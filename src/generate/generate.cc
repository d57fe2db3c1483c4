// The predict program of a model runs here without data.
#include "src/generate/generate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/base/check.h"
#include "src/fit/predict_memory.h"
#include "src/frontend/frontend.h"
#include "src/ops/normalize.h"
#include "src/predict/predict.h"
#include "src/run/measured_memory.h"

namespace cgrun {
namespace {

// Returns whether a value depends on a placeholder other than the step counter.
bool ReadsData(const Graph& graph, ValueId value) {
  IdVector<ValueId, bool> reads(graph.values.size(), false);
  for (ValueId id : graph.values.ids()) {
    const Value& source = graph.values[id];
    reads[id] = source.role == Role::kPlaceholder && source.name != kStepCounter;
  }
  for (NodeId id : TopologicalOrder(graph)) {
    const Node& node = graph.nodes[id];
    const bool any = std::ranges::any_of(node.inputs, [&](ValueId input) { return reads[input]; });
    for (ValueId output : node.outputs) reads[output] = any;
  }
  return reads[value];
}

// The scale of the first `normalize` that makes samples of so many channels.
PixelScale ScaleOf(const Graph& graph, int64_t channels) {
  for (const Node& node : graph.nodes) {
    if (node.op != OpId::normalize) continue;
    const Shape& shape = graph.values[node.outputs[0]].type.shape;
    if (shape.rank() < 2 || shape[1].size != channels) continue;
    const auto& attributes = node.attributes.As<NormalizeAttributes>();
    return {attributes.scale, attributes.mean, attributes.std};
  }
  return {};
}

}  // namespace

uint8_t PixelScale::Pixel(double value, int64_t channel) const {
  const auto of = [&](const std::vector<double>& list) {
    return list.size() == 1 ? list[0] : list[static_cast<size_t>(channel)];
  };
  const double pixel = (value * of(std) + of(mean)) / scale;
  return static_cast<uint8_t>(std::isnan(pixel) ? 0 : std::lround(std::clamp(pixel, 0.0, 255.0)));
}

std::optional<GeneratedOutput> DescribeGenerated(const ModelSpec& model, DType precision,
                                                 Diagnostics& diagnostics) {
  const auto graph = BuildForward(model, {EntryKind::kPredict, precision}, diagnostics);
  if (!graph) return std::nullopt;
  for (size_t i = 0; i < graph->outputs.size(); ++i) {
    const Value& value = graph->values[graph->outputs[i].value];
    const Shape& shape = value.type.shape;
    if (shape.rank() == 0 || shape[0] != kBatchDim || ReadsData(*graph, graph->outputs[i].value)) {
      continue;
    }
    const Shape sample = SampleShape(shape);
    const int64_t channels = sample.rank() == 3 ? sample[0].size : 1;
    return GeneratedOutput{graph->outputs[i].name, i, value.type.dtype, sample,
                           ScaleOf(*graph, channels)};
  }
  diagnostics.Error({}, model.file_name + " generates nothing: all that it predicts reads data",
                    "a `gan` generates, and so does a path whose `out` comes from "
                    "`random_normal` or `random_uniform` alone");
  return std::nullopt;
}

constexpr const char* kFewer = "fewer samples need less (`--count N`)";

std::optional<Generated> GenerateSamples(const ModelSpec& model, const GeneratedOutput& output,
                                         const GenerateOptions& options, Diagnostics& diagnostics) {
  const auto device = OpenDevice(options.device);
  const KernelLibrary* library = FindKernelLibrary(options.device);
  CGRUN_CHECK(library != nullptr) << "no kernels for " << options.device;
  SingleProcess communicator;
  const auto [engine, memory] = BuildPredictEngine(
      model, options.count, options.mode, options.compile, {*library, *device, communicator},
      {options.host_bytes, {kFewer, kFewer}}, diagnostics);
  if (!engine) return std::nullopt;
  Generated generated;
  generated.memory = memory;
  generated.weights = LoadWeights(*engine, options.weights, WeightsScope::kModel, model.rename);
  const EngineEntry& entry = engine->model().entries[0];
  for (size_t i = 0; i < entry.feeds.size(); ++i) {
    const HostTensor nothing(entry.feeds[i].type.dtype, entry.feeds[i].type.shape);
    engine->Feed(0, static_cast<int>(i), nothing.bytes());
  }
  engine->Run(0);
  const EnginePort& port = entry.results[output.index];
  generated.samples = HostTensor(port.type.dtype, port.type.shape);
  engine->Fetch(0, static_cast<int>(output.index), generated.samples.bytes());
  NoteMeasured(*engine, *device, generated.memory);
  return generated;
}

std::vector<uint8_t> PixelsOf(const HostTensor& samples, const PixelScale& scale) {
  CGRUN_CHECK(samples.shape().rank() == 4) << "no images";
  const int64_t plane = samples.shape()[2].size * samples.shape()[3].size;
  std::vector<uint8_t> pixels(static_cast<size_t>(samples.elements()));
  for (int64_t i = 0; i < samples.elements(); ++i) {
    const int64_t channel = i / plane % samples.shape()[1].size;
    pixels[static_cast<size_t>(i)] = scale.Pixel(samples.At(i), channel);
  }
  return pixels;
}

}  // namespace cgrun
