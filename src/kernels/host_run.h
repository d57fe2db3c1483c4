// Runs one node on host memory of its own, with any kernel that its library offers for it.
#ifndef CGRUN_KERNELS_HOST_RUN_H_
#define CGRUN_KERNELS_HOST_RUN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/kernels/kernel.h"

namespace cgrun {

class HostRun {
 public:
  // All bytes are 0 at first. `option` is one of the library's for the node. Throws std::bad_alloc.
  HostRun(const KernelLibrary& library, const NodeSignature& node, const KernelOption& option,
          int threads);
  HostRun(const HostRun&) = delete;
  HostRun& operator=(const HostRun&) = delete;

  // Returns the bytes of operand `i`. The inputs come first, then the outputs.
  std::span<std::byte> operand(size_t i);
  void Run();

 private:
  static constexpr int64_t kAlignment = 64;
  struct alignas(kAlignment) Line {
    std::byte bytes[kAlignment];
  };

  void Add(int64_t bytes, Access access);

  std::vector<Operand> operands_;
  std::vector<int64_t> bytes_;  // of each operand
  int64_t end_ = 0;             // of the last one
  std::vector<Line> memory_;
  PreparedKernel kernel_;
  SingleProcess communicator_;
  RunContext context_;
};

}  // namespace cgrun

#endif  // CGRUN_KERNELS_HOST_RUN_H_
