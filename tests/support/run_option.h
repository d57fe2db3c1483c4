// Runs one kernel option of a node on host memory, in whatever layouts it wants.
#ifndef CGRUN_TESTS_SUPPORT_RUN_OPTION_H_
#define CGRUN_TESTS_SUPPORT_RUN_OPTION_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/kernels/kernel.h"

namespace cgrun {

struct OptionRun {
  std::vector<HostTensor> outputs;  // plain
  std::string fault;                // names bytes that the kernel wrote by mistake; "" for none
  int64_t allocations = 0;          // by operator new while it ran
};

// Says where the operands lie.
struct OperandPlaces {
  int64_t shift = 0;                  // bytes from an address that is aligned to 64
  std::optional<InPlacePair> shared;  // this output lies over this input
};

// Inputs are laid out with zeros where a layout pads; outputs and workspace hold garbage before.
// The kernel must leave zeros where the layouts of its floating-point outputs pad (a reorder: of
// all), and bytes around its operands alone. `thread_team`: KernelRequest::thread_team.
OptionRun RunOption(const KernelLibrary& library, const NodeSignature& node,
                    const KernelOption& option, std::span<const HostTensor> inputs, int threads,
                    const OperandPlaces& places = {}, int thread_team = 0);

}  // namespace cgrun

#endif  // CGRUN_TESTS_SUPPORT_RUN_OPTION_H_
