// Rings of their own mapping.
#include "src/run/data_source.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "src/base/diagnostics.h"

namespace cgrun {

void DataSource::Unmap::operator()(std::byte* memory) const {
  munmap(memory, static_cast<size_t>(bytes));
}

int64_t DataSource::RingBytes(const Dataset& dataset, int64_t batch, int slots) {
  return Loader::RingBytes(dataset.fields(), std::min(batch, dataset.size()), slots);
}

int64_t DataSource::HostBytes(const Dataset& dataset, int64_t batch) {
  const int64_t order = dataset.size() * static_cast<int64_t>(sizeof(int64_t));
  return RingBytes(dataset, batch, LoaderOptions().slots) + order;
}

DataSource::DataSource(const Dataset& dataset, const LoaderOptions& options, Device& device) {
  const int64_t bytes = RingBytes(dataset, options.batch, options.slots);
  void* memory = mmap(nullptr, static_cast<size_t>(std::max<int64_t>(1, bytes)),
                      PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw UserError("cannot take " + std::to_string(bytes) + " bytes for the loader",
                    "a smaller batch needs less");
  }
  ring_ = std::unique_ptr<std::byte, Unmap>(static_cast<std::byte*>(memory), Unmap{bytes});
  std::memset(memory, 0, static_cast<size_t>(bytes));  // touched before the first step
  const std::span<std::byte> ring(ring_.get(), static_cast<size_t>(bytes));
  pin_ = device.Pin(ring);
  LoaderOptions fitting = options;
  fitting.batch = std::min(options.batch, dataset.size());
  loader_ = std::make_unique<Loader>(dataset, fitting, ring);
}

}  // namespace cgrun
