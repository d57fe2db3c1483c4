// The parts of a plan, measured where a session measures those of training.
#include "src/fit/predict_memory.h"

#include <optional>
#include <utility>
#include <vector>

#include "src/base/allocation_counter.h"
#include "src/data/options.h"
#include "src/device/no_room.h"
#include "src/fit/run_memory.h"
#include "src/fit/run_shape.h"

namespace cgrun {

namespace {

int64_t PortBytes(const std::vector<ImagePort>& ports) {
  int64_t bytes = 0;
  for (const ImagePort& port : ports) bytes += ByteSize(port.type);
  return bytes;
}

// Throws NoRoom if the limits of this process leave too little.
void CheckLimits(const MemoryUse& memory, std::string_view device) {
  RunMemory like;
  like.on_host = KindOfDevice(device).on_host;
  like.arena = memory.arena;
  like.data = memory.data;
  like.base = memory.base;
  like.start = memory.start;
  like.beside = MeasureFootprint(like, /*loaders=*/0, /*later_code=*/0);  // the plan knew no more
  const int64_t most = LargestPeak(ReadHostLimits(), like);
  if (like.peak() <= most) return;
  throw NoRoom("the predictions take " + MemoryText(like.peak()) +
                   " of memory, and this process may take " + MemoryText(most) + ": arena " +
                   MemoryText(like.arena) + ", inputs and predictions " + MemoryText(like.data) +
                   ", base " + MemoryText(like.base),
               "predict fewer samples at a time, or a smaller `--batch`");
}

}  // namespace

int64_t FeedBytes(const ImageEntry& entry) { return PortBytes(entry.feeds); }

int64_t ResultBytes(const ImageEntry& entry) { return PortBytes(entry.results); }

PredictEngine BuildPredictEngine(const ModelSpec& model, int64_t batch, Mode mode,
                                 const CompileOptions& options, const EnginePlace& place,
                                 int64_t host_bytes, Diagnostics& diagnostics) {
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
  memory.data = host_bytes + FeedBytes(image.entries[0]) + ResultBytes(image.entries[0]) +
                StateCopyBytes(image.states, place.library.name());
  const bool calls_onednn = CallsOneDnn(image, place.library);
  ReleaseFreeMemory();  // what compiling took is not to lie beside what kernels prepare
  built.engine = MakeImageEngine(std::move(image), place, options.swap ? options.swap->path : "");
  memory.start = PlannedStart(built.engine->program()->peak_before_arenas());
  memory.arena = built.engine->memory().reserved_peak_bytes;
  memory.base = PlannedBase(place.device.counters().host_bytes, /*loaders=*/0, calls_onednn);
  CheckLimits(memory, place.library.name());
  return built;
}

}  // namespace cgrun
