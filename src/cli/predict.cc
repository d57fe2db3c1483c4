// cgrun predict.
#include "src/predict/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <optional>

#include "src/base/diagnostics.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/debug_flags.h"
#include "src/cli/group_runs.h"
#include "src/cli/memory_cap.h"
#include "src/cli/model_differences.h"
#include "src/cli/model_flags.h"
#include "src/cli/onnx_model.h"
#include "src/cli/weights_flag.h"
#include "src/data/options.h"
#include "src/groups/group_source.h"
#include "src/import/value_names.h"
#include "src/model_data/data_findings.h"
#include "src/predict/prediction_files.h"
#include "src/report/predict_view.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

struct PredictFlags {
  std::vector<std::string> inputs;
  std::string weights;
  std::string out, csv;
  int64_t top = 1;
  bool has_top = false;  // it was given
};

void PrintProblems(const std::vector<FileProblem>& problems) {
  for (const FileProblem& problem : problems) {
    if (problem.errors) {
      PrintDiagnostics(*problem.errors);
    } else {
      PrintError(problem.message, problem.help);
    }
  }
}

// Samples whose inputs or outputs hold NaN or infinity: the first few, and how many.
class NotFinite {
 public:
  explicit NotFinite(const std::vector<PredictedOutput>& outputs) : outputs_(outputs) {}

  // A sample is told of once: by its prediction, where that is not finite.
  void Look(const SampleOrigin& origin, PredictionBytes bytes) {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].kept || IsUsable(outputs_[i], bytes[i])) continue;
      if (bad_++ < kShown) problems_.push_back(ProblemOf(origin, outputs_[i].name));
      return;
    }
    if (!origin.not_finite_input.empty() && inputs_++ < kShown) {
      warnings_.push_back("'" + origin.ToString() + "': input '" + origin.not_finite_input +
                          "' holds a value that is not finite");
    }
  }

  std::vector<std::string> Warnings() const {
    std::vector<std::string> all = warnings_;
    if (inputs_ > kShown) {
      all.push_back("so do the inputs of " + CountText(inputs_ - kShown, "more sample"));
    }
    return all;
  }
  std::vector<FileProblem> Problems() const {
    std::vector<FileProblem> all = problems_;
    if (bad_ > kShown) {
      const int64_t more = bad_ - kShown;
      all.push_back(
          {"",
           CountText(more, "more sample") + (more == 1 ? " has" : " have") + " such predictions",
           ""});
    }
    return all;
  }

 private:
  static constexpr int64_t kShown = 5;

  static FileProblem ProblemOf(const SampleOrigin& origin, const std::string& output) {
    const std::string prediction =
        "'" + origin.ToString() + "': its prediction '" + output + "' is not finite";
    if (origin.not_finite_input.empty()) {
      return {origin.file, prediction,
              "the weights may have diverged, or the sample is far from what they were trained on; "
              "`cgrun eval` measures them"};
    }
    return {origin.file,
            prediction + ", as its input '" + origin.not_finite_input + "' holds NaN or infinity",
            "leave the sample out, or put another number in its place"};
  }

  const std::vector<PredictedOutput>& outputs_;
  int64_t inputs_ = 0, bad_ = 0;
  std::vector<std::string> warnings_;
  std::vector<FileProblem> problems_;
};

// Returns the size of batches that are about equal, none larger than the model file's.
int64_t BatchFor(const ModelSpec& model, int64_t samples) {
  const int64_t most = model.train ? model.train->batch.value.size : BatchSize().size;
  const int64_t batches = (samples + most - 1) / most;
  return (samples + batches - 1) / batches;
}

PredictOptions OptionsOf(const ModelFlags& flags, const RunFlags& run_flags,
                         const PredictFlags& predict_flags, const ModelSpec& model) {
  PredictOptions options;
  options.device = DeviceOf(model);
  options.compile = CompileOptionsOf(flags, model, run_flags.dry_run);
  options.mode = ModeOf(run_flags);
  options.dry_run = run_flags.dry_run;
  if (KeepsInFolder(flags, predict_flags.out)) options.compile.keeps = EntryKind::kPredict;
  return options;
}

