// The flag's value, the run folder of the model's name, the key `weights`: in this order.
#include "src/cli/weights_flag.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "src/cli/console.h"
#include "src/model/model_file.h"
#include "src/train/predict.h"

namespace cgrun {

namespace fs = std::filesystem;

void AddWeightsFlag(CLI::App& app, std::string& weights) {
  app.add_option("--weights", weights,
                 "a safetensors file, or a run folder, whose best model is taken, else its newest "
                 "checkpoint (default: runs/<model>)")
      ->type_name("FILE");
}

std::string ChooseWeights(const ModelSpec& model, const std::string& flag) {
  std::error_code error;
  if (!flag.empty()) return fs::is_directory(flag, error) ? BestWeights(flag) : flag;
  const std::string run = "runs/" + model.name.value;
  if (fs::is_directory(run, error)) return BestWeights(run);
  if (model.weights) return ResolvePath(model.file_name, model.weights->value);
  throw InputError(
      "there are no weights of " + model.file_name + ": there is no run folder '" + run + "'",
      "`cgrun train " + model.file_name +
          "` makes it; --weights takes another run folder or a file: `--weights runs/other`, "
          "`--weights trained.safetensors`");
}

bool CheckWeights(const WeightsReport& report, const std::string& file) {
  std::string wrong;
  for (const std::string& name : report.missing) wrong += "\n      " + name + ": not in the file";
  for (const std::string& name : report.mismatched) wrong += "\n      " + name;
  if (wrong.empty()) return true;
  PrintError(file + " does not fit this model:" + wrong,
             "train it again, or give its own model file");
  return false;
}

}  // namespace cgrun
