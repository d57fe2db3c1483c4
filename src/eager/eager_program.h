// Eager execution: operator by operator, as a program of an eager framework runs. EagerProgram is
// to it what Program is to graph mode. It is the baseline of our benchmark, and so it must be as
// good an eager mode as one can write, by PyTorch's rules:
//
// - The graph is the one before the passes. Operators run path by path as the file is written:
//   forward, backward, updates. Nothing is fused, folded, merged or recomputed.
// - A tensor's memory is asked for right before the operator that writes it, and goes back when its
//   last reader has run, by reference count. So what the backward pass needs lives until it has
//   read it, and a parameter's gradient until the update (zero_grad(set_to_none=True)). A batch is
//   not held for longer than it is read, which is kinder than a loop over a DataLoader.
// - Views share memory. In place are optimizers, running statistics, and sums of gradients;
//   activations are not.
// - Results, and what the user keeps, stay until the next step begins.
// - Memory comes from a caching allocator (caching_allocator.h), workspaces too.
// - A kernel is prepared when its operator runs for the first time, and kept for it: as in the
//   framework's primitive cache. A step does no look-up by name, and no allocation on the heap once
//   the allocator's books have grown.
// - Between operators tensors are plain, as they are in PyTorch on a CPU. If a kernel wants
//   blocks, it is called with copies into its layouts right before it and out of them right after
//   it. An operator takes the kernel that is fastest with these copies (SelectPlainKernels()). The
//   other choice would have been to let layouts travel, as MXNet did. They travel in graph mode
//   because `select` sees the graph. Eager frameworks that users have today return plain tensors
//   unless the user asks for another layout, so that is the baseline. The copies are nodes of the
//   graph and count as memory and time, in PyTorch as here. (A graph whose layouts do travel runs
//   too: the tests run what graph mode has selected, and get its bits.)
#ifndef CGRUN_EAGER_EAGER_PROGRAM_H_
#define CGRUN_EAGER_EAGER_PROGRAM_H_

#include <csignal>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/operator_times.h"
#include "src/eager/caching_allocator.h"
#include "src/eager/tape.h"
#include "src/kernels/kernel.h"

namespace cgrun {

// Holds an entry point: a bound graph that has kernels, before any pass.
struct EagerSource {
  std::string name;  // "train", "train.tail"
  EntryKind kind = EntryKind::kTrain;
  int64_t batch = 0;
  Graph graph;
  std::vector<ValueId> keep = {};  // values that the user holds until the next step
};

// When memory goes back.
enum class FreePolicy : uint8_t {
  kAtLastReader,
  kAfterStep,  // nothing is freed, and nothing added up in place, within a step: as in Owl
};

// Sees what happens, in order: for tests and traces. Names are those of the graph's values and
// nodes; a workspace is called NODE.workspace.
class EagerListener {
 public:
  virtual ~EagerListener() = default;
  virtual void OnAllocate(std::string_view value, int64_t bytes) = 0;
  virtual void OnFree(std::string_view value) = 0;
  virtual void OnRun(std::string_view node) = 0;
};

struct EagerOptions {
  FreePolicy free = FreePolicy::kAtLastReader;
  EagerListener* listener = nullptr;  // outlives the program
};

// Sees what each operator has written: a node of the entry point's graph, and bytes on the host, in
// the layout of the node's output.
class EagerOutputs {
 public:
  virtual ~EagerOutputs() = default;
  virtual void OnOutput(NodeId node, size_t output, std::span<const std::byte> bytes) = 0;
};

// A state that all entry points share.
struct EagerState {
  std::string name;
  TensorType type;
  Role role = Role::kParameter;
};

class EagerProgram {
 public:
  // States get the value that their initialisers say, for `graph.seed`. `device`, `library` and
  // `communicator` must outlive the program. Throws UserError if there is too little memory.
  EagerProgram(std::vector<EagerSource> entries, Device& device, const KernelLibrary& library,
               Communicator& communicator, const EagerOptions& options = {});
  ~EagerProgram();
  EagerProgram(const EagerProgram&) = delete;
  EagerProgram& operator=(const EagerProgram&) = delete;

