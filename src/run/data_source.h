// DataSource: batches of a data set, in memory that counts as the run's.
#ifndef CGRUN_RUN_DATA_SOURCE_H_
#define CGRUN_RUN_DATA_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/base/mapped_bytes.h"
#include "src/data/dataset.h"
#include "src/data/loader.h"
#include "src/device/device.h"

namespace cgrun {

// A loader with the ring that it reads into.
class DataSource {
 public:
  // `device`, which the batches are copied to, must outlive the source.
  DataSource(const Dataset& dataset, const LoaderOptions& options, Device& device);

  // Host memory that a source for batches of this size takes, beside the data set. No batch has
  // more samples than the data set. A random order (`shuffle`) is a list of all samples.
  static int64_t HostBytes(const Dataset& dataset, int64_t batch, bool shuffle);

  Loader& loader() { return *loader_; }

 private:
  static int64_t RingBytes(const Dataset& dataset, int64_t batch, int slots);
  static MappedBytes MakeRing(const Dataset& dataset, const LoaderOptions& options);

  MappedBytes ring_;
  std::shared_ptr<void> pin_;  // of the ring
  std::unique_ptr<Loader> loader_;
};

}  // namespace cgrun

#endif  // CGRUN_RUN_DATA_SOURCE_H_
