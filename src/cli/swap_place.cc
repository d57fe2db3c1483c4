// Tensors wait under a cap in a folder of a disk, or in the host's memory.
#include "src/cli/swap_place.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>

#include "src/budget/budget_options.h"
#include "src/cli/console.h"
#include "src/device/device.h"
#include "src/device/swap_folder.h"
#include "src/fit/run_shape.h"
#include "src/ops/swap.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

// `what`: "files in /var/tmp are"
void TellSpeed(const std::string& what, const TransferSpeed& speed) {
  Tell(fmt::format("swap: {} written at {}/s and read at {}/s", what,
                   FormatBytes(std::llround(speed.write_bytes_per_second)),
                   FormatBytes(std::llround(speed.read_bytes_per_second))));
}

// The folder, and how fast its disk is. Throws UserError.
SwapFolder MeasureDisk(const std::string& folder, const SourceMark& mark,
                       Diagnostics& diagnostics) {
  if (LiesInMemory(folder)) {
    diagnostics.Warning(mark, "files in " + folder + " lie in memory (tmpfs)",
                        "what is swapped there still takes the machine's memory, though not the "
                        "process's; take a folder on a disk");
  }
  const TransferSpeed speed = MeasureTransfers(folder);
  TellSpeed("files in " + folder + " are", speed);
  return {folder, speed};
}

// Returns nothing where the device cannot copy there. Throws UserError.
std::optional<SwapFolder> MeasureHostMemory(const ModelSpec& model) {
  const auto speed = OpenDevice(DeviceOf(model))->MeasureTransfers();
  if (!speed) return std::nullopt;
  TellSpeed("pinned host memory is", *speed);
  return SwapFolder{std::string(kSwapToHost), *speed};
}

void WarnOfNoSwapsTo(const std::string& place, const ModelSpec& model, const std::string& help,
                     Diagnostics& diagnostics) {
  diagnostics.Warning(model.train->swap->mark,
                      "device '" + std::string(KernelsOf(model).name()) + "' cannot swap to " +
                          place + "; nothing is swapped",
                      help);
}

// The place that the model names for what is swapped, with its speed. Returns nothing where it
// names none, or after an error.
std::optional<SwapFolder> MeasureSwapFolder(const ModelSpec& model, Diagnostics& diagnostics) {
  const std::string folder = SwapFolderOf(model);
  if (folder.empty() || RefuseSwapToHost(model, diagnostics)) return std::nullopt;
  const bool to_host = folder == kSwapToHost, can_swap = CanSwapHere(model);
  if (!to_host && (!can_swap || SwapsToHost(model))) {
    WarnOfNoSwapsTo("a file", model, can_swap ? "`--swap host` swaps to the host's memory" : "",
                    diagnostics);
    return std::nullopt;
  }
  const SourceMark& mark = model.train->swap->mark;
  try {
    if (!to_host) return MeasureDisk(folder, mark, diagnostics);
    auto host = can_swap ? MeasureHostMemory(model) : std::nullopt;
    if (!host) WarnOfNoSwapsTo("the host's memory", model, "", diagnostics);
    return host;
  } catch (const UserError& error) {
    diagnostics.Error(mark, error.what(), error.help());
    return std::nullopt;
  }
}

}  // namespace

bool SwapsToHost(const ModelSpec& model) { return !KindOfDevice(DeviceOf(model)).on_host; }

bool CanSwapHere(const ModelSpec& model) {
  return CanSwap(KernelsOf(model), {DType::kF32, Shape()}, Layout(), 1);
}

bool RefuseSwapToHost(const ModelSpec& model, Diagnostics& diagnostics) {
  const auto& swap = model.train->swap;
  if (!swap || swap->value != kSwapToHost || SwapsToHost(model)) return false;
  diagnostics.Error(swap->mark,
                    "device '" + DeviceOf(model) +
                        "' cannot swap to the host's memory: its tensors are there already",
                    "give a folder, `--swap DIR`");
  return true;
}

void WarnOfNoSwaps(const ModelSpec& model, Diagnostics& diagnostics) {
  const bool automatic = model.train->batch.value.automatic;
  diagnostics.Warning(model.train->swap->mark, "nothing is swapped",
                      automatic ? "the batch is found without that; `--batch NUMBER` says it"
                                : "`--memory SIZE` caps what the run takes");
}

bool NoteSwapFolder(const ModelSpec& model, CompileOptions& options) {
  if (options.swap || !model.train || options.passes.Disabled(kSwapPass)) return true;
  Diagnostics diagnostics;
  options.swap = MeasureSwapFolder(model, diagnostics);
  PrintDiagnostics(diagnostics);
  return !diagnostics.has_errors();
}

}  // namespace cgrun
