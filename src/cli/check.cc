// cgrun check.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "src/base/json_text.h"
#include "src/base/word_list.h"
#include "src/check/lint.h"
#include "src/check/model_check.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/host_cap.h"
#include "src/cli/memory_cap.h"
#include "src/cli/model_flags.h"
#include "src/cli/onnx_model.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

// All that was found.
struct Findings {
  std::string model;
  Diagnostics diagnostics;
  LintReport lint;
  std::string skipped;  // says why nothing was computed
  int64_t batch = 0;
  int64_t parameters = 0;
  std::vector<GradientCheck> gradients;
  std::vector<DeviceCheck> devices;

  bool wrong() const {
    return std::ranges::any_of(gradients,
                               [](const auto& check) { return !check.good && !check.steep; }) ||
           std::ranges::any_of(
               devices, [](const auto& check) { return check.skipped.empty() && !check.good; });
  }
};

std::string DataText(const LintReport& lint) {
  std::vector<std::string> sets;
  const auto add = [&](const char* name, const std::shared_ptr<const Dataset>& set) {
    if (set) sets.push_back(fmt::format("{} {}", name, FormatCount(set->size())));
  };
  add("train", lint.data.train);
  add("valid", lint.data.valid);
  add("test", lint.data.test);
  return sets.empty() ? "none" : fmt::format("{} samples", fmt::join(sets, ", "));
}

// A row of the table of differences: what, how far off, how far it may be, and whether it is.
void AddDifference(TextTable& table, const std::string& name, double error, double tolerance,
                   bool good, std::string of) {
  table.Add({name, fmt::format("{:.1e}", error), fmt::format("{:.1e}", tolerance),
             good ? "ok" : "TOO LARGE", std::move(of)});
}

// The direction that is furthest off for its tolerance stands for all.
void AddGradients(TextTable& table, const Findings& findings) {
  const auto steep = std::ranges::count(findings.gradients, true, &GradientCheck::steep);
  const std::string why =
      "they change within the smallest step: the loss is far too steep for differences";
  if (steep == std::ssize(findings.gradients)) {
    table.Add({"gradients", "", "", "", "not compared: " + why});
    return;
  }
  const auto worst = std::ranges::max_element(
      findings.gradients, {},
      [](const GradientCheck& check) { return check.steep ? -1 : check.error / check.tolerance; });
  AddDifference(table, "gradients", worst->error, worst->tolerance, worst->good,
                fmt::format("{} in {}, against finite differences in f64",
                            CountText(findings.parameters, "parameter"),
                            CountText(std::ssize(findings.gradients) - steep, "direction")));
  if (steep == 0) return;
  table.Add({"", "", "", "",
             fmt::format("not compared in {}: {}", CountText(steep, "other direction"), why)});
}

void AddDevice(TextTable& table, const DeviceCheck& check) {
  if (!check.skipped.empty()) {
    table.Add({check.device, "", "", "", "not compared: " + check.skipped});
  } else if (check.compared == 0) {
    table.Add({check.device, "", "", "WRONG", "none of its results is there"});
  } else {
    AddDifference(table, check.device, check.error, check.tolerance, check.good,
                  fmt::format("{}, the furthest off of {} results and gradients", check.worst,
                              check.compared));
  }
}

std::string DifferencesText(const Findings& findings) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
  table.Add({"", "error", "tolerance", "", ""});
  if (!findings.gradients.empty()) AddGradients(table, findings);
  for (const DeviceCheck& check : findings.devices) AddDevice(table, check);
  return findings.gradients.empty() && findings.devices.empty() ? "" : "\n" + table.ToString();
}

// "lenet.yaml: no errors, 2 warnings."; after errors they speak for themselves.
std::string Verdict(const Findings& findings) {
  if (findings.wrong()) return "";
  const auto items = findings.diagnostics.Sorted();
  const auto warnings = std::ranges::count(items, Severity::kWarning, &Diagnostic::severity);
  const std::string count = warnings == 0 ? "no warnings" : FormatCount(warnings, "warning");
  return fmt::format("{}: no errors, {}.\n", findings.model, count);
}

std::string Text(const Findings& findings) {
  TextTable table({Align::kLeft, Align::kLeft});
  table.Add({"data", DataText(findings.lint)});
  table.Add({"memory", fmt::format("a run takes {} in all, of {} that are free",
                                   FormatBytes(findings.lint.needed_bytes),
                                   FormatBytes(findings.lint.free_bytes))});
  if (!findings.skipped.empty()) table.Add({"gradients", "not checked: " + findings.skipped});
  const std::string verdict = Verdict(findings);
  return table.ToString() + DifferencesText(findings) + (verdict.empty() ? "" : "\n") + verdict;
}

