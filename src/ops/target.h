// Declares Target, which answers the only questions that passes, `select` and `plan` ask of a
// device. They never see a kernel.
#ifndef CGRUN_OPS_TARGET_H_
#define CGRUN_OPS_TARGET_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/host_tensor.h"
#include "src/ir/signature.h"

namespace cgrun {

// Describes one way to run a node.
struct KernelOption {
  std::string kernel;                      // "reference.conv"
  std::vector<Layout> input_layouts;       // of its inputs …
  std::vector<Layout> output_layouts;      // … and writes
  std::vector<InPlacePair> in_place;       // a subset of the operator's pairs
  std::vector<SubBufferPair> sub_buffers;  // operands that may lie in others, as the operator says
  int64_t workspace_bytes = 0;
  double seconds = 0;        // estimated for the target …
  bool is_measured = false;  // … or measured on it, or as good: a plan takes it as it is
  bool same_bits_single_threaded =
      false;            // on one thread, beside other kernels, it gives the same bits
  bool widens = false;  // its workspace holds copies in f32 of what is bf16
};

// Says how a node is about to run.
struct RunSetting {
  int threads = 1;
  std::vector<Layout> layouts = {};  // in which its inputs lie; empty: plain
  // The run trains. Only kernels that let a NaN through may run: a hidden NaN would let the run go
  // on with ruined weights. Memory is dearer, too, with activations that wait for the backward
  // pass.
  bool learns = false;
  // The workspace budget: bytes for the operands and the workspace of a kernel that takes more than
  // others to be faster.
  int64_t workspace_budget = std::numeric_limits<int64_t>::max();
  // Kernels that compute in f32 may round the factors of products to TF32 (10 bits of mantissa).
  // Sums are in f32.
  bool tf32 = false;
  // If it is not 0, only kernels that give the bits of a thread team of so many on one thread may
  // run. 0: they give the bits of `threads`.
  int thread_team = 0;
};

class Target {
 public:
  virtual ~Target() = default;

  virtual std::string_view name() const = 0;  // "reference"
  // Returns the kernels that can run a bound node, the preferred one first. If there is none, the
  // list is empty. A kernel that runs on several layouts is an option for each that spares a
  // reorder.
  virtual std::vector<KernelOption> Options(const NodeSignature& node,
                                            const RunSetting& setting) const = 0;
  // Returns the outputs of a bound node for constant inputs, as the device would compute them. If
  // it cannot, returns nothing.
  virtual std::optional<std::vector<HostTensor>> Evaluate(
      const NodeSignature& node, std::span<const HostTensor> inputs) const = 0;
  // Names what results depend on beside the program: instruction set, libraries and their versions.
  virtual std::string fingerprint() const = 0;
};

}  // namespace cgrun

#endif  // CGRUN_OPS_TARGET_H_
