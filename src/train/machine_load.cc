// The line of all processors in /proc/stat (proc(5)) against the clock of the process.
#include "src/train/machine_load.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <ctime>

namespace cgrun {
namespace {

constexpr double kLeastSeconds = 2;   // less tells nothing
constexpr double kLeastShare = 0.25;  // of others, of what the processors have in them
constexpr double kMostIdle = 0.2;     // of it: with more, others were not in the way

double SecondsOf(clockid_t clock) {
  timespec time = {};
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::optional<ProcessorTimes> ReadProcessorTimes() {
  char text[512];  // its first line is of this length at most
  const int file = open("/proc/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  const ssize_t size = read(file, text, sizeof(text));
  close(file);
  if (size <= 0) return std::nullopt;
  return ParseProcessorTimes({text, static_cast<size_t>(size)},
                             static_cast<double>(sysconf(_SC_CLK_TCK)));
}

}  // namespace

std::optional<ProcessorTimes> ParseProcessorTimes(std::string_view stat, double ticks) {
  constexpr std::string_view kBegin = "cpu ";
  const size_t end = stat.find('\n');
  if (!stat.starts_with(kBegin) || end == std::string_view::npos || ticks <= 0) return std::nullopt;
  std::string_view line = stat.substr(kBegin.size(), end - kBegin.size());
  // user, nice, system, idle, iowait, irq, softirq, steal; a guest's time is in that of its user.
  constexpr int kFields = 8;
  ProcessorTimes times;
  for (int i = 0; i < kFields; ++i) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    uint64_t count = 0;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), count);
    if (error != std::errc()) return std::nullopt;
    line.remove_prefix(static_cast<size_t>(rest - line.data()));
    const bool is_idle = i == 3 || i == 4;
    (is_idle ? times.idle : times.busy) += static_cast<double>(count) / ticks;
  }
  return times;
}

MachineLoad::Reading MachineLoad::Read() {
  return {ReadProcessorTimes(), SecondsOf(CLOCK_PROCESS_CPUTIME_ID), SecondsOf(CLOCK_MONOTONIC)};
}

double MachineLoad::OthersShare(const Reading& end) const {
  if (!begin_.machine || !end.machine || end.wall - begin_.wall < kLeastSeconds) return 0;
  const double busy = end.machine->busy - begin_.machine->busy;
  const double idle = end.machine->idle - begin_.machine->idle;
  const double all = busy + idle;
  if (busy <= 0 || idle < 0 || idle > kMostIdle * all) return 0;
  const double share = (busy - (end.own - begin_.own)) / all;
  return share >= kLeastShare ? std::min(share, 1.0) : 0;
}

}  // namespace cgrun