nlohmann::ordered_json JsonOf(const Diagnostics& diagnostics, Severity severity) {
  std::vector<Diagnostic> items = diagnostics.Sorted();
  std::erase_if(items, [&](const Diagnostic& item) { return item.severity != severity; });
  return DiagnosticsJson(items);
}

std::string Json(const Findings& findings) {
  const Diagnostics& diagnostics = findings.diagnostics;
  nlohmann::ordered_json json = {{"model", findings.model},
                                 {"ok", !diagnostics.has_errors() && !findings.wrong()},
                                 {"errors", JsonOf(diagnostics, Severity::kError)},
                                 {"warnings", JsonOf(diagnostics, Severity::kWarning)}};
  if (diagnostics.has_errors()) {  // nothing was computed
    return JsonText(json, 2) + "\n";
  }
  const ModelData& data = findings.lint.data;
  const auto sizes = {
      std::pair{"train", &data.train}, {"valid", &data.valid}, {"test", &data.test}};
  for (const auto& [name, set] : sizes) {
    if (*set) json["data"][name]["samples"] = (*set)->size();
  }
  json["notes"] = data.notes;
  json["needed_bytes"] = findings.lint.needed_bytes;
  json["batch"] = findings.batch;
  if (!findings.skipped.empty()) json["skipped"] = findings.skipped;
  json["gradients"] = nlohmann::ordered_json::array();
  for (const GradientCheck& check : findings.gradients) {
    json["gradients"].push_back({{"path", check.path},
                                 {"parameters", check.parameters},
                                 {"analytic", check.analytic},
                                 {"numeric", check.numeric},
                                 {"error", check.error},
                                 {"tolerance", check.tolerance},
                                 {"ok", check.good}});
    if (check.steep) json["gradients"].back()["skipped"] = "steep";
  }
  json["devices"] = nlohmann::ordered_json::array();
  for (const DeviceCheck& check : findings.devices) {
    nlohmann::ordered_json item = {{"device", check.device}};
    if (check.skipped.empty()) {
      item.update({{"error", check.error},
                   {"tolerance", check.tolerance},
                   {"worst", check.worst},
                   {"compared", check.compared},
                   {"missing", check.missing},
                   {"ok", check.good}});
    } else {
      item["skipped"] = check.skipped;
    }
    json["devices"].push_back(std::move(item));
  }
  return JsonText(json, 2) + "\n";
}

// This is the help where kernels are wrong, as a model file cannot mend them.
constexpr char kWrongKernels[] =
    "this is a fault of cgrun's, not of the model file, and is worth a report with the file; until "
    "then `--device` names another device, of those that are ok";

constexpr size_t kMostShown = 3;  // parameters of a finding

void PrintWrong(const Findings& findings) {
  for (const GradientCheck& check : findings.gradients) {
    if (check.good || check.steep) continue;
    const std::string names = ListFirst(check.parameters, kMostShown);
    PrintError(
        fmt::format("path '{}': along a direction in {} the gradient says {:.6g}, finite "
                    "differences say {:.6g}",
                    check.path, names, check.analytic, check.numeric),
        std::isfinite(check.analytic + check.numeric)
            ? "an operator between them and the loss has a wrong gradient, or jumps here"
            : "the loss or its gradient is not finite with the initial values: `cgrun train` "
              "says where that begins");
  }
  for (const DeviceCheck& check : findings.devices) {
    if (check.good || !check.skipped.empty()) continue;
    if (!check.missing.empty()) {
      PrintError(fmt::format("device '{}' does not compute {}, as the reference does", check.device,
                             ListFirst(check.missing, kMostShown)),
                 kWrongKernels);
      continue;
    }
    const std::string apart = std::isfinite(check.error)
                                  ? fmt::format("{:.1e} of its size apart, where {:.1e} may be",
                                                check.error, check.tolerance)
                                  : "it is not finite";
    PrintError(fmt::format("device '{}' computes {} otherwise than the reference: {}", check.device,
                           check.worst, apart),
               kWrongKernels);
  }
}

