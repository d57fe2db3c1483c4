// cgrun devices: the hardware, and what this build can do with it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/version.h"
#include "src/device/cuda.h"
#include "src/device/device.h"
#include "src/device/peaks.h"
#include "src/kernels/kernel.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

using Json = nlohmann::ordered_json;

std::string PeaksText(const Peaks& peaks) {
  return fmt::format("{:.3g} GFLOP/s (f32 multiply-adds), {:.3g} GB/s (memory) with {} thread{}",
                     peaks.flops_per_second * 1e-9, peaks.bytes_per_second * 1e-9, peaks.threads,
                     peaks.threads == 1 ? "" : "s");
}

Json PeaksJson(const Peaks& peaks) {
  return {{"threads", peaks.threads},
          {"flops_per_second", peaks.flops_per_second},
          {"bytes_per_second", peaks.bytes_per_second}};
}

// A line for each device that computes on the host: what its kernels are made of.
void AddHostDevices(TextTable& table, Json& json) {
  for (const std::string name : {"reference", "blas", "cpu"}) {
    const KernelLibrary* library = FindKernelLibrary(name);
    const std::string kernels =
        library == nullptr ? "built without oneDNN" : library->fingerprint();
    table.Add({name, kernels});
    json["devices"].push_back({{"name", name}, {"kernels", kernels}});
  }
}

int Run() {
  const DeviceInfo host = OpenDevice("reference")->Info();
  TextTable table({Align::kLeft, Align::kLeft});
  table.Add({"device", "kernels"});
  table.AddRule();
  Json json;
  AddHostDevices(table, json);
  for (const std::string& line : DescribeCudaDevices()) {
    table.Add({"cuda", line});
    json["devices"].push_back({{"name", "cuda"}, {"description", line}});
  }
  std::string text =
      table.ToString() + "\n`reference` is plain loops: the oracle for the others.\n";
  text += fmt::format("host: {}, {} of memory, {} of it free\n", host.description,
                      FormatBytes(host.total_bytes), FormatBytes(host.free_bytes));
  json["host"] = {{"description", host.description},
                  {"total_bytes", host.total_bytes},
                  {"free_bytes", host.free_bytes}};
  for (int threads : std::set<int>{1, HostThreads()}) {
    const Peaks peaks = MeasurePeaks(threads);
    text += "peak: " + PeaksText(peaks) + "\n";
    json["host"]["peaks"].push_back(PeaksJson(peaks));
  }
  for (const auto& [name, version] : LibraryVersions()) json["libraries"][name] = version;
  PrintResult(text + "libraries: " + LibrariesText() + "\n", json.dump(2) + "\n");
  return kDone;
}

}  // namespace

Command DefineDevices(CLI::App&) { return Run; }

}  // namespace cgrun