PredictFacts FactsOf(const ModelSpec& model, const PredictOptions& options) {
  PredictFacts facts;
  facts.model = model.name.value;
  facts.device = options.device;
  facts.mode = Name(options.mode);
  return facts;
}

// The warnings of the files that are read, as JSON has them.
std::vector<std::string> TextsOf(const Diagnostics& warnings) {
  std::vector<std::string> texts;
  for (const Diagnostic& warning : warnings.Sorted()) {
    const std::string place = warning.mark.ToString();
    texts.push_back((place.empty() ? "" : place + ": ") + warning.message);
  }
  return texts;
}

// Reports that no input could be read.
int ReportNothing(const PredictView& nothing, const PredictFacts& facts,
                  const PredictSource& source) {
  PrintResult("", nothing.Json(facts, {}, source.problems(), nullptr));
  PrintProblems(source.problems());
  return kBadInput;
}

template <class Source>
int Report(const PredictView& view, const PredictFacts& facts, const NotFinite& not_finite,
           const Source& source, const std::function<MemoryUse()>& measure) {
  const std::vector<FileProblem> outputs = not_finite.Problems();
  std::vector<FileProblem> problems = source.problems();
  problems.insert(problems.end(), outputs.begin(), outputs.end());
  const std::vector<std::string> warnings = not_finite.Warnings();
  std::vector<std::string> all_warnings = TextsOf(source.warnings());
  all_warnings.insert(all_warnings.end(), warnings.begin(), warnings.end());
  const bool has_text = facts.dry_run || (facts.samples > 0 && !WantsJson());
  const std::string text = has_text ? view.Text(facts) : "";
  const std::string json = WantsJson() ? view.Json(facts, all_warnings, problems, measure) : "";
  facts.dry_run ? PrintResult(text, json) : PrintBulkyResult(text, json);
  PrintDiagnostics(source.warnings());
  for (const std::string& warning : warnings) PrintWarning(warning);
  PrintProblems(problems);
  if (!source.problems().empty()) return kBadInput;
  return outputs.empty() ? kDone : kFailed;
}

// --csv, with a note of what has no place in a table.
void WriteTable(const PredictView& view, const std::string& path) {
  WriteBeside(path, view.Csv());
  const std::vector<std::string> others = view.NotInCsv();
  if (others.empty()) return;
  Tell("note: '" + path + "' is without " + QuotedNames(others) +
       ", of more than 1,000 values a sample: `--out DIR` writes all of them");
}

int64_t RunAll(Predictor& predictor, PredictSource& source, int64_t limit_batches,
               const Predictor::Sink& sink) {
  return predictor.Run(source, limit_batches, sink);
}

int64_t RunAll(Predictor& predictor, GroupSource& source, int64_t /*limit_batches*/,
               const Predictor::Sink& sink) {
  return source.Run(predictor, sink);
}

// Predicts what the source has, or only says what would be done.
template <class Source>
int Predict(Predictor& predictor, const PredictSignature& signature, Source& source,
            const RunFlags& run_flags, const PredictFlags& predict_flags, PredictFacts facts) {
  PredictView view(predictor.outputs(), predict_flags.top);
  NotFinite not_finite(predictor.outputs());
  const auto measure = [&] { return predictor.MeasureMemory(); };
  facts.dry_run = run_flags.dry_run;
  facts.device = predictor.engine().model().device;
  if (facts.dry_run) {
    facts.samples = source.samples();
    facts.memory = measure();
    return Report(view, facts, not_finite, source, measure);
  }
  std::optional<PredictionFiles> files;
  if (!predict_flags.out.empty()) {
    files.emplace(predict_flags.out, signature, source.files(), source.samples());
  }
  facts.samples = RunAll(predictor, source, run_flags.limit_batches,
                         [&](const SampleOrigin& origin, PredictionBytes outputs) {
                           view.Add(origin, outputs);
                           not_finite.Look(origin, outputs);
                           if (files) files->Add(outputs);
                         });
  if (files) files->Commit();
  if (!predict_flags.csv.empty()) WriteTable(view, predict_flags.csv);
  facts.operators_run = predictor.operators_run();
  facts.operators = predictor.operators();
  facts.memory = measure();
  return Report(view, facts, not_finite, source, measure);
}

