#include "src/session/machine_load.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <ctime>

#include "src/device/host_threads.h"

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
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof(processors), &processors) != 0) return std::nullopt;
  ProcessorTimesReader reader(processors, static_cast<double>(sysconf(_SC_CLK_TCK)));
  const int file = open("/proc/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  char piece[4096];
  ssize_t size = 0;
  do {
    size = read(file, piece, sizeof(piece));
  } while (size > 0 && reader.Add({piece, static_cast<size_t>(size)}));
  close(file);
  return size < 0 ? std::nullopt : reader.Times();
}

// Takes a number off the front of `text`.
std::optional<uint64_t> TakeNumber(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(rest - text.data()));
  return number;
}

}  // namespace

bool ProcessorTimesReader::Add(std::string_view piece) {
  for (const char c : piece) {
    if (is_read_) break;
    if (c == '\n') {
      EndLine();
      size_ = 0;
    } else if (size_ < line_.size()) {
      line_[size_++] = c;
    }
  }
  return !is_read_;
}

// "cpu" are all of them, "cpu7" is one, and lines of other things follow.
void ProcessorTimesReader::EndLine() {
  std::string_view line(line_.data(), size_);
  is_read_ = !line.starts_with("cpu");
  if (is_read_ || line.starts_with("cpu ")) return;
  line.remove_prefix(3);
  const std::optional<uint64_t> processor = TakeNumber(line);
  if (!processor) is_wrong_ = true;
  if (!processor || *processor >= CPU_SETSIZE || !CPU_ISSET(*processor, &processors_)) return;
  // user, nice, system, idle, iowait, irq, softirq, steal; a guest's time is in that of its user.
  constexpr int kFields = 8;
  for (int i = 0; i < kFields; ++i) {
    const std::optional<uint64_t> count = TakeNumber(line);
    if (!count) is_wrong_ = true;
    const bool is_idle = i == 3 || i == 4;
    (is_idle ? times_.idle : times_.busy) += static_cast<double>(count.value_or(0)) / ticks_;
  }
  ++times_.processors;
}

std::optional<ProcessorTimes> ProcessorTimesReader::Times() const {
  if (is_wrong_ || times_.processors == 0 || ticks_ <= 0) return std::nullopt;
  return times_;
}

MachineLoad::MachineLoad() : begin_(Read()) {
  if (begin_.machine && begin_.machine->processors != HostProcessors()) begin_.machine.reset();
}

MachineLoad::Reading MachineLoad::Read() {
  return {ReadProcessorTimes(), SecondsOf(CLOCK_PROCESS_CPUTIME_ID), SecondsOf(CLOCK_MONOTONIC)};
}

double MachineLoad::OthersShare(const Reading& end) const {
  if (!begin_.machine || !end.machine || end.wall - begin_.wall < kLeastSeconds) return 0;
  if (begin_.machine->processors != end.machine->processors) return 0;  // its mask has changed
  const double busy = end.machine->busy - begin_.machine->busy;
  const double idle = end.machine->idle - begin_.machine->idle;
  const double all = busy + idle;
  if (busy <= 0 || idle < 0 || idle > kMostIdle * all) return 0;
  const double share = (busy - (end.own - begin_.own)) / all;
  return share >= kLeastShare ? std::min(share, 1.0) : 0;
}

}  // namespace cgrun
