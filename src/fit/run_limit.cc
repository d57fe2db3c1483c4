// A limit counts more than a plan does: a control group the code and the kernel's share, `ulimit
// -v` the addresses.
#include "src/fit/run_limit.h"

#include <fmt/format.h>

#include <vector>

#include "src/base/written_bytes.h"
#include "src/device/no_room.h"
#include "src/fit/run_planner.h"
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
      return "`--memory " + LeastCap(run.total()) + "`";
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

RunMemory RunMemoryOf(const MemoryUse& memory, bool on_host, int64_t loaders) {
  RunMemory run;
  run.on_host = on_host;
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

void RefuseRun(const RunMemory& run, const RunLimit& limit, const ProgramImage* image,
               const std::string& help) {
  const std::vector<std::string> texts = FormatBytesUnder(limit.bytes, {run.peak()});
  std::string holders;
  if (image != nullptr) holders = HoldersText(HoldersOfPeak(LayoutOf(*image)), FormatBytes);
  if (!holders.empty()) holders = ", most of it held by " + holders;
  const std::string what = fmt::format(
      "the run takes {}, more than {} {}: base {}, data {}, arena {}{}", texts[1], limit.name(),
      texts[0], FormatBytes(run.base), FormatBytes(run.data), FormatBytes(run.arena), holders);
  const std::string enough = fmt::format("{} is enough; {}", limit.EnoughFor(run), help);
  if (limit.kind == LimitKind::kAsked) throw InputError(what, enough);
  throw NoRoom(what, enough);
}

}  // namespace cgrun
