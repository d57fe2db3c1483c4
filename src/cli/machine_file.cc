// Reads the file in which another machine describes itself.
#include "src/cli/machine_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/base/json_text.h"
#include "src/base/shell_word.h"
#include "src/device/device.h"
#include "src/io/file_error.h"
#include "src/io/memory_room.h"
#include "src/io/read_file.h"
#include "src/kernels/kernel.h"
#include "src/report/table.h"
#include "src/run/run_folder.h"

namespace cgrun {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kLargestFile = 1 << 20;
constexpr std::string_view kExtension = ".json";
constexpr std::string_view kFastestFirst[] = {"cpu", "blas", "reference"};

Json ParseMachine(const std::string& file) {
  if (FileReader(file, FileReader::Gzip::kNever).max_bytes() > kLargestFile) {
    ThrowFileError(file, "is no description of a machine, which has 1 MiB at most",
                   "`cgrun devices --json FILE` writes one");
  }
  const std::string text = ReadTextFile(file, kLargestFile);
  CheckJsonRoom(file, text);
  return TryParseOrderedJson(text);
}

// The kernels of a device, which only those have that are built.
std::string KernelsIn(const Json& machine, std::string_view device) {
  for (const Json& one : machine.at("devices")) {
    if (one.at("name") == device && one.contains("kernels")) return one.at("kernels");
  }
  return "";
}

void FindDevice(const Json& json, Machine& machine) {
  for (const std::string_view name : kFastestFirst) {
    machine.kernels = KernelsIn(json, name);
    if (machine.kernels.empty() || FindKernelLibrary(name) == nullptr) continue;
    machine.device = name;
    return;
  }
}

// Throws Json::exception where something is not there, or is something else.
Machine MachineOf(const Json& json) {
  Machine machine;
  const Json& host = json.at("host");
  machine.description = host.at("description");
  machine.total_bytes = host.at("total_bytes");
  machine.free_bytes = host.at("free_bytes");
  for (const Json& peak : host.at("peaks")) {
    machine.threads = std::max(machine.threads, peak.at("threads").get<int>());
  }
  FindDevice(json, machine);
  return machine;
}

bool IsPlausible(const Machine& machine) {
  return machine.free_bytes > 0 && machine.total_bytes >= machine.free_bytes &&
         machine.threads <= kMostThreads;
}

}  // namespace

bool IsMachineFile(const std::string& device) { return device.ends_with(kExtension); }

Machine ReadMachine(const std::string& file) {
  const InputError no_machine("'" + file + "' is not what `cgrun devices --json` writes",
                              "write one on that machine: cgrun devices --json " + ShellWord(file));
  Machine machine;
  try {
    machine = MachineOf(ParseMachine(file));
  } catch (const Json::exception&) {
    throw no_machine;
  }
  if (!IsPlausible(machine)) throw no_machine;
  if (machine.device.empty()) {
    throw InputError("'" + file + "' has no device with kernels that this build has, too",
                     "a plan asks the kernels; `cgrun devices` lists those of this build");
  }
  machine.file = file;
  return machine;
}

std::string MachineNote(const Machine& machine, int threads) {
  std::string note =
      fmt::format("planned for '{}': {}, {} of memory, {} of it free; device {}, {}", machine.file,
                  machine.description, FormatBytes(machine.total_bytes),
                  FormatBytes(machine.free_bytes), machine.device, FormatCount(threads, "thread"));
  const std::string here = DescribeKernels(machine.device);
  if (here != machine.kernels) {
    note += fmt::format(
        "\nnote: kernels there: {}\n      kernels here:  {}\n      the plan is made with those "
        "here: workspaces and layouts can differ",
        machine.kernels, here);
  }
  return note;
}

}  // namespace cgrun