  int entry_count() const;
  const EagerSource& entry(int index) const;
  // Returns by node whether its output is its input's memory, so that nothing runs.
  std::vector<bool> Views(int index) const;
  // In the order of their zones, then of the first entry point that has them.
  const std::vector<EagerState>& states() const { return states_; }

  // Copies bytes into a placeholder of an entry point; each has to be fed before each run. One that
  // nothing reads takes no memory. Sizes must agree (a check).
  void Feed(int entry, ValueId placeholder, std::span<const std::byte> bytes);
  // One step; `times` notes how long each node takes, by its id (null: not), `outputs` sees what it
  // writes (null: not). Returns false where it ended between two nodes, as `*stop` was not 0, and
  // throws UserError where memory runs out in the middle of it: then the states are lost.
  bool Run(int entry, OperatorTimes* times = nullptr, EagerOutputs* outputs = nullptr,
           const volatile std::sig_atomic_t* stop = nullptr);
  // A clock of the stream on which it runs; see Device::MakeClock().
  std::unique_ptr<StreamClock> MakeClock(size_t marks) const {
    return device_.MakeClock(context_.stream, marks);
  }
  // Copies out an output of the entry point that ran last, or what the user keeps of it.
  void Fetch(int entry, ValueId value, std::span<std::byte> bytes) const;

  // Reads the state at `index` of states() into bytes of the state's type.
  void ReadState(size_t index, std::span<std::byte> plain) const;
  // The state's bytes until the next run; empty where the device has a memory of its own.
  std::span<const std::byte> StateInPlace(size_t index) const;
  void WriteState(size_t index, const HostTensor& tensor);
  // Gives every state the value that its initialiser says.
  void InitializeStates();

  // Gives back what the last step's results hold.
  void ReleaseResults();
  const AllocatorStatistics& statistics() const { return allocator_.statistics(); }

 private:
  using Block = CachingAllocator::Block;

  // A tensor while an entry point runs.
  struct Tensor {
    Block* block = nullptr;
    int32_t references = 0;
  };
  // Memory that a step is done with, and gives back when the next begins.
  struct Deferred {
    std::string_view name;
    Block* block = nullptr;
  };
  struct Constant {
    std::string name;
    HostTensor tensor;
    Block* block = nullptr;
  };
  struct Call;
  struct Entry;

  void AddStates(const Graph& graph, Zone zone);
  void AddEntry(EagerSource source);
  Call MakeCall(const Graph& graph, const TapeCall& tape) const;
  Block** ModelBlock(const Graph& graph, ValueId id);
  Block** AddState(const Graph& graph, ValueId id);
  Block** AddConstant(const Graph& graph, ValueId id);
  void Begin(Entry& entry);
  void Execute(Entry& entry, Call& call, EagerOutputs* outputs);
  void Show(const Entry& entry, const Call& call, EagerOutputs& outputs) const;
  void Prepare(const Entry& entry, Call& call);
  Block* PlaceOutput(Entry& entry, const Call& call, int output);
  Block* TakeOver(Entry& entry, const Call& call, int output);
  void Release(Entry& entry, TensorId id);
  void CommitUpdates(Entry& entry);
  Block* Allocate(std::string_view name, int64_t bytes);
  void Free(std::string_view name, Block* block);
  void GiveBack(std::string_view name, Block* block);
  void CopyIn(Block* block, std::span<const std::byte> bytes);
  void CopyOut(const Block* block, std::span<std::byte> bytes) const;

  Device& device_;
  const KernelLibrary& library_;
  EagerOptions options_;
  RunContext context_;
  CachingAllocator allocator_;
  std::vector<EagerState> states_;
  std::deque<Block*> state_blocks_;  // entry points point into them
  std::deque<Constant> constants_;
  std::vector<std::unique_ptr<Entry>> entries_;
  Entry* finished_ = nullptr;       // whose results are still held
  std::vector<Deferred> deferred_;  // with FreePolicy::kAfterStep
};

}  // namespace cgrun

#endif  // CGRUN_EAGER_EAGER_PROGRAM_H_
