// ProgramImage: a compiled model as plain data — byte code, memory layout, and the model it came
// from. It is what `compile` writes, `disasm` prints and a Program is made of.
#ifndef CGRUN_PROGRAM_IMAGE_H_
#define CGRUN_PROGRAM_IMAGE_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/host_tensor.h"
#include "src/ir/graph.h"
#include "src/kernels/kernel.h"
#include "src/plan/reach.h"

namespace cgrun {

// The bytes of one operand of an instruction.
struct ImageOperand {
  Operand operand;
  int64_t bytes = 0;
  int32_t value = -1;  // which value of its entry point this is; −1 for a workspace. A view is the
                       // value that it views
  OperandLayout layout;
};

// One instruction, before its kernel is prepared.
struct ImageInstruction {
  std::string name;  // of the node: "classify.conv1"
  Phase phase = Phase::kForward;
  int path = -1;       // index into ProgramImage::paths; −1 for none
  std::string source;  // "model.yaml:12:7"; "" for what no user wrote
  NodeSignature node;
  std::string kernel;
  int threads = 1;
  int thread_team = 0;  // KernelRequest::thread_team
  int stream = 0;       // ScheduleStep::stream: 1 and 2 run beside each other, on one thread each
  std::vector<ImageOperand> operands;  // inputs, outputs, workspace
  ReachSet reach = 0;  // of an incremental entry point: it runs again when one of these changes
  bool again = false;  // so that less need be held: the second time in one run, or a transfer
  // The part of its time, 0 to 1, that a smaller workspace costs, by estimates.
  double share_for_less = 0;
};

// Bytes that are written from outside before a run (a feed), or read after it (a result).
struct ImagePort {
  std::string name;
  TensorType type;                            // bound
  OutputKind kind = OutputKind::kPrediction;  // of results
  int path = -1;
  ImageOperand bytes;
  std::optional<MetricUse> metric = std::nullopt;  // of results of kind kMetric
  // If this is a feed of an incremental entry point, this is its bit. It is 0 if nothing reads the
  // feed.
  ReachSet reach = 0;
};

// Describes one entry point: a straight line of instructions for one batch size.
struct ImageEntry {
  std::string name;  // "train", "train.tail"
  EntryKind kind = EntryKind::kTrain;
  int64_t batch = 0;
  std::vector<ImageOperand> resident;  // the state and constants that it uses
  std::vector<ImagePort> feeds;
  std::vector<ImagePort> results;
  std::vector<ImageInstruction> instructions;
  bool incremental = false;  // can run in part, as Program::RunChanged does
};

// Describes a tensor of the persistent region.
struct ImageState {
  std::string name;
  TensorType type;
  Role role = Role::kParameter;
  ParameterInfo info;
  int64_t offset = 0;
  Layout layout = {};  // in the arena, as many bytes as plain; files and ReadState() are plain
};

// Returns whether the state's bytes in the arena are what files hold; `on_host`: of the program's
// device.
bool ReadsInPlace(const ImageState& state, bool on_host);

struct ImageConstant {
  std::string name;
  HostTensor tensor;
  int64_t offset = 0;
};

struct ImagePath {
  std::string name;
  std::string learning_rate_feed;  // empty where nothing is learned
};

struct ProgramImage {
  std::string model;       // its name
  std::string model_text;  // the model file as resolved, without the folder of a swap file
  std::string model_path;  // its file: paths in it start there
  std::string device;
  std::string fingerprint;  // results depend on it: libraries, threads
  uint64_t seed = 0;
  std::array<int64_t, kArenaKinds> arena_bytes{};
  // Returns the bytes of arenas in memory, which are all but the swap file.
  int64_t memory_bytes() const {
    return arena_bytes[static_cast<size_t>(ArenaKind::kDevice)] +
           arena_bytes[static_cast<size_t>(ArenaKind::kPinnedHost)];
  }
  std::vector<ImagePath> paths;
  std::vector<ImageState> states;
  std::vector<ImageConstant> constants;
  std::vector<ImageEntry> entries;

  // The entry point of that kind for `batch` samples, or null.
  const ImageEntry* Find(EntryKind kind, int64_t batch) const;
};

// Checks what an image promises: operands inside their arenas and aligned, nothing read before it
// is written, nothing written over what is still to be read, by this run or, of an incremental
// entry point, a later one. One sentence a violation; what it calls clean runs without further
// checks.
std::vector<std::string> VerifyImage(const ProgramImage& image);

// Returns the listing of an image.
std::string Disassemble(const ProgramImage& image);

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_IMAGE_H_
