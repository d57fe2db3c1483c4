// The flags of verbs that read a model file, and what they set.
#ifndef CGRUN_CLI_MODEL_FLAGS_H_
#define CGRUN_CLI_MODEL_FLAGS_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/cli/onnx_flags.h"
#include "src/cli/verb.h"
#include "src/compile/compile.h"
#include "src/model/model_spec.h"
#include "src/run/engine.h"

namespace cgrun {

struct ModelFlags {
  std::string model;  // the positional argument
  std::string device;
  std::string batch;
  std::string memory;
  std::string memory_flag = "--memory";  // that has set it, for messages
  std::string host_memory;
  std::string swap;
  std::string order;
  std::string planner = "portfolio";
  std::string zones;
  std::string precision;
  std::string seed;
  int threads = 0;  // 0: as many as the process may run at once
  bool tune = false;
  std::vector<std::string> keep;
  std::vector<std::string> set;
  std::vector<std::string> of_run;  // assignments that a resumed run was started with
  std::vector<std::string> disabled_passes;
  std::string stop_after_pass;
  std::vector<std::string> dump_after;
  bool takes_onnx = false;  // MODEL may be an .onnx file, of which these flags are
  OnnxFlags onnx;
};

// The flags of verbs that run a model.
struct RunFlags {
  std::string mode;           // "": not given
  int64_t limit_batches = 0;  // 0: all
  bool dry_run = false;
  bool debug_sets = false;
  bool debug_sync = false;
};

std::shared_ptr<RunFlags> AddRunFlags(const Verb& verb);
// RunFlags without --mode, for a verb that runs the model in several.
std::shared_ptr<RunFlags> AddRunFlagsOfAnyMode(const Verb& verb);

Mode ModeOf(const RunFlags& flags);

// Returns the flags as assignments to the model file, as of `--set`. Those of --set itself come
// last.
std::vector<std::string> AssignmentsOf(const ModelFlags& flags);

// Says whether a verb keeps a cap on memory, and so has --memory.
enum class CapFlag { kNone, kKept };

// Declares the flags; the result is filled when the command line is parsed.
std::shared_ptr<ModelFlags> AddModelFlags(const Verb& verb, CapFlag cap);

// Lets MODEL be an .onnx file, too, with the flags --dim and --const. `also`: what else MODEL may
// be but a model file: ", or compiled program (.cgb)".
void TakeOnnx(const Verb& verb, const std::shared_ptr<ModelFlags>& flags,
              const std::string& also = "");

// The model file with the flags as overrides. An .onnx file is imported, if the verb takes one. A
// batch that the file leaves to us is the default, and marked as automatic: verbs that train or
// plan look for it (FitMemory). Prints errors; nothing after one. Throws InputError for a compiled
// program.
std::optional<ModelSpec> LoadModel(const ModelFlags& flags);
// Does the same for a file that may be a compiled program: then it returns the program's model.
std::optional<ModelSpec> LoadModelOrProgram(const ModelFlags& flags);
// The same; what it printed is in `diagnostics` too.
std::optional<ModelSpec> LoadModelOrProgram(const ModelFlags& flags, Diagnostics& diagnostics);
// Does the same for the model that a compiled program carries.
std::optional<ModelSpec> LoadEmbeddedModel(const ModelFlags& flags, const std::string& text,
                                           const std::string& path);

// Does the same with this batch instead of that of flags and file.
std::optional<ModelSpec> LoadWithBatch(ModelFlags flags, int64_t batch);

// A compiled program, whose model's paths start at the folder that it is in now. Throws InputError,
// which names the file, if it is damaged or not sound.
ProgramImage LoadProgram(const std::string& path);

// "lenet.cgb": a compiled program.
bool IsProgramFile(const std::string& path);

// Returns whether values are kept in `out`, the folder of --out (""; none). Throws InputError where
// --keep asks for them and there is none.
bool KeepsInFolder(const ModelFlags& flags, const std::string& out);

// The device of the flags and the file: `auto` is the best one that this build has.
std::string DeviceOf(const ModelSpec& model);

// Reports the errors of a model file, each at its place.
class ModelError : public InputError {
 public:
  ModelError(const std::string& message, Diagnostics diagnostics)
      : InputError(message), diagnostics_(std::move(diagnostics)) {}
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  Diagnostics diagnostics_;
};

// The kernels of that device. Throws ModelError, which says why there are none, and what else is
// wrong with the file.
const KernelLibrary& KernelsOf(const ModelSpec& model);

// Throws InputError where --planner is none that there is.
void CheckPlanner(const ModelFlags& flags);
// Makes the options of compiling from the flags and the file, with the tuning record of this
// machine. If `--tune` is given, the machine is measured first. A dry run measures nothing, and its
// findings are not kept for others. Throws InputError for unknown passes, planners and orders.
CompileOptions CompileOptionsOf(const ModelFlags& flags, const ModelSpec& model,
                                bool is_dry_run = false);

}  // namespace cgrun

#endif  // CGRUN_CLI_MODEL_FLAGS_H_
