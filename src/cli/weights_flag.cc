// The flag's value, the run folder of the model's name, the key `weights`: in this order.
#include "src/cli/weights_flag.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "src/base/shell_word.h"
#include "src/cli/console.h"
#include "src/cli/onnx_model.h"
#include "src/cli/onnx_networks.h"
#include "src/cli/run_split.h"
#include "src/cli/weights_report.h"
#include "src/io/file_error.h"
#include "src/model/model_file.h"
#include "src/report/run_summary.h"
#include "src/report/table.h"
#include "src/run/run_folder.h"

namespace cgrun {

namespace fs = std::filesystem;

namespace {

// Returns whether a run got as far as its first checkpoint.
bool HoldsWeights(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".safetensors") return true;
  }
  return false;
}

bool HasOnnxNetwork(const ModelSpec& model) {
  return std::ranges::any_of(model.networks,
                             [](const NetworkSpec& network) { return network.onnx.has_value(); });
}

// Returns the format of the training data; "" where there are none.
std::string FormatOf(const ModelSpec& model) {
  const bool known = model.data && model.data->train && model.data->train->format;
  return known ? model.data->train->format->value : "";
}

// "these are the weights of model 'photos', whose data are 'images', not 'csv': ", of weights of a
// run that trained another model; "" of others.
std::string OtherModelText(const std::string& file, const ModelSpec& model) {
  const std::optional<ModelSpec> run = ModelOfRun(fs::path(file).parent_path());
  if (!run) return "";
  const std::string before = FormatOf(*run), now = FormatOf(model);
  const bool other_data = !before.empty() && !now.empty() && before != now;
  if (run->name.value == model.name.value && !other_data) return "";
  return "these are the weights of model '" + run->name.value + "'" +
         (other_data ? ", whose data are '" + before + "', not '" + now + "'" : "") + ": ";
}

Flag AddFlag(const Verb& verb, std::string& weights, const std::string& what,
             const std::string& whose) {
  return verb
      .Add("--weights", weights,
           what + "a safetensors or .pth file, or a run folder, whose " + whose)
      .Value("FILE");
}

}  // namespace

void WarnOfDamaged(const std::vector<std::string>& damaged, const std::string& taken) {
  for (const std::string& what : damaged) PrintWarning(what + "; " + taken + " is taken instead");
}

std::string FindNewestWeights(const std::string& file_or_folder) {
  std::vector<std::string> damaged;
  std::string file = NewestWeights(file_or_folder, damaged);
  WarnOfDamaged(damaged, file);
  return file;
}

std::string FindBestWeights(const std::string& file_or_folder) {
  std::vector<std::string> damaged;
  std::string file = BestWeights(file_or_folder, damaged);
  WarnOfDamaged(damaged, file);
  return file;
}

void AddWeightsFlag(const Verb& verb, std::string& weights) {
  AddFlag(verb, weights, "",
          "best model is taken, else its newest checkpoint (default: runs/<model>)");
}

Flag AddStartWeightsFlag(const Verb& verb, std::string& weights) {
  return AddFlag(verb, weights, "begin with the weights of ", "newest checkpoint is taken");
}

std::string ChooseWeights(const ModelSpec& model, const std::string& flag) {
  if (!flag.empty()) return FindBestWeights(flag);
  if (model.weights && IsOnnxFile(model.weights->value)) {
    return OnnxWeights(ResolvePath(model.file_name, model.weights->value));
  }
  const std::string run = "runs/" + model.name.value;
  std::error_code error;
  const bool has_others = model.weights || HasOnnxNetwork(model);
  if (fs::is_directory(run, error) && (HoldsWeights(run) || !has_others)) {
    return FindBestWeights(run);
  }
  if (model.weights) {
    const std::string path = ResolvePath(model.file_name, model.weights->value);
    CheckPathInModel(path);
    return FindBestWeights(path);
  }
  if (const std::string weights = NetworkWeights(model); !weights.empty()) return weights;
  throw InputError(
      SystemErrorText("open", run, ENOENT),
      "it is where the weights of " + model.file_name + " are looked for: `cgrun train " +
          ShellWord(model.file_name) +
          "` makes it; --weights takes another run folder or a file: `--weights runs/other`, "
          "`--weights trained.safetensors`");
}

std::string WeightsText(const std::string& file) {
  if (const std::optional<std::string> onnx = OnnxFileOfWeights(file)) return *onnx;
  const std::optional<WeightsPlace> place = PlaceOfWeights(file);
  if (!place) return file;
  std::string text = file + ": " + PlaceText(*place) + (place->step == 0 ? ", untrained" : "");
  const fs::path path(file);
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  const std::string unfinished = IsUnfinishedRun(folder) ? "; the run did not come to its end" : "";
  if (path.filename() != kBestFileName) return text + unfinished;
  text += ", the best of its run";
  const auto checkpoints = CheckpointsIn(folder);
  if (checkpoints.empty()) return text + unfinished;
  if (checkpoints.back().step == place->step) return text + " and the last" + unfinished;
  return text + "; the last are in " + checkpoints.back().path + unfinished;
}

bool CheckWeights(const WeightsReport& report, const std::string& path, const ModelSpec& model) {
  // The file of an .onnx model's weights has no name that a user knows.
  const std::string file = OnnxFileOfWeights(path).value_or(path);
  std::string wrong;
  for (const std::string& name : report.missing) wrong += "\n      " + name + ": not in the file";
  for (const std::string& name : report.mismatched) wrong += "\n      " + name;
  if (report.loaded.empty() && report.mismatched.empty() && !report.unused.empty()) {
    PrintError("nothing in " + file + " fits this model:" + NamesBeside(report),
               OtherModelText(file, model) + kRenameHelp);
    return false;
  }
  if (wrong.empty()) {
    TellNotes(ConversionNotes(report));
    WarnOfNotFinite(report, file);
    return true;
  }
  if (const auto onnx = FilesOfNetworkWeights(path)) {
    PrintError(*onnx + " does not have all parameters of this model:" + wrong,
               "`cgrun train " + ShellWord(model.file_name) +
                   "` trains them; --weights takes a file or a run folder that has them");
    return false;
  }
  PrintError(file + " does not fit this model:" + wrong,
             OtherModelText(file, model) + "train it again, or give its own model file");
  return false;
}

}  // namespace cgrun