// The most probable classes are of outputs that score classes.
void CheckTop(const std::vector<PredictedOutput>& outputs, int64_t top) {
  int64_t most = 0;
  for (const PredictedOutput& output : outputs) {
    if (output.kept || output.scores == Scores::kNone) continue;
    const bool of_places = output.places > 0;
    most =
        std::max(most, of_places ? output.shape.Elements() / output.places : output.class_count());
  }
  if (most == 0) {
    throw InputError("--top shows classes, and this model predicts values", "leave it out");
  }
  if (top <= most) return;
  Tell("note: --top " + FormatCount(top) + " shows all classes, for there are " +
       FormatCount(most));
}

// --out is a folder: one called "result.csv" is not what was meant.
void CheckFolder(const std::string& out) {
  namespace fs = std::filesystem;
  constexpr const char* kFiles[] = {".csv", ".tsv", ".txt", ".json", ".npy", ".npz", ".xlsx"};
  const fs::path path(out);
  const std::string ending = path.extension().string();
  std::error_code error;
  if (std::ranges::find(kFiles, ending) == std::end(kFiles)) return;
  if (path.stem().empty() || fs::is_directory(path, error)) return;
  const std::string file = ending == ".json"  ? "`--json " + out + "`"
                           : ending == ".csv" ? "`--csv " + out + "`"
                                              : "`--csv FILE`, or `--json FILE`,";
  throw InputError(
      "--out is a folder for the raw outputs, OUTPUT.npy, and '" + out + "' is called like a file",
      file + " writes a table of the predictions; `--out " +
          (path.parent_path() / path.stem()).string() + "` is a folder");
}

// Tells which outputs the predictions of a model leave out, and how to have them.
void TellOfOthers(const ModelSpec& model, const PredictSignature& signature) {
  const bool chooses =
      std::ranges::any_of(model.paths, [](const PathSpec& path) { return !path.out.empty(); });
  const auto shown = std::ranges::find(signature.outputs, false, &PredictedOutput::kept);
  if (model.paths.empty() || chooses || shown == signature.outputs.end()) return;
  const PathSpec& path = model.paths.back();
  std::vector<std::string> heads, others;  // read by losses; those not predicted
  for (const LossSpec& loss : path.losses) {
    if (loss.op.in.empty()) continue;
    const std::string& head = loss.op.in[0].value;
    if (std::ranges::find(heads, head) != heads.end()) continue;
    heads.push_back(head);
    if (shown->name != head && shown->name != path.name.value + "." + head) {
      others.push_back("`" + head + "`");
    }
  }
  if (heads.size() < 2 || others.empty() || others.size() == heads.size()) return;
  Tell(fmt::format(
      "note: this is '{}' alone, the last output; a loss reads {}, too: `out: [{}]` of path '{}' "
      "predicts all",
      shown->name, fmt::join(others, ", "), fmt::join(heads, ", "), path.name.value));
}

// Refuses `NAME=FILE` of an input that there is not, unless a file is called so.
void CheckInputName(const std::string& argument, const ModelSpec& model) {
  const size_t equals = argument.find('=');
  std::error_code error;
  if (equals == argument.npos || std::filesystem::exists(argument, error)) return;
  if (!std::filesystem::exists(argument.substr(equals + 1), error)) return;
  std::vector<std::string> names;
  for (const InputSpec& input : model.inputs) names.push_back(input.name.value);
  const std::string name = argument.substr(0, equals);
  throw InputError("the model has no input '" + name + "'", SuggestName(name, names));
}