// A run that does not fit is an error of the file: of its batch, in the first place.
void CheckMemory(const ModelSpec& model, Findings& findings) {
  const LintReport& lint = findings.lint;
  if (lint.needed_bytes <= lint.free_bytes) return;
  findings.diagnostics.Error(
      model.train ? model.train->batch.mark : SourceMark(),
      "a run takes " + FormatBytes(lint.needed_bytes) + ", and " + FormatBytes(lint.free_bytes) +
          " are free",
      "a smaller batch needs less: `--batch N`; `cgrun plan` says what takes how much");
}

void Compute(const ModelSpec& model, const CompileOptions& options, const std::string& device,
             Findings& findings) {
  ModelCheck check(model, findings.lint.data, options, findings.diagnostics);
  findings.skipped = check.skipped();
  if (!check.ready() && findings.skipped.empty()) {
    findings.skipped = "the reference cannot compute it in f64";
  }
  if (!check.ready()) return;
  findings.batch = check.batch();
  findings.parameters = check.parameters();
  findings.gradients = check.CheckGradients();
  if (!device.empty()) return findings.devices.push_back(check.CheckDevice(device));
  for (const DeviceKind& kind : DeviceKinds()) {
    findings.devices.push_back(check.CheckDevice(std::string(kind.name)));
  }
}

// Returns whether a run keeps its cap on memory, or the limits here, as `train` wants it before it
// begins. Gives `model` the batch that is found. Says where it does not.
bool Fits(const ModelFlags& flags, ModelSpec& model, Findings& findings) {
  CompileOptions options = CompileOptionsOf(flags, model);
  const bool is_capped = model.train->memory || model.train->batch.value.automatic;
  const FittedRun run = is_capped ? FitMemory(flags, model, options) : FitHere(model, options).run;
  if (run.fits) {
    if (run.memory) findings.lint.needed_bytes = run.memory->peak();
    return true;
  }
  PrintDiagnostics(findings.diagnostics);
  for (const Diagnostic& item : run.printed.Sorted()) {
    if (item.severity != Severity::kError) continue;
    findings.diagnostics.Error(item.mark, item.message, item.help);
  }
  if (WantsJson()) PrintResult("", Json(findings));
  return false;
}

int Run(const ModelFlags& given) {
  const ModelFlags flags = WithHostMemory(given);
  RefuseHostMemory(flags, "check");
  Findings findings;
  findings.model = flags.model;
  Diagnostics printed;
  std::optional<ModelSpec> model = LoadModelOrProgram(flags, printed);
  if (!model) {
    findings.diagnostics = printed;
    if (WantsJson()) PrintResult("", Json(findings));
    return kBadInput;
  }
  TakeOnnxWeights(*model);
  const KernelLibrary& library = KernelsOf(*model);
  const CompileOptions options = CompileOptionsOf(flags, *model);
  const bool finds_batch = model->train && model->train->batch.value.automatic;
  if (finds_batch) CheckDataFiles(*model, findings.diagnostics);  // a batch is found without them
  if (finds_batch && !Fits(flags, *model, findings)) return kBadInput;
  findings.lint = Lint(*model, library, options, findings.diagnostics);
  const bool is_large = findings.lint.needed_bytes > findings.lint.free_bytes;
  const bool is_capped = !finds_batch && model->train && (model->train->memory || is_large);
  if (is_capped && !findings.diagnostics.has_errors() && !Fits(flags, *model, findings)) {
    return kBadInput;
  }
  CheckMemory(*model, findings);
  const bool fits = !findings.diagnostics.has_errors();
  if (fits) {
    const Diagnostics lint = findings.diagnostics;  // messages that come twice are printed once
    try {
      Compute(*model, options, flags.device.empty() ? "" : DeviceOf(*model), findings);
    } catch (const UserError& error) {  // f64 takes more memory than a run
      findings.skipped = error.what();
    }
    findings.diagnostics = lint;
  }
  PrintDiagnostics(findings.diagnostics);
  if (!fits && !WantsJson()) return kBadInput;
  TellNotes(findings.lint.data.notes);
  PrintResult(fits ? Text(findings) : "", Json(findings));
  PrintWrong(findings);
  if (!fits) return kBadInput;
  return findings.wrong() ? kFailed : kDone;
}

}  // namespace

Command DefineCheck(const Verb& verb) {
  auto flags = AddModelFlags(verb, CapFlag::kKept);
  TakeOnnx(verb, flags, ", compiled program (.cgb)");
  return [flags] { return Run(*flags); };
}

}  // namespace cgrun
