// The offsets place one port after the other.
#include "src/program/staged_ports.h"

namespace cgrun {

StagedPorts::StagedPorts(const ImageEntry& entry, bool is_asynchronous)
    : feeds_(entry.feeds.size(), kByItself), results_(entry.results.size(), kByItself) {
  if (!is_asynchronous) return;
  for (size_t i = 0; i < feeds_.size(); ++i) feeds_[i] = Place(entry.feeds[i]);
  for (size_t i = 0; i < results_.size(); ++i) results_[i] = Place(entry.results[i]);
}

int64_t StagedPorts::Place(const ImagePort& port) {
  if (port.bytes.bytes > kMostBytes) return kByItself;
  const int64_t offset = bytes_;
  bytes_ += (port.bytes.bytes + kAlignment - 1) / kAlignment * kAlignment;
  return offset;
}

}  // namespace cgrun