// Gives inputs the names that they have in the model file. Leaves out arguments for inputs that the
// model declares, and that nothing predicted depends on.
std::vector<std::string> ReadArguments(const std::vector<std::string>& arguments,
                                       const ModelSpec& model, const PredictSignature& signature) {
  std::vector<std::string> read;
  for (std::string argument : arguments) {
    size_t equals = argument.find('=');
    const std::string clean = equals == argument.npos ? "" : CleanName(argument.substr(0, equals));
    if (std::ranges::count(model.inputs, clean, [](const InputSpec& i) { return i.name.value; })) {
      argument = clean + argument.substr(equals);  // an ONNX file may have called it otherwise
      equals = clean.size();
    }
    const auto is_named = [&](const auto& name) {
      return equals != argument.npos && argument.compare(0, equals, name) == 0;
    };
    const auto reads = [&](const std::vector<DataField>& fields) {
      return std::ranges::any_of(fields, [&](const DataField& f) { return is_named(f.name); });
    };
    const bool declared = std::ranges::any_of(
        model.inputs, [&](const InputSpec& input) { return is_named(input.name.value); });
    if (!declared || reads(signature.inputs) || reads(signature.whole)) {
      if (!declared) CheckInputName(argument, model);
      read.push_back(argument);
    } else {
      Tell("note: nothing that is predicted depends on input '" + argument.substr(0, equals) + "'");
    }
  }
  return read;
}

// Refuses outputs and inputs that do not have a row for each row of a table.
void CheckGroupSignature(const PredictSignature& signature, const RunFlags& run_flags) {
  const bool whole =
      !signature.whole.empty() || std::ranges::any_of(signature.outputs, &PredictedOutput::whole);
  if (whole) {
    throw InputError(
        "a model by groups predicts rows alone, and this one has an input or an "
        "output without a batch",
        "`out: NAME` of a path says what it predicts");
  }
  if (run_flags.limit_batches > 0) {
    throw InputError("--limit-batches is not for a model by groups, whose batches are of groups",
                     "give a table of fewer rows");
  }
}

// `cgrun predict` of a model by groups: each row goes to the model of its group.
int PredictGroups(const RunFlags& run_flags, const PredictFlags& predict_flags,
                  const ModelSpec& model, const PredictSignature& signature,
                  PredictOptions options) {
  CheckGroupRun(model, run_flags, /*profiles=*/false);
  CheckGroupSignature(signature, run_flags);
  const GroupModels models = OpenGroupModels(GroupFolder(model, predict_flags.weights));
  GroupSource source(predict_flags.inputs, signature.inputs, model, models);
  const int64_t rows_of_group = std::max<int64_t>(1, source.samples() / source.parts());
  options.kept = SharedMetadata(models.index);
  options.batch = BatchFor(model, rows_of_group);
  options.host_bytes =
      source.reading_bytes() +
      PredictView::BytesOf(signature.outputs, predict_flags.top, source.files(), source.samples());
  Diagnostics diagnostics;
  Predictor predictor(model, signature, options, diagnostics);
  PrintBriefly(diagnostics);
  if (!predictor.ready()) return kBadInput;
  Tell("weights: " + models.file);
  PredictFacts facts = FactsOf(model, options);
  facts.batch = options.batch;
  facts.weights = models.file;
  return Predict(predictor, signature, source, run_flags, predict_flags, facts);
}

