// Communicator: sums over the processes of a distributed run. One process is the common case.
#ifndef CGRUN_DEVICE_COMMUNICATOR_H_
#define CGRUN_DEVICE_COMMUNICATOR_H_

#include <cstddef>
#include <cstdint>

#include "src/base/dtype.h"

namespace cgrun {

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Adds `elements` numbers over all processes, in rank order, in place.
  virtual void AllReduce(std::byte* data, int64_t elements, DType dtype) noexcept = 0;
};

// The communicator of one process: a sum over one process changes nothing.
class SingleProcess final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void AllReduce(std::byte*, int64_t, DType) noexcept override {}
};

}  // namespace cgrun

#endif  // CGRUN_DEVICE_COMMUNICATOR_H_
