// cgrun train.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>

#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/model_flags.h"
#include "src/cli/profile_view.h"
#include "src/cli/run_view.h"
#include "src/cli/signals.h"
#include "src/program/serialize.h"
#include "src/train/run_folder.h"

namespace cgrun {
namespace {

struct TrainFlags {
  std::string out;
  std::string weights;
  bool force = false;
};

// Weights that do not fit are warnings, --quiet or not; where nothing fits, training would begin
// from scratch in silence, which is an error.
bool CheckWeights(const WeightsReport& report, const std::string& file) {
  std::string mismatched;
  for (const std::string& name : report.mismatched) mismatched += "\n      " + name;
  if (report.loaded.empty()) {
    PrintError(
        "nothing in " + file + " fits this model" + (mismatched.empty() ? "" : ":") + mismatched,
        "give the weights of this model, or train from scratch without --weights");
    return false;
  }
  if (!mismatched.empty()) {
    PrintWarning("some of " + file + " does not fit this model and is not loaded:" + mismatched);
  }
  return true;
}

void PrintWeightsReport(const WeightsReport& report) {
  const auto print = [](const char* what, const std::vector<std::string>& names) {
    for (const std::string& name : names)
      std::fprintf(stderr, "weights: %s %s\n", what, name.c_str());
  };
  std::fprintf(stderr, "weights: %zu tensors loaded\n", report.loaded.size());
  print("not in the file:", report.missing);
  print("not in the file:", report.missing_optimizer_state);
  print("not in the model:", report.unused);
}

int Run(const ModelFlags& flags, const RunFlags& run_flags, const TrainFlags& train_flags,
        const ProfileFlags& profile) {
  std::optional<ProgramImage> image;
  if (IsProgramFile(flags.model)) image = LoadImage(flags.model);
  const std::optional<ModelSpec> model =
      image ? LoadEmbeddedModel(flags, image->model_text, image->model_path) : LoadModel(flags);
  if (!model) return kBadInput;
  const std::string folder =
      train_flags.out.empty() ? "runs/" + model->name.value : train_flags.out;

  KernelsOf(*model);  // says why there are none
  SessionOptions options;
  options.device = DeviceOf(*model);
  options.compile = CompileOptionsOf(flags, *model);
  options.weights = train_flags.weights;
  options.mode = ModeOf(run_flags);
  options.limit_batches = run_flags.limit_batches;
  options.image = image ? &*image : nullptr;
  options.profile = profile.wanted();
  Diagnostics diagnostics;
  Session session(*model, options, /*train=*/true, diagnostics);
  PrintDiagnostics(diagnostics);
  if (!session.ready()) return kBadInput;
  if (!session.recompiled().empty()) {
    std::fprintf(stderr, "%s is compiled again: %s\n", flags.model.c_str(),
                 session.recompiled().c_str());
  }
  if (const std::string file = session.weights_file(); !file.empty()) {
    if (!CheckWeights(session.weights(), file)) return kBadInput;
    if (!Quiet()) PrintWeightsReport(session.weights());
  }
  const std::vector<std::string> inputs = {flags.model, session.weights_file()};
  if (run_flags.dry_run) {
    RunFolder::Check(folder, train_flags.force, inputs);
    PrintDryRun(model->name.value, session);
    return kDone;
  }
  RunFolder run_folder(folder, train_flags.force, inputs);
  WriteModelFile(folder, *model);

  RunView view(model->train->epochs ? model->train->epochs->value : 0);
  const TrainResult result = session.Train(folder, view, WatchInterrupts());
  view.Clear();
  const std::string json = SummaryJson(*model, session, result);
  WriteSummary(folder, json);
  run_folder.Keep();
  std::string text = TrainSummary(result, folder), shown = json;
  if (session.times() != nullptr) {
    const int threads = options.compile.threads;
    text += "\n" + ShowProfile(profile, session.engine(), *session.times(), threads);
    if (WantsJson()) shown = WithProfile(json, session.engine(), *session.times(), threads);
  }
  PrintResult(text, shown);
  return result.interrupted ? kInterrupted : kDone;
}

}  // namespace

Command DefineTrain(CLI::App& app) {
  auto flags = AddModelFlags(app);
  auto run_flags = AddRunFlags(app);
  auto train_flags = std::make_shared<TrainFlags>();
  app.get_option("MODEL")->description("model file (.yaml), or compiled program (.cgb)");
  app.add_option("--out", train_flags->out, "the run folder (default: runs/<model>)")
      ->type_name("DIR");
  app.add_flag("--force", train_flags->force, "replace what a former run left in the run folder");
  app.add_option("--weights", train_flags->weights, "start from the weights in a safetensors file")
      ->type_name("FILE");
  auto profile = AddProfileFlags(app);
  return [flags, run_flags, train_flags, profile] {
    return Run(*flags, *run_flags, *train_flags, *profile);
  };
}

}  // namespace cgrun