int RunChecked(const ModelFlags& flags, const RunFlags& run_flags,
               const PredictFlags& predict_flags) {
  if (predict_flags.inputs.empty()) {
    throw InputError("`cgrun predict` needs something to predict",
                     "cgrun predict MODEL INPUT...: images, .npy files, .csv tables, .txt texts, "
                     "or folders of them");
  }
  CheckFolder(predict_flags.out);
  const std::optional<ModelSpec> model = LoadModelOrProgram(flags);
  if (!model) return kBadInput;
  KernelsOf(*model);  // says why there are none
  PredictOptions options = OptionsOf(flags, run_flags, predict_flags, *model);
  Diagnostics diagnostics;
  const auto signature = DescribePredictions(*model, options.compile.precision,
                                             KeepsInFolder(flags, predict_flags.out), diagnostics);
  PrintBriefly(diagnostics);
  if (!signature) return kBadInput;
  TellOfOthers(*model, *signature);
  if (predict_flags.has_top) CheckTop(signature->outputs, predict_flags.top);
  if (IsByGroup(*model)) {
    if (IsProgramFile(flags.model)) RefuseGroups(*model, "a compiled program");
    return PredictGroups(run_flags, predict_flags, *model, *signature, options);
  }
  // The findings that the weights keep say how tables and texts are read.
  if (TableReader(*model).of_model()) {
    options.weights = ChooseWeights(*model, predict_flags.weights);
  }
  const TableReader tables(*model,
                           options.weights.empty() ? DataFindings() : FindingsIn(options.weights));
  PredictSource source(ReadArguments(predict_flags.inputs, *model, *signature), signature->inputs,
                       ImageFitOf(*model), tables, signature->whole);
  PredictFacts facts = FactsOf(*model, options);
  if (source.samples() == 0) {
    return ReportNothing(PredictView(signature->outputs, predict_flags.top), facts, source);
  }
  if (options.weights.empty()) options.weights = ChooseWeights(*model, predict_flags.weights);
  options.batch = BatchFor(*model, source.samples());
  options.host_bytes =
      source.reading_bytes() +
      PredictView::BytesOf(signature->outputs, predict_flags.top, source.files(), source.samples());
  const std::unique_ptr<DebugRun> debug =
      MakeDebugRun(run_flags, options.device, /*profiles=*/false);
  options.debug = debug.get();
  // Before the predictor measures memory: it reads files, too.
  WarnOfOtherNetwork(flags, *model, options.weights, WeightsUse::kPredict);
  Diagnostics later;
  Predictor predictor(*model, *signature, options, later);
  PrintBriefly(later);
  if (!predictor.ready() || !CheckWeights(predictor.weights(), options.weights, *model))
    return kBadInput;
  Tell("weights: " + WeightsText(options.weights));
  TellNotes(source.notes());
  facts.notes = source.notes();
  facts.batch = options.batch;
  facts.weights = OnnxFileOfWeights(options.weights).value_or(options.weights);
  const int status = Predict(predictor, *signature, source, run_flags, predict_flags, facts);
  return TellDebugRun(debug.get()) ? status : kFailed;
}

int Run(const ModelFlags& flags, const RunFlags& run_flags, const PredictFlags& predict_flags) {
  try {
    return RunChecked(flags, run_flags, predict_flags);
  } catch (const TableError& error) {
    PrintDiagnostics(*error.errors());
    return kBadInput;
  }
}

}  // namespace

Command DefinePredict(const Verb& verb) {
  auto flags = AddModelFlags(verb, CapFlag::kNone);
  auto run_flags = AddRunFlags(verb);
  AddDebugFlags(verb, run_flags);
  auto predict_flags = std::make_shared<PredictFlags>();
  TakeOnnx(verb, flags, ", compiled program (.cgb)");
  verb.Add("INPUT", predict_flags->inputs,
           "JPEG and PNG images, .npy files of one sample or several, .csv tables with a row for "
           "each sample, .txt texts for a model of texts, folders of them; NAME=FILE for a model "
           "with several inputs");
  AddWeightsFlag(verb, predict_flags->weights);
  const Flag top = verb.Add("--top", predict_flags->top, "show the N most probable classes")
                       .Between(int64_t{1}, std::numeric_limits<int64_t>::max())
                       .Value("N");
  verb.Add("--out", predict_flags->out,
           "write the raw outputs to this folder: OUTPUT.npy, with a row for each sample")
      .Value("DIR");
  verb.Add("--csv", predict_flags->csv,
           "write a table with a row for each sample: classes and probabilities, or values")
      .Value("FILE");
  return [flags, run_flags, predict_flags, top] {
    predict_flags->has_top = top.given();
    return Run(*flags, *run_flags, *predict_flags);
  };
}

}  // namespace cgrun
