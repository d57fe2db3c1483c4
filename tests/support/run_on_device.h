// Runs one kernel option of a node in memory of a device, all tensors plain.
#ifndef CGRUN_TESTS_SUPPORT_RUN_ON_DEVICE_H_
#define CGRUN_TESTS_SUPPORT_RUN_ON_DEVICE_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/kernels/kernel.h"

namespace cgrun {

struct DeviceRun {
  std::vector<HostTensor> outputs;
  std::string fault;  // names bytes that the kernel wrote by mistake; "" for none
};

// Operands begin at multiples of 64 bytes, and of no more, as plans have them. Outputs, workspace
// and what lies between operands hold NaN in every number type before. The kernel must write bytes
// of its outputs and workspace alone. `shared`: this output lies over this input.
DeviceRun RunOnDevice(const KernelLibrary& library, Device& device, const NodeSignature& node,
                      const KernelOption& option, std::span<const HostTensor> inputs,
                      std::optional<InPlacePair> shared = {});

}  // namespace cgrun

#endif  // CGRUN_TESTS_SUPPORT_RUN_ON_DEVICE_H_
