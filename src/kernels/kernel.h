// Declares what a kernel is: questions that are answered before the first step, and a function that
// runs blindly. A kernel sees types, attributes and bytes, never a graph.
#ifndef CGRUN_KERNELS_KERNEL_H_
#define CGRUN_KERNELS_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/device/communicator.h"
#include "src/device/device.h"
#include "src/ir/signature.h"
#include "src/ops/target.h"

namespace cgrun {

enum class Access : uint8_t { kRead, kWrite, kReadWrite, kScratch };

// Says where an operand lies: `offset` bytes into an arena.
struct Operand {
  int64_t offset = 0;
  ArenaKind arena = ArenaKind::kDevice;
  Access access = Access::kRead;
};

// Holds what a program gives to every kernel.
struct RunContext {
  std::byte* arenas[kArenaKinds] = {};
  Communicator* communicator = nullptr;
  SwapSpace* swap_space = nullptr;  // the arena ArenaKind::kFile, which has no address
  Stream stream;
};

struct Instruction;
using KernelFunction = void (*)(const RunContext&, const Instruction&) noexcept;

// Describes one step of a program. It is trivially copyable, of fixed size. Operands are the node's
// inputs, then its outputs, then its workspace if it has one. They and the parameters belong to the
// program.
struct Instruction {
  KernelFunction run = nullptr;
  const Operand* operands = nullptr;
  const void* parameters = nullptr;
  int32_t operand_count = 0;
  int32_t node = 0;  // index of the node, for messages
};

// The bytes of operand `i`. An arena without a base makes offsets addresses, as eager mode does.
template <class T>
T* Data(const RunContext& context, const Instruction& instruction, int i) {
  const Operand& operand = instruction.operands[i];
  const auto base = reinterpret_cast<uintptr_t>(context.arenas[static_cast<int>(operand.arena)]);
  return reinterpret_cast<T*>(base + static_cast<uintptr_t>(operand.offset));
}

// Returns the bytes of a bound node's inputs and outputs together.
inline int64_t OperandBytes(const NodeSignature& node) {
  int64_t bytes = 0;
  for (const TensorType& type : node.inputs) bytes += ByteSize(type);
  for (const TensorType& type : node.outputs) bytes += ByteSize(type);
  return bytes;
}

// Says how an operand's elements lie: in a layout. If the operand is a view into another tensor, it
// has strides, in elements; else they are empty.
struct OperandLayout {
  Layout layout;
  std::vector<int64_t> strides;
};

// Holds what `prepare` is given: the bound node, and what selection and the plan decided.
struct KernelRequest {
  const NodeSignature& node;
  std::vector<OperandLayout> operands;  // inputs, then outputs
  int threads = 1;
  bool tf32 = false;    // factors are rounded to TF32 (RunSetting::tf32)
  int thread_team = 0;  // whose bits it is to give (RunSetting::thread_team); 0: those of `threads`

  // Returns the same request for another node.
  KernelRequest For(const NodeSignature& other) const {
    return {other, operands, threads, tf32, thread_team};
  }
};

struct PreparedKernel {
  KernelFunction run = nullptr;
  std::shared_ptr<const void> parameters;  // Instruction::parameters points to it

  template <class P>
  static PreparedKernel Of(KernelFunction run, P parameters) {
    return {run, std::make_shared<const P>(std::move(parameters))};
  }
};

// Describes a kernel of one operator. A function may be null if a default is given.
struct KernelDef {
  std::string_view name;                             // "reference.relu"
  bool (*supports)(const NodeSignature&) = nullptr;  // null: every node of its operator
  int64_t (*workspace_bytes)(const NodeSignature&, int threads) = nullptr;  // null: none
  PreparedKernel (*prepare)(const KernelRequest&) = nullptr;
  void (*layouts)(const NodeSignature&, KernelOption*) = nullptr;  // null: all plain
  // Sets layouts and workspace together, if they are one choice of a library. Returns false if the
  // library has no good code for the node. Null: the two functions above do.
  bool (*choose)(const NodeSignature&, const RunSetting&, KernelOption*) = nullptr;
  // The kernel goes through the bytes element by element, each operand in step. It therefore runs
  // on any layout that they share, as if that were a plain shape. If a layout has padding, the
  // padding must stay 0.
  bool elementwise = false;
  bool reads_others = false;      // elementwise, and inputs of other shapes are plain
  bool counts_elements = false;   // its result depends on their number: a mean's gradient
  bool keeps_zero = false;        // zeros give a zero
  bool hides_nan = false;         // may give a number for a NaN
  bool in_place = true;           // can run on the operator's in-place pairs, and on parts in place
  bool tf32 = false;              // can round its factors to TF32
  bool calls_onednn = false;      // oneDNN runs it, and holds code and memory for it
  bool fewer_operations = false;  // than its operator is counted to take, by Winograd's algorithm
  // Returns whether the kernel must know its thread team. With that many threads it gives other
  // bits than with one, or it must not run beside another kernel. Null: neither is so.
  bool (*by_team)(const NodeSignature&, int threads) = nullptr;
  // Returns the workspace that the kernel takes on one thread to give the bits of a thread team,
  // part after part. Only a kernel by team whose `prepare` reads KernelRequest::thread_team has
  // this function. Null: the kernel cannot do that.
  int64_t (*single_threaded_workspace)(const NodeSignature&, int thread_team) = nullptr;
  double flops_per_second = 1e9;  // of one thread: an estimate, to choose between kernels by
  // Estimates the time of all `threads` better. Null: the estimate follows from flops_per_second
  // and bytes.
  double (*seconds)(const NodeSignature&, int threads) = nullptr;
};

// Says what a library knows of a kernel that it has chosen. It finds the kernel by its name.
struct KernelTraits {
  bool calls_onednn = false;      // as in KernelDef
  bool fewer_operations = false;  // as in KernelDef
  bool tf32 = false;              // it rounds its factors to TF32
};

inline bool AlwaysByTeam(const NodeSignature&, int) { return true; }

// Holds a device's kernels. It answers the compiler's questions, then prepares what it chose.
class KernelLibrary : public Target {
 public:
  // Packs the parameters of a chosen kernel, and takes from the libraries what it needs to run.
  // Fails a check if the kernel is not one of Options().
  virtual PreparedKernel Prepare(std::string_view kernel, const KernelRequest& request) const = 0;
  // Has the libraries take now what they would take in their first calls with so many threads:
  // threads, buffers. `streams`: some kernels run in parallel streams.
  virtual void WarmUp(int /*threads*/, bool /*streams*/) const {}
  // Returns the traits of one of Options(); those of a kernel that is not there are all false.
  virtual KernelTraits TraitsOf(std::string_view /*kernel*/) const { return {}; }
  // Returns whether kernels make use of more than one of the host's threads.
  virtual bool uses_threads() const { return true; }
};

// The kernel library of a device ("reference", "cuda:1"), or null. Throws UserError if a library
// that its kernels call cannot be loaded.
const KernelLibrary* FindKernelLibrary(std::string_view device);
// Says what the kernels of a known device are made of: their fingerprint, or "built without
// oneDNN", or why the library that they call cannot be loaded.
std::string DescribeKernels(std::string_view device);
// Returns the device that `auto` stands for: the fastest of the host's devices in this build.
std::string_view FastestHostDevice();

}  // namespace cgrun

#endif  // CGRUN_KERNELS_KERNEL_H_
