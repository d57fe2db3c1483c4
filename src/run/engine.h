// Engine: what runs the entry points of a model. Sessions feed it, run it and read from it, and do
// not know how it does that: as byte code with planned memory (graph mode), or operator by operator
// (eager mode).
#ifndef CGRUN_RUN_ENGINE_H_
#define CGRUN_RUN_ENGINE_H_

#include <csignal>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/operator_times.h"
#include "src/compile/compile.h"
#include "src/eager/eager_program.h"
#include "src/program/program.h"
#include "src/results/memory_use.h"

namespace cgrun {

class DebugRun;

// Bytes that are written before a run (a feed), or read after it (a result).
struct EnginePort {
  std::string name;
  TensorType type;                            // bound
  OutputKind kind = OutputKind::kPrediction;  // of results
  int path = -1;                              // of results: index into EngineModel::paths, or −1
  std::optional<MetricUse> metric = std::nullopt;  // of results of kind kMetric
  int64_t bytes() const { return ByteSize(type); }
};

struct EngineEntry {
  std::string name;  // "train", "train.tail"
  EntryKind kind = EntryKind::kTrain;
  int64_t batch = 0;
  std::vector<EnginePort> feeds;
  std::vector<EnginePort> results;
};

struct EngineState {
  std::string name;
  TensorType type;
  Role role = Role::kParameter;

  // Whether elements may be infinite. Those of a `parameter` may, as the masks of attention are.
  bool may_be_infinite() const { return name.ends_with(".value"); }
};

// Whether no element of a state is NaN, and none is infinite that may not be.
bool IsSound(const EngineState& state, std::span<const std::byte> elements, bool* nan = nullptr);

using EnginePath = ImagePath;

// Describes an engine, by the indices that its functions take.
struct EngineModel {
  std::string name;
  std::string device;
  std::vector<EnginePath> paths;
  std::vector<EngineState> states;
  std::vector<EngineEntry> entries;

  // Index of the entry point of that kind for `batch` samples; −1 if there is none.
  int FindEntry(EntryKind kind, int64_t batch) const;
  // Index of the state of that name, which there is (a check).
  size_t FindState(std::string_view name) const;
};

// An operator of an entry point, as profiles show it.
struct EngineOperator {
  std::string name;    // "classify.conv1"
  std::string kernel;  // "onednn.conv"
  Phase phase = Phase::kForward;
  int64_t flops = 0;
  int64_t bytes = 0;              // of its operands; 0 of an eager view, which runs nothing
  bool fewer_operations = false;  // than `flops` says: KernelTraits
  std::string source = {};        // "model.yaml:12:7"; "" for what no user wrote
  // The part of its time that it takes for less memory: 1 of one that runs a second time in one
  // run, or of a transfer; of a kernel that works alone for a smaller workspace an estimate.
  double share_for_less = 0;
  std::string parts = {};  // "conv, relu, max_pool": what a fused one does, in this order
};

// Sees a run go on, operator by operator.
class RunChecker {
 public:
  virtual ~RunChecker() = default;
  // Operator `index` of Engine::Operators() has written elements of this type: all that its layout
  // holds, where some may be padding, which is 0. Returns whether later ones are to be shown too.
  virtual bool OnOutput(size_t index, DType dtype, std::span<const std::byte> elements) = 0;
};

// Engine::Run() has ended between two operators, as StopAt() asks: states are changed in part.
class RunStopped final : public std::exception {};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual Mode mode() const = 0;
  virtual EngineMemory memory() const = 0;
  // Returns the program of graph mode, or null in eager mode.
  virtual Program* program() { return nullptr; }
  const EngineModel& model() const { return model_; }

  // Copies bytes into a feed. Every feed must be written before each run of its entry point. Sizes
  // must agree (a check).
  virtual void Feed(int entry, int feed, std::span<const std::byte> bytes) = 0;
  // Throws UserError if memory runs out, which happens in eager mode alone, or if the disk fails to
  // which tensors are swapped. Throws RunStopped, too.
  virtual void Run(int entry) = 0;
  // From now on, as soon as `*stop` is not 0, Run() ends before its next operator. An accelerator
  // ends what it has begun. If `stop` is null, Run() runs to the end.
  void StopAt(const volatile std::sig_atomic_t* stop) { stop_ = stop; }
  // Writes the feeds and runs the operators that changed feeds reach. `changed` has an element for
  // each feed: whether it differs from the last run of the entry point. Some runs must be whole:
  // the first one, one after states were written, every one in eager mode, and every one of an
  // entry point that was compiled without LayoutOptions::incremental. Returns how many operators
  // ran.
  virtual int64_t RunChanged(int entry, std::span<const HostTensor> feeds,
                             const std::vector<bool>& changed) = 0;
  // Does the same as Run(), and shows `checker` all that operators write. It is slow and allocates.
  virtual void RunChecked(int entry, RunChecker& checker) = 0;
  // Copies a result of the entry point that ran last.
  virtual void Fetch(int entry, int result, std::span<std::byte> bytes) const = 0;
  // The numbers of a result; `bytes` has room for it.
  void FetchNumbers(int entry, int result, std::span<std::byte> bytes,
                    std::span<double> numbers) const;

