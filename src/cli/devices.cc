// cgrun devices: the hardware, and what this build can do with it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "src/base/json_text.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/version.h"
#include "src/device/device.h"
#include "src/device/host_threads.h"
#include "src/device/peaks.h"
#include "src/kernels/kernel.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

using Json = nlohmann::ordered_json;

std::string PeaksText(const Peaks& peaks) {
  return fmt::format("{:.3g} GFLOP/s (f32 multiply-adds), {:.3g} GB/s (memory) with {}",
                     peaks.flops_per_second * 1e-9, peaks.bytes_per_second * 1e-9,
                     FormatCount(peaks.threads, "thread"));
}

Json PeaksJson(const Peaks& peaks) {
  return {{"threads", peaks.threads},
          {"flops_per_second", peaks.flops_per_second},
          {"bytes_per_second", peaks.bytes_per_second}};
}

// Several threads reach no less than one, unless other programs have their processors.
std::string BusyNote(const Peaks& least, const Peaks& most) {
  if (most.flops_per_second >= least.flops_per_second) return "";
  return fmt::format(
      "note: {} reached less than {}, as on a busy machine: run it again on a quiet one\n",
      FormatCount(most.threads, "thread"), FormatCount(least.threads, "thread"));
}

// Returns whether there are kernels, and the libraries that they call can be loaded.
bool HasKernels(const std::string& device) {
  try {
    return FindKernelLibrary(device) != nullptr;
  } catch (const UserError&) {
    return false;
  }
}

// Adds a kind of device to the table. For a host's device, a line says which kernels it has, or why
// there are none. For another, each device has a line, or one line says why there is none.
void AddDevices(const DeviceKind& kind, TextTable& table, Json& json) {
  const std::string name(kind.name);
  if (kind.on_host) {
    const std::string kernels = DescribeKernels(name);
    table.Add({name, kernels});
    const char* const key = HasKernels(name) ? "kernels" : "description";
    json["devices"].push_back({{"name", name}, {key, kernels}});
  }
  for (const std::string& line : DescribeDevices(kind)) {
    table.Add({name, line});
    json["devices"].push_back({{"name", name}, {"description", line}});
  }
}

int Run() {
  const DeviceInfo host = OpenDevice(FastestHostDevice())->Info();
  TextTable table({Align::kLeft, Align::kLeft});
  table.Add({"device", "kernels"});
  table.AddRule();
  Json json;
  for (const DeviceKind& kind : DeviceKinds()) AddDevices(kind, table, json);
  std::string text =
      table.ToString() + "\n`reference` is plain loops: the oracle for the others.\n";
  text += fmt::format("host: {}, {} of memory, {} of it free\n", host.description,
                      FormatBytes(host.total_bytes), FormatBytes(host.free_bytes));
  json["host"] = {{"description", host.description},
                  {"total_bytes", host.total_bytes},
                  {"free_bytes", host.free_bytes}};
  const HostThreadCount count = CountHostThreads();
  text += fmt::format("threads: {} by default, by {}\n", count.threads, count.reason);
  json["host"]["threads"] = count.threads;
  json["host"]["threads_by"] = count.reason;
  std::vector<Peaks> measured;
  for (int threads : std::set<int>{1, count.threads}) {
    const Peaks& peaks = measured.emplace_back(MeasurePeaks(threads));
    text += "peak: " + PeaksText(peaks) + "\n";
    json["host"]["peaks"].push_back(PeaksJson(peaks));
  }
  text += BusyNote(measured.front(), measured.back());
  for (const auto& [name, version] : LibraryVersions()) json["libraries"][name] = version;
  PrintResult(text + "libraries: " + LibrariesText() + "\n", JsonText(json, 2) + "\n");
  return kDone;
}

}  // namespace

Command DefineDevices(const Verb&) { return Run; }

}  // namespace cgrun
