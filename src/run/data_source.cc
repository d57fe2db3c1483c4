// Rings of their own mapping.
#include "src/run/data_source.h"

#include <algorithm>
#include <new>
#include <span>

#include "src/base/diagnostics.h"
#include "src/base/written_bytes.h"

namespace cgrun {

int64_t DataSource::RingBytes(const Dataset& dataset, int64_t batch, int slots) {
  return Loader::RingBytes(dataset.fields(), std::min(batch, dataset.size()), slots);
}

int64_t DataSource::HostBytes(const Dataset& dataset, int64_t batch, bool shuffle) {
  const int slots = LoaderOptions().slots;
  const auto number = static_cast<int64_t>(sizeof(int64_t));  // of a sample, in each slot
  return RingBytes(dataset, batch, slots) + slots * std::min(batch, dataset.size()) * number +
         Sampler::OrderBytes(dataset.size(), shuffle);
}

MappedBytes DataSource::MakeRing(const Dataset& dataset, const LoaderOptions& options) {
  const int64_t bytes = RingBytes(dataset, options.batch, options.slots);
  try {
    return MappedBytes(static_cast<size_t>(bytes));
  } catch (const std::bad_alloc&) {
    throw UserError("cannot take " + NeededMiB(bytes) + " for the loader",
                    "a smaller batch needs less");
  }
}

DataSource::DataSource(const Dataset& dataset, const LoaderOptions& options, Device& device)
    : ring_(MakeRing(dataset, options)) {
  const std::span<std::byte> ring = ring_.bytes();
  std::ranges::fill(ring, std::byte{0});  // touched before the first step
  pin_ = device.Pin(ring);
  LoaderOptions fitting = options;
  fitting.batch = std::min(options.batch, dataset.size());
  loader_ = std::make_unique<Loader>(dataset, fitting, ring);
}

}  // namespace cgrun
