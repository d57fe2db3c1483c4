// The device decides whose memory a cap limits, and the model file may name the device.
#include "src/cli/host_cap.h"

#include <optional>

#include "src/cli/console.h"
#include "src/cli/machine_file.h"
#include "src/device/device.h"
#include "src/model/model_file.h"
#include "src/model/values.h"
#include "src/model_data/cap_flag.h"
#include "src/program/serialize.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

int64_t BytesOf(const std::string& flag, const std::string& value) {
  const std::optional<int64_t> bytes = ParseBytes(value);
  if (bytes && *bytes > 0) return *bytes;
  throw InputError(flag + " " + value + " is no size of memory",
                   "such as 2000000, 512MiB, 1.5GiB (powers of 1024) or 2GB (powers of 1000)");
}

// The device of a model that is only looked into; nothing where it has errors, which its verb
// tells.
std::optional<std::string> DeviceIn(const std::string& path, const ModelFlags& flags) {
  try {
    if (IsProgramFile(path)) return LoadImage(path).device;
    Diagnostics ignored;
    const auto model = LoadModelFile(path, flags.set, ignored);
    if (model) return DeviceOf(*model);
  } catch (const UserError&) {
  }
  return std::nullopt;
}

// Returns whether the device is one of the host; nothing where it is not known.
std::optional<bool> IsOnHost(const ModelFlags& flags, const std::string& path) {
  if (IsMachineFile(flags.device) || flags.device == "auto") return true;
  const std::optional<std::string> device =
      flags.device.empty() ? DeviceIn(path, flags) : std::optional(flags.device);
  if (!device) return std::nullopt;
  for (const DeviceKind& kind : DeviceKinds()) {
    const std::string name(kind.name);
    if (*device == name || device->starts_with(name + ":")) return kind.on_host;
  }
  return std::nullopt;
}

// Throws InputError if the parts of the host's memory take more than the cap.
void CheckHost(const ModelFlags& flags, int64_t data, int64_t base, int64_t swapped) {
  if (flags.host_memory.empty()) return;
  const int64_t cap = BytesOf("--host-memory", flags.host_memory);
  const int64_t bytes = data + base + swapped;
  if (bytes <= cap) return;
  const auto texts = FormatBytesUnder(cap, {bytes});
  throw InputError("the run takes " + texts[1] + " of the host's memory, more than the cap of " +
                       texts[0] + " (--host-memory)",
                   "data " + FormatBytes(data) + ", base " + FormatBytes(base) +
                       ": a smaller `--batch` makes the buffers of the data smaller");
}

}  // namespace

ModelFlags WithHostMemory(ModelFlags flags, const std::string& model) {
  if (flags.host_memory.empty()) return flags;
  const int64_t host = BytesOf("--host-memory", flags.host_memory);
  const auto on_host = IsOnHost(flags, flags.model.empty() ? model : flags.model);
  if (!on_host || !*on_host) return flags;
  const bool counts = flags.memory.empty() || host < BytesOf("--memory", flags.memory);
  const std::string memory = counts ? flags.host_memory : flags.memory;
  if (!flags.memory.empty()) {
    Tell("note: --memory " + flags.memory + " and --host-memory " + flags.host_memory +
         " are of the same memory on a device of the host; the smaller one counts: " + memory);
  }
  if (counts) flags.memory_flag = kHostCapFlag;
  flags.memory = memory;
  flags.host_memory.clear();
  return flags;
}

void CheckHostMemory(const ModelFlags& flags, const RunMemory& memory) {
  if (!memory.on_host) CheckHost(flags, memory.data, memory.base, 0);
}

void CheckHostMemory(const ModelFlags& flags, const MemoryUse& memory) {
  CheckHost(flags, memory.data, memory.base, memory.swaps_to_host ? memory.swap_space : 0);
}

void RefuseHostMemory(const ModelFlags& flags, const std::string& verb) {
  if (flags.host_memory.empty()) return;
  throw InputError("`cgrun " + verb + "` plans no memory of the host for this device",
                   "leave --host-memory out; `cgrun train`, `eval` and `plan` keep it");
}

}  // namespace cgrun
