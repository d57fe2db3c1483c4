// A limit counts more than a plan does: a control group the code and the kernel's share, `ulimit
// -v` the addresses.
#include "src/fit/run_limit.h"

#include <fmt/format.h>

#include <vector>

#include "src/base/process_memory.h"
#include "src/base/written_bytes.h"
#include "src/device/control_group.h"
#include "src/device/device.h"
#include "src/device/no_room.h"
#include "src/fit/run_planner.h"
#include "src/model_data/cap_flag.h"
#include "src/program/image_layout.h"

namespace cgrun {

std::string RunLimit::name() const {
  switch (kind) {
    case LimitKind::kAsked:
      return "the cap of";
    case LimitKind::kMachine:
      return "the free memory of";
    case LimitKind::kGroup:
      return "what the control group leaves,";
    case LimitKind::kAddresses:
      return "what `ulimit -v` leaves,";
  }
  return "";
}

std::string RunLimit::EnoughFor(const RunMemory& run) const {
  switch (kind) {
    case LimitKind::kAsked:
      return "`" + flag + " " + LeastCap(run.total()) + "`";
    case LimitKind::kMachine:
      return LeastCap(run.total()) + " of memory";
    case LimitKind::kGroup:
      return "a control group of " + FormatBytes(run.container());
    case LimitKind::kAddresses:
      return fmt::format("`ulimit -v {}`", (run.address_space() + 1023) / 1024);
  }
  return "";
}

std::string LeastCap(int64_t bytes) {
  constexpr int64_t kMiB = 1 << 20;
  const int64_t whole = (bytes + kMiB - 1) / kMiB;
  if (whole >= 100) return fmt::format("{}MiB", whole);
  const int64_t tenths = (10 * bytes + kMiB - 1) / kMiB;
  return fmt::format("{}.{}MiB", tenths / 10, tenths % 10);
}

std::optional<RunLimit> CapOf(const ModelSpec& model) {
  if (!model.train || !model.train->memory) return std::nullopt;
  return RunLimit{model.train->memory->value, LimitKind::kAsked, CapFlagOf(model)};
}

RunLimit LeastLimit(const HostLimits& limits, const RunMemory& like) {
  RunLimit least{LargestPeak(limits, like), LimitKind::kMachine};
  const auto is_least = [&](int64_t limit, int64_t HostLimits::*member) {
    HostLimits alone;
    alone.*member = limit;
    return LargestPeak(alone, like) == least.bytes;
  };
  if (is_least(limits.address_space, &HostLimits::address_space)) {
    least.kind = LimitKind::kAddresses;
  }
  if (is_least(limits.group, &HostLimits::group)) least.kind = LimitKind::kGroup;
  return least;
}

RunMemory RunMemoryOf(const MemoryUse& memory, std::string_view device, int64_t loaders) {
  RunMemory run;
  run.on_host = KindOfDevice(device).on_host;
  run.arena = memory.arena;
  run.data = memory.data;
  run.base = memory.base;
  run.start = memory.start;
  run.beside = MeasureFootprint(run, loaders, MeasuredIn::kRun);
  return run;
}

bool Fits(const RunMemory& run, const RunLimit& limit) {
  return (limit.kind == LimitKind::kAsked ? run.peak() : run.host()) <= limit.bytes;
}

std::optional<RunLimit> BrokenLimit(const RunMemory& run, const HostLimits& limits,
                                    const std::optional<RunLimit>& cap) {
  if (cap && !Fits(run, *cap)) return cap;
  const RunLimit least = LeastLimit(limits, run);
  if (Fits(run, least)) return std::nullopt;
  return least;
}

namespace {

// Names the part of the run that takes most, and for an arena the values that hold it.
std::string WhatTakesIt(const RunMemory& run, const ProgramImage* image) {
  if (run.start > run.host()) return "reading and compiling take that much, before the first step";
  std::string text = fmt::format("base {}, data {}, arena {}", FormatBytes(run.base),
                                 FormatBytes(run.data), FormatBytes(run.arena));
  if (image == nullptr || run.arena < run.data) return text;
  const std::string holders = HoldersText(HoldersOfPeak(LayoutOf(*image)), FormatBytes);
  return holders.empty() ? text : text + ", most of it held by " + holders;
}

}  // namespace

void RefuseRun(const RunMemory& run, const RunLimit& limit, const ProgramImage* image,
               const WaysOut& ways) {
  const std::vector<std::string> texts = FormatBytesUnder(limit.bytes, {run.peak()});
  const std::string what = fmt::format("the run takes {}, more than {} {}: {}", texts[1],
                                       limit.name(), texts[0], WhatTakesIt(run, image));
  std::string help = limit.EnoughFor(run) + " is enough";
  if (run.start <= run.host()) help += "; " + (run.arena < run.data ? ways.data : ways.arena);
  if (limit.kind == LimitKind::kAsked) throw InputError(what, help);
  throw NoRoom(what, help);
}

void CheckLimits(const MemoryUse& memory, std::string_view device, const ProgramImage* image,
                 const HostLimits& limits, const WaysOut& ways) {
  const RunMemory run = RunMemoryOf(memory, device, /*loaders=*/0);
  const auto limit = BrokenLimit(run, limits);
  if (limit) RefuseRun(run, *limit, image, ways);
  WatchRoom(nullptr);
}

namespace {

// Planning of a small model has been seen to take up to 6.5 MiB beside what the process holds from
// its start, most of it for libraries, which do not ask operator new.
constexpr int64_t kLeastForPlanning = int64_t{8} << 20;

constexpr const char* kPlanOutside =
    "`cgrun plan MODEL` outside of the group says what a model takes";

// Returns the bytes that planning may take beside the code. That counts in full, as in the
// container of a plan, although the system can evict its pages and read them again. If less than
// the code stays in memory, the process hardly does anything but read pages, and nothing ends it.
int64_t RoomForPlanning() {
  static const int64_t code = MeasureFootprint(RunMemory(), /*loaders=*/0).code;
  return ControlGroupMemory("") - code;
}

}  // namespace

void WatchPlanning() {
  const int64_t left = ControlGroupMemory("");
  if (left >= ReadMachineMemory().total) return;  // version 1 has a number for no limit
  if (RoomForPlanning() >= kLeastForPlanning) return WatchRoom(RoomForPlanning);
  RunMemory smallest;
  smallest.start = PlannedStart() + kLeastForPlanning;
  smallest.beside = MeasureFootprint(smallest, /*loaders=*/0);
  throw NoRoom("the control group leaves " + FormatBytes(left) +
                   ", less than the program's code and the planning of a model take",
               RunLimit{0, LimitKind::kGroup}.EnoughFor(smallest) +
                   " is enough for a small model; " + kPlanOutside);
}

NoRoom PlanningRanOut() {
  return NoRoom(
      "reading and planning this model, with the program's code, take more than the "
      "control group leaves",
      std::string("a larger group is needed: ") + kPlanOutside);
}

}  // namespace cgrun
