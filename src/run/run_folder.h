// The folder that a run leaves.
#ifndef CGRUN_RUN_RUN_FOLDER_H_
#define CGRUN_RUN_RUN_FOLDER_H_

#include <optional>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/model/model_spec.h"
#include "src/results/train_result.h"
#include "src/run/run_lock.h"

namespace cgrun {

// The folder of one run. Until Keep() is called it goes away with this object, if no checkpoint is
// in it: a run that failed before it began leaves nothing in the way of the next one.
class RunFolder {
 public:
  // Throws what the constructor would throw, and makes nothing.
  static void Check(const std::string& folder, bool force, const std::vector<std::string>& inputs);

  // Makes the folder. One that is not empty is refused; with `force`, if a former run left it
  // (run.json says so), or where that failed before its first checkpoint but that of step 0, it is
  // cleared of that run's own files. One that holds a file of `inputs` (what the run reads; "" is
  // none), or in which a run is going on, is refused always. Throws InputError, and UserError where
  // a folder cannot be made.
  RunFolder(std::string folder, bool force, const std::vector<std::string>& inputs);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  void Keep() { keep_ = true; }

 private:
  std::string path_;
  std::optional<RunLock> lock_;
  std::vector<std::string> made_;  // the folders that were not there, outermost first
  bool keep_ = false;
};

// Throws InputError where model.yaml of a run folder, which is UTF-8, could not name a path of the
// model.
void CheckPathsOfModel(const ModelSpec& model);

// Removes what a run that was killed had begun to write in its folder.
void RemoveTemporaries(const std::string& folder);

// The most threads that a run is started with.
inline constexpr int kMostThreads = 1024;

// A call of `train` that a run is made of.
struct RunPart {
  std::string date;     // when it began, with its time zone
  std::string version;  // of cgrun
  std::string command;  // the command line; "": not known
  int64_t step = 0;     // at which it began; 0 of the first one
  friend bool operator==(const RunPart&, const RunPart&) = default;
};

// Holds the settings of a run's start that the model file does not have. A resumed run starts with
// the same.
struct RunSettings {
  std::string device = "reference";
  Mode mode = Mode::kGraph;
  int threads = 1;
  int64_t limit_batches = 0;                 // 0: all
  std::vector<std::string> kept_files = {};  // that the run leaves beside its own, by name
  int64_t base_bytes = 0;                    // with which its cap on memory was kept; 0: none was
  bool streams = true;                       // CompileOptions::streams, as that cap left them
  std::string data_hash = {};                // HashOf() its training data; "": not known
  std::string tuning = {};                   // the name of the record that chose kernels; "": none
  // The settings of the model file that the run's command lines changed, such as with `--set`, in
  // order.
  std::vector<std::string> overrides = {};
  std::vector<RunPart> parts = {};  // this one is the last; none in folders of former versions
};

// run.json. Reading throws UserError for a file that is missing or damaged.
void WriteRunSettings(const std::string& folder, const RunSettings& settings);
RunSettings ReadRunSettings(const std::string& folder);

// Writes model.yaml, the model file as resolved.
void WriteModelFile(const std::string& folder, const ModelSpec& model);

// Makes the text of summary.json, which `--json` prints too.
std::string SummaryJson(const TrainResult& result);
void WriteSummary(const std::string& folder, const std::string& json);
// A run that goes on has none, until it ends. Removes what WriteFailure() left, too.
void RemoveSummary(const std::string& folder);
// Returns whether a folder is that of a run that goes on, or was interrupted or killed.
bool IsUnfinishedRun(const std::string& folder);
// failure.txt, of a run that ends with an error. Does not throw.
void WriteFailure(const std::string& folder, const UserError& error);

}  // namespace cgrun

#endif  // CGRUN_RUN_RUN_FOLDER_H_
