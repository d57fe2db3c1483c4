// Program: a verified image with its kernels prepared and its arena taken. Running an entry point
// is a loop over instructions; it allocates nothing and looks nothing up. On a device whose work
// goes on by itself that is before the first step alone: what the loop puts into the stream is kept
// then, and started as one from there on.
#ifndef CGRUN_PROGRAM_PROGRAM_H_
#define CGRUN_PROGRAM_PROGRAM_H_

#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/device/swap_space.h"
#include "src/program/code.h"
#include "src/program/layout_copy.h"
#include "src/program/staged_ports.h"
#include "src/program/stream_choice.h"

namespace cgrun {

// Looks at an image whose arenas are to be taken.
using BeforeArenas = std::function<void(const ProgramImage& image)>;

class Program {
 public:
  // Verifies the image, prepares its kernels, and takes and fills the arena: constants, and state
  // as its initialisers say. `device`, `library` and `communicator` must outlive the program.
  // `swap_folder`: where the swap file is made, of an image that swaps, for a device that has no
  // swap space of its own. `in_step`: it is run by RunInStep() alone, the first time here.
  // `before_arenas` is called when the kernels are prepared, and may throw. Throws InputError if
  // the image is not sound, UserError if there is too little memory or too little space in the
  // folder.
  Program(ProgramImage image, Device& device, const KernelLibrary& library,
          Communicator& communicator, const std::string& swap_folder = "", bool in_step = false,
          const BeforeArenas& before_arenas = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const ProgramImage& image() const { return image_; }
  const std::vector<EntryPoint>& entries() const { return code_.entries(); }
  // Index of the entry point of that kind for `batch` samples; −1 if there is none.
  int FindEntry(EntryKind kind, int64_t batch) const;

  // A clock of the stream on which it runs; see Device::MakeClock().
  std::unique_ptr<StreamClock> MakeClock(size_t marks) const {
    return device_.MakeClock(context_.stream, marks);
  }

  // Runs an entry point once; all its feeds are written. Returns false if it ended between two
  // instructions, because `*stop` was not 0. Results and states are worth nothing then. A captured
  // run of an accelerator goes to its end. Throws UserError with the device's error.
  bool Run(int entry, const volatile std::sig_atomic_t* stop = nullptr);
  // Throws UserError if bytes were lost on their way to the swap space or back, in any run so far:
  // its results, and states since, are worth nothing.
  void CheckTransfers() const {
    if (swap_space_) swap_space_->Check();
  }
  // Returns whether RunChanged() can run a part of an entry point: it is incremental, and ran last,
  // and no state was written from outside since.
  bool CanRunChanged(int entry) const;
  // Runs only the instructions that depend on `changed`. It is a union of the ImagePort::reach of
  // the feeds that have changed since the entry point's last run. The results are those of Run().
  // Feeds that meet `changed` are written, others are not touched. Returns how many instructions
  // ran.
  int64_t RunChanged(int entry, ReachSet changed) {
    return RunChangedChecked(entry, changed, [](const Instruction&) {});
  }
  // Has `run` run its instructions, one by one: for debugging.
  template <class RunOne>
  void RunBy(int entry, RunOne run) {
    last_entry_ = entry;
    SendFeeds(entry);
    for (const Instruction& instruction : entries()[static_cast<size_t>(entry)].instructions) {
      run(context_, instruction);
    }
    BringResults(entry);
  }
  // Runs its instructions one by one, calling `after` for each: for checks and profiles.
  template <class After>
  void RunChecked(int entry, After after) {
    RunBy(entry, [&](const RunContext& context, const Instruction& instruction) {
      instruction.run(context, instruction);
      after(instruction);
    });
  }
  // Waits for the device after each instruction. Throws UserError, which names the operator and its
  // source line, with the device's error.
  void RunInStep(int entry);
  template <class After>
  int64_t RunChangedChecked(int entry, ReachSet changed, After after) {
    const EntryPoint& point = entries()[static_cast<size_t>(entry)];
    SendFeeds(entry, changed);
    int64_t count = 0;
    for (size_t i = 0; i < point.reach.size(); ++i) {
      if ((point.reach[i] & (changed | kEveryRun)) == 0) continue;
      const Instruction& instruction = point.instructions[i];
      instruction.run(context_, instruction);
      after(instruction);
      ++count;
    }
    BringResults(entry);
    return count;
  }

  // Copies bytes into a feed of an entry point, or out of a result of that which ran last, each by
  // its index in the image; sizes must agree (a check).
  void Feed(int entry, size_t feed, std::span<const std::byte> bytes);
  void Fetch(int entry, size_t result, std::span<std::byte> bytes) const;
  // Copies the bytes of an operand out.
  void Read(const ImageOperand& operand, std::span<std::byte> bytes) const;

  // State, by index into image().states; plain, however it lies.
  HostTensor ReadState(size_t index) const;
  void ReadState(size_t index, std::span<std::byte> plain) const;  // does not allocate
  // The state's bytes in the arena; empty where ReadsInPlace() says that a copy is needed.
  std::span<const std::byte> StateInPlace(size_t index) const;
  void WriteState(size_t index, const HostTensor& tensor);
  // Has `fill` write the state's plain bytes: where they lie, or to a copy where StateInPlace() is
  // empty.
  void FillState(size_t index, const std::function<void(std::span<std::byte> plain)>& fill);
  // Gives every state the value that its initialiser says.
  void InitializeStates();
  // The bytes of all states as they lie in the arena: a copy for each stretch of them.
  // Returns how many bytes they are, with the padding between states.
  int64_t StateImageBytes() const;
  // Copies them out of the arena, and back. Neither allocates.
  void SaveStates(std::span<std::byte> to) const;
  void RestoreStates(std::span<const std::byte> from);

  // Gives the arenas back. From then on the program neither runs nor tells its state.
  void FreeArenas() { arenas_.Free(); }

 private:
  // Holds the arenas that were taken from the device, and gives them back at the end.
  class Arenas {
   public:
    explicit Arenas(Device& device) : device_(device) {}
    ~Arenas() { Free(); }
    Arenas(const Arenas&) = delete;
    Arenas& operator=(const Arenas&) = delete;

    std::byte* Take(ArenaKind kind, int64_t bytes) {
      std::byte* const arena = device_.Allocate(kind, bytes);
      taken_.emplace_back(kind, arena);
      return arena;
    }
    void Free() {
      for (const auto& [kind, arena] : taken_) device_.Free(kind, arena);
      taken_.clear();
    }

   private:
    Device& device_;
    std::vector<std::pair<ArenaKind, std::byte*>> taken_;
  };

  std::unique_ptr<SwapSpace> MakeSwapSpace(const std::string& swap_folder) const;
  void TakeArenas(const std::string& swap_folder);
  void FindStateStretches();
  std::byte* Address(const Operand& operand) const;
  void WritePlain(size_t index, std::span<const std::byte> plain);
  void WriteConstants();
  void PrepareLayouts();
  void PrepareStaging();
  void CaptureRuns(bool in_step);
  // Copy staged feeds to the device: all, or those that meet `changed`; and staged results back.
  void SendFeeds(int entry);
  void SendFeeds(int entry, ReachSet changed);
  void SendFeed(int entry, size_t feed);
  void BringResults(int entry);
  bool RunInstructions(int entry, const volatile std::sig_atomic_t* stop = nullptr);
  bool RunAll(const std::vector<Instruction>& instructions,
              const volatile std::sig_atomic_t* stop) noexcept;
  // Waits for the run, if one may still read staged feeds and write staged results.
  void AwaitRun() const;

  ProgramImage image_;
  Device& device_;
  const bool on_host_;                     // whether the device has no memory of its own
  Arenas arenas_;                          // the members below know places there
  Code code_;                              // of image_
  std::unique_ptr<SwapSpace> swap_space_;  // of an image that has one
  // Bytes of the arena in which states lie side by side, and nothing else does.
  struct Stretch {
    int64_t offset = 0;
    int64_t bytes = 0;
  };
  std::vector<Stretch> state_stretches_;
  std::vector<std::optional<LayoutCopy>> layout_copies_;  // of each state that is not plain
  mutable std::vector<std::byte> staging_;                // for them
  std::vector<StagedPorts> staged_;                       // of each entry point
  std::vector<std::unique_ptr<CapturedWork>> captured_;   // of each, where it can be captured
  std::vector<StreamChoice> stream_choices_;              // of each
  mutable bool is_under_way_ = false;  // a run, which may read and write staged ports
  RunContext context_;
  int last_entry_ = -1;  // the last run, if its results are still those of the states
};

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_PROGRAM_H_
