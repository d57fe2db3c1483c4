// cgrun devices: the hardware, and what this build can do with it.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/version.h"
#include "src/device/cuda.h"
#include "src/device/device.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

int Run() {
  const DeviceInfo host = OpenDevice("reference")->Info();
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight});
  table.Add({"device", "hardware", "memory", "free"});
  table.AddRule();
  table.Add(
      {host.name, host.description, FormatBytes(host.total_bytes), FormatBytes(host.free_bytes)});
  nlohmann::ordered_json json;
  json["devices"].push_back({{"name", host.name},
                             {"description", host.description},
                             {"total_bytes", host.total_bytes},
                             {"free_bytes", host.free_bytes},
                             {"libraries", host.libraries}});
  for (const std::string& line : DescribeCudaDevices()) {
    table.Add({"cuda", line});
    json["devices"].push_back({{"name", "cuda"}, {"description", line}});
  }
  for (const auto& [name, version] : LibraryVersions()) json["libraries"][name] = version;
  PrintResult(table.ToString() + "\n`reference` is plain loops: the oracle for the others.\n" +
                  "libraries: " + LibrariesText() + "\n",
              json.dump(2) + "\n");
  return kDone;
}

}  // namespace

Command DefineDevices(CLI::App&) { return Run; }

}  // namespace cgrun