  // State, by index into model().states. `plain` and `tensor` have the bytes of the state's type.
  virtual void ReadState(size_t index, std::span<std::byte> plain) const = 0;
  void ReadState(size_t index, HostTensor& tensor) const { ReadState(index, tensor.bytes()); }
  // The state's bytes where they lie, valid until the engine runs or a state is written. The result
  // is empty where the device has a memory of its own, or where the state is not plain: ReadState()
  // copies such a state.
  virtual std::span<const std::byte> StateInPlace(size_t index) const = 0;
  virtual void WriteState(size_t index, const HostTensor& tensor) = 0;
  // Has `fill` write the state's plain bytes, where they lie if StateInPlace() tells.
  virtual void FillState(size_t index,
                         const std::function<void(std::span<std::byte> plain)>& fill) = 0;
  // Gives every state the value that its initialiser says.
  virtual void InitializeStates() = 0;
  virtual std::vector<EngineOperator> Operators(int entry) const = 0;
  // From the next run on `times` notes how long each of Operators() takes, by its index there, and
  // must outlive the runs; null: nothing does.
  void Watch(OperatorTimes* times) { times_ = times; }
  // A clock of the device's, for those times; see Device::MakeClock().
  virtual std::unique_ptr<StreamClock> MakeClock(size_t marks) const = 0;
  // Gives the arenas back to the device. From then on the engine neither runs nor tells its state.
  // Eager mode keeps its memory until the engine ends.
  virtual void FreeArenas() {}
  // Returns a hash of all parameters and running statistics, in the order of their names.
  uint64_t StateHash() const;
  // As above; `copy` has room for LargestCopiedState() bytes.
  uint64_t StateHash(std::span<std::byte> copy) const;
  // Bytes of the largest state that StateInPlace() does not tell; 0 where there is none.
  size_t LargestCopiedState() const;

 protected:
  EngineModel model_;
  OperatorTimes* times_ = nullptr;
  const volatile std::sig_atomic_t* stop_ = nullptr;
};

// Times for all operators of an engine's entry points; `traced`: with room for a trace of the first
// runs.
inline constexpr size_t kTracedRuns = 100'000;  // of operators; 2.3 MiB
std::unique_ptr<OperatorTimes> MakeTimes(const Engine& engine, bool traced = true);

// Returns how much longer training steps took to save memory: 0.1 is a tenth. Kernels have a share
// of their time that is for this (share_for_less). It is an estimate if a kernel is
// single-threaded. The result is nothing if no operator has been timed.
std::optional<double> SlowdownOf(const Engine& engine, const OperatorTimes& times);

// `device`, `library` and `communicator` must outlive an engine. These throw what the constructors
// of Program and EagerProgram do.
std::unique_ptr<Engine> MakeGraphEngine(std::unique_ptr<Program> program,
                                        const KernelLibrary& library);
std::unique_ptr<Engine> MakeEagerEngine(std::vector<EagerGraph> entries, Device& device,
                                        const KernelLibrary& library, Communicator& communicator,
                                        const EagerOptions& options = {});

// Lists what an engine runs on. All of it must outlive the engine, but for `before_arenas`, which
// need only outlive its making. `debug` is null, except in a debugging run. `before_arenas` is for
// a program.
struct EnginePlace {
  const KernelLibrary& library;
  Device& device;
  Communicator& communicator;
  DebugRun* debug = nullptr;
  BeforeArenas before_arenas = {};
};

// The engine of an image, as `place.debug` debugs it. `swap_folder`: as of Program.
std::unique_ptr<Engine> MakeImageEngine(ProgramImage image, const EnginePlace& place,
                                        const std::string& swap_folder);

// Compiles a model for these entry points, or prepares it for eager mode, and makes the engine of
// it. Returns null after an error, which goes to `diagnostics`; throws what the two above throw.
std::unique_ptr<Engine> BuildEngine(const ModelSpec& model,
                                    const std::vector<EntryRequest>& requests, Mode mode,
                                    const CompileOptions& options, const EnginePlace& place,
                                    Diagnostics& diagnostics, const EagerOptions& eager = {});

}  // namespace cgrun

#endif  // CGRUN_RUN_ENGINE_H_
