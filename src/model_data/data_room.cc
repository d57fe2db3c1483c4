// A cap that the model has, and what the system has free.
#include "src/model_data/data_room.h"

#include <algorithm>

#include "src/device/device.h"
#include "src/device/host_limits.h"
#include "src/model_data/cap_flag.h"

namespace cgrun {

int64_t CapOnHost(const ModelSpec& model) {
  const std::string& device = model.device.value;
  const bool on_host = device == "auto" || KindOfDevice(device).on_host;
  return on_host && model.train && model.train->memory ? model.train->memory->value : 0;
}

MemoryLeft LeftUnder(const ModelSpec& model, int64_t cap, int64_t taken) {
  constexpr int64_t kSmall = 64 << 20;
  const int64_t free = FreeHostMemory(), left = std::max<int64_t>(0, std::max(cap, kSmall) - taken);
  return cap > 0 && left < free ? MemoryLeft{left, cap, CapFlagOf(model)} : MemoryLeft{free};
}

int64_t MostInMemory(const ModelSpec& model, int64_t cap, int64_t taken) {
  if (model.data->streams) return 0;
  return cap > 0 ? std::max<int64_t>(0, cap - taken) : FreeHostMemory() / 2;
}

}  // namespace cgrun
