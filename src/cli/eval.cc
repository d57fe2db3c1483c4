// cgrun eval.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "src/base/allocation_counter.h"
#include "src/base/json_text.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/debug_flags.h"
#include "src/cli/group_runs.h"
#include "src/cli/host_cap.h"
#include "src/cli/model_differences.h"
#include "src/cli/model_flags.h"
#include "src/cli/onnx_model.h"
#include "src/cli/profile_view.h"
#include "src/cli/run_split.h"
#include "src/cli/run_view.h"
#include "src/cli/weights_flag.h"
#include "src/program/serialize.h"
#include "src/report/run_summary.h"
#include "src/report/table.h"
#include "src/results/metrics_json.h"
#include "src/run/kept_values.h"

namespace cgrun {
namespace {

struct EvalFlags {
  std::string weights;
  std::string split = "test";
  std::string out;  // for what is kept
};

// Throws if a cap on memory is given, which the plan of graph mode keeps.
void CheckMode(const ModelFlags& flags, const ModelSpec& model, Mode mode) {
  if (flags.memory.empty() || !model.train || !model.train->memory) return;
  if (mode == Mode::kEager) {
    throw InputError(flags.memory_flag + " needs graph mode", "eager mode plans nothing");
  }
}

// An evaluation that does not fit with its decoded samples in memory has them in files.
std::unique_ptr<Session> OpenSession(ModelSpec& model, SessionOptions& options,
                                     Diagnostics& diagnostics) {
  options.can_replan = model.data && !model.data->streams;
  try {
    return std::make_unique<Session>(model, options, /*train=*/false, diagnostics);
  } catch (const MayNotFit&) {
    options.can_replan = false;
    ReleaseFreeMemory();  // the session's memory is not to count
  }
  model.data->streams = true;
  diagnostics = Diagnostics();  // the second session finds again what is wrong
  return std::make_unique<Session>(model, options, /*train=*/false, diagnostics);
}

int Run(const ModelFlags& given, const RunFlags& run_flags, const EvalFlags& eval_flags,
        const ProfileFlags& profile) {
  const ModelFlags flags = WithHostMemory(given);
  std::optional<ProgramImage> image;
  if (IsProgramFile(flags.model)) image = LoadProgram(flags.model);
  std::optional<ModelSpec> model =
      image ? LoadEmbeddedModel(flags, image->model_text, image->model_path) : LoadModel(flags);
  if (!model) return kBadInput;
  KernelsOf(*model);  // says why there are none
  if (IsByGroup(*model)) {
    CheckGroupRun(*model, run_flags, profile.wanted());
    if (image) RefuseGroups(*model, "a compiled program");
    return EvaluateByGroups(flags, run_flags, *model, eval_flags.weights, eval_flags.split);
  }
  SessionOptions options;
  options.device = DeviceOf(*model);
  options.compile = CompileOptionsOf(flags, *model, run_flags.dry_run);
  options.weights = ChooseWeights(*model, eval_flags.weights);
  TakeSplitOfRun(flags, options.weights, eval_flags.split, *model);
  options.mode = ModeOf(run_flags);
  CheckMode(flags, *model, options.mode);
  options.dry_run = run_flags.dry_run;
  options.limit_batches = run_flags.limit_batches;
  options.evaluate = {eval_flags.split};
  options.image = image ? &*image : nullptr;
  if (flags.memory.empty()) options.cap = DataCap::kNone;
  options.profile = profile.wanted();
  options.trace = !profile.trace_file.empty();
  const std::unique_ptr<DebugRun> debug = MakeDebugRun(run_flags, options.device, options.profile);
  options.debug = debug.get();
  const bool keeps = KeepsInFolder(flags, eval_flags.out);
  if (keeps && model->keep.empty()) {
    throw InputError("--out is a folder for what is kept, and nothing is",
                     "--keep NAME keeps a value, as `keep: [NAME]` of the model file does");
  }
  if (keeps) options.compile.keeps = EntryKind::kEval;
  WarnOfOtherNetwork(flags, *model, options.weights,
                     WeightsUse::kEvaluate);  // before memory is measured
  Diagnostics diagnostics;
  const std::unique_ptr<Session> opened = OpenSession(*model, options, diagnostics);
  Session& session = *opened;
  PrintBriefly(diagnostics);
  if (!session.ready()) return kBadInput;
  TellNotes(session.data_notes());
  if (!CheckWeights(session.weights(), options.weights, *model)) return kBadInput;
  CheckHostMemory(flags, session.memory());
  if (run_flags.dry_run) {
    PrintDryRun(model->name.value, session);
    return kDone;
  }

  RunView view(0);
  const PassResult result = session.Evaluate(eval_flags.split, view);
  view.Clear();
  WarnOfLosses(result, !session.weights().not_finite.empty());
  if (keeps && session.kept() != nullptr) {
    MakeFolder(eval_flags.out);
    session.kept()->Write(session.engine(), eval_flags.out);
  }
  session.FreeArenas();
  nlohmann::ordered_json json = {
      {"model", model->name.value},
      {"device", session.engine().model().device},
      {"mode", Name(session.engine().mode())},
      {"weights", OnnxFileOfWeights(options.weights).value_or(options.weights)},
      {"split", result.split},
      {"samples", result.samples},
      {"seconds", result.seconds}};
  if (const auto place = PlaceOfWeights(options.weights)) {
    json["weights_step"] = place->step;
    json["weights_epoch"] = place->epoch;
  }
  json["samples_per_second"] =
      result.seconds > 0 ? static_cast<double>(result.samples) / result.seconds : 0.0;
  json["graph_analyses"] = session.graph_analyses();
  const int64_t left_out = session.LeftOutOf(result.split);
  if (left_out > 0) json["left_out_samples"] = left_out;
  json["metrics"] = ParseOrderedJson(MetricsJson(result));
  json.update(ParseOrderedJson(MemoryJson(session.memory())));
  std::string text = EvaluationSummary(result, WeightsText(options.weights), session.memory(),
                                       session.class_names(), left_out),
              shown = JsonText(json, 2) + "\n";
  if (session.times() != nullptr) {
    const Ceilings ceilings = MeasureCeilings(session.engine(), options.compile.threads);
    text += "\n" + ShowProfile(profile, session.engine(), *session.times(), ceilings);
    if (WantsJson()) shown = WithProfile(shown, session.engine(), *session.times(), ceilings);
  }
  PrintResult(text, shown);
  return TellDebugRun(debug.get()) ? kDone : kFailed;
}

}  // namespace

Command DefineEval(const Verb& verb) {
  auto flags = AddModelFlags(verb, CapFlag::kKept);
  auto run_flags = AddRunFlags(verb);
  AddDebugFlags(verb, run_flags);
  auto eval_flags = std::make_shared<EvalFlags>();
  TakeOnnx(verb, flags, ", compiled program (.cgb)");
  verb.Add("--data", flags->onnx.data,
           "for an .onnx file: a file with the keys `data`, `metrics` and `loss`, and the `inputs` "
           "that these read beside the model's own, such as labels")
      .Value("FILE.yaml");
  AddWeightsFlag(verb, eval_flags->weights);
  verb.Add("--split", eval_flags->split, "the data to evaluate on (default: test)")
      .OneOf({"test", "valid", "train"});
  verb.Add("--out", eval_flags->out,
           "a folder for the values that --keep, or `keep` of the model file, names")
      .Value("DIR");
  auto profile = AddProfileFlags(verb);
  return [flags, run_flags, eval_flags, profile] {
    return Run(*flags, *run_flags, *eval_flags, *profile);
  };
}

}  // namespace cgrun
