// StagedPorts: where the small feeds and results of an entry point stand in the host's memory, of a
// device whose work goes on by itself. A run copies them to the device and back, so that to feed
// and to fetch them costs no call of the device's, and no waiting, each.
#ifndef CGRUN_PROGRAM_STAGED_PORTS_H_
#define CGRUN_PROGRAM_STAGED_PORTS_H_

#include <vector>

#include "src/program/image.h"

namespace cgrun {

class StagedPorts {
 public:
  // None where the device is not asynchronous.
  StagedPorts(const ImageEntry& entry, bool is_asynchronous);

  int64_t bytes() const { return bytes_; }
  // `memory` has bytes() and is aligned to kAlignment.
  void PlaceAt(std::byte* memory) { memory_ = memory; }
  // Returns the place of a port by its index in the entry point. It is null for a large port, which
  // is copied by itself.
  std::byte* feed(size_t i) const { return At(feeds_[i]); }
  std::byte* result(size_t i) const { return At(results_[i]); }

 private:
  static constexpr int64_t kAlignment = 64;
  static constexpr int64_t kMostBytes = 256 << 10;  // of a port
  static constexpr int64_t kByItself = -1;

  int64_t Place(const ImagePort& port);
  std::byte* At(int64_t offset) const { return offset == kByItself ? nullptr : memory_ + offset; }

  std::vector<int64_t> feeds_, results_;  // offsets
  int64_t bytes_ = 0;
  std::byte* memory_ = nullptr;
};

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_STAGED_PORTS_H_
