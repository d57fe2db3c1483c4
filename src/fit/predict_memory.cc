// The parts of a plan, measured where a session measures those of training.
#include "src/fit/predict_memory.h"

#include <optional>
#include <utility>
#include <vector>

#include "src/base/allocation_counter.h"
#include "src/fit/run_limit.h"
#include "src/fit/run_shape.h"

namespace cgrun {

namespace {

int64_t PortBytes(const std::vector<ImagePort>& ports) {
  int64_t bytes = 0;
  for (const ImagePort& port : ports) bytes += ByteSize(port.type);
  return bytes;
}

}  // namespace

int64_t FeedBytes(const ImageEntry& entry) { return PortBytes(entry.feeds); }

int64_t ResultBytes(const ImageEntry& entry) { return PortBytes(entry.results); }

PredictEngine BuildPredictEngine(const ModelSpec& model, int64_t batch, Mode mode,
                                 const CompileOptions& options, EnginePlace place,
                                 const PredictNeeds& needs, Diagnostics& diagnostics) {
  const std::vector<EntryRequest> requests = {
      {std::string(Name(EntryKind::kPredict)), EntryKind::kPredict, batch}};
  PredictEngine built;
  built.memory.mode = mode;
  if (mode == Mode::kEager) {
    built.engine = BuildEngine(model, requests, mode, options, place, diagnostics);
    return built;
  }
  auto compiled = Compile(model, requests, place.library, options, diagnostics);
  if (!compiled) return built;
  ProgramImage image = std::move(compiled->image);
  compiled.reset();
  MemoryUse& memory = built.memory;
  memory.data = needs.host_bytes + FeedBytes(image.entries[0]) + ResultBytes(image.entries[0]) +
                StateCopyBytes(image.states, place.library.name());
  const bool calls_onednn = CallsOneDnn(image, place.library);
  const auto measure_base = [&] {
    memory.base = PlannedBase(place.device.counters().host_bytes, /*loaders=*/0, calls_onednn);
  };
  place.before_arenas = [&](const ProgramImage& prepared) {
    memory.start = PlannedStart();
    measure_base();
    memory.arena = prepared.memory_bytes();
    CheckLimits(memory, prepared.device, &prepared, ReadHostLimits(), needs.ways);
  };
  ReleaseFreeMemory();  // memory of the compile must not lie beside that of kernels
  built.engine = MakeImageEngine(std::move(image), place, options.swap ? options.swap->path : "");
  measure_base();
  return built;
}

}  // namespace cgrun
