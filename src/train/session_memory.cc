// What a session takes of the memory, as planned and as measured.
#include <algorithm>
#include <iterator>

#include "src/base/allocation_counter.h"
#include "src/device/cpu.h"
#include "src/train/data_findings.h"
#include "src/train/run_shape.h"
#include "src/train/session.h"

namespace cgrun {

int64_t Session::BaseOfNow() const {
  const int64_t loaders = LoaderOptions().workers * (train_.has_value() + std::ssize(evaluations_));
  return PlannedBase(data_.decoded_bytes + device_->counters().host_bytes, loaders);
}

// By now the process holds its arena, the decoded data and the compiled code, but for the buffers
// of the loaders and the copies for checkpoints.
void Session::CountMemory() {
  const bool on_host = KindOfDevice(options_.device).on_host;
  HostParts parts{data_.decoded_bytes, {}, batch_, {}, 0};
  parts.opening_bytes = data_.opening_bytes;
  if (on_host) parts.arena_bytes = memory_.arena;
  int64_t state_bytes = 0;
  for (const EngineState& state : engine_->model().states) {
    if (!IsOwnState(state.name)) state_bytes += ByteSize(state.type);
  }
  parts.kept_bytes = recurrent_.bytes() + (kept_ ? kept_->bytes() : 0);
  if (train_) {
    parts.checkpoint_state = state_bytes;
    parts.kept_bytes += CheckpointBytes(findings_);
    parts.sets.push_back(train_->dataset.get());
  }
  for (const Split& split : evaluations_) parts.sets.push_back(split.dataset.get());
  memory_.data = HostUseOf(parts).total();
  const int64_t free = options_.free ? *options_.free : FreeHostMemory();
  CheckRoom(memory_.planned() - (on_host ? 0 : memory_.arena), ResidentBytes() + free);
}

void Session::NoteMemory() {
  const DeviceCounters taken = device_->counters();
  const bool on_host = KindOfDevice(options_.device).on_host;
  const int64_t apart = on_host ? 0 : taken.bytes - taken.host_bytes;  // no part of this process
  memory_.measured = std::max(memory_.measured, ResidentBytes() + apart);
  memory_.process = MostResidentBytes();
  memory_.engine = engine_->memory();
}

}  // namespace cgrun
