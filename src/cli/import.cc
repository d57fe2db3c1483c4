// cgrun import: a model of ONNX becomes a model file and its weights.
#include "src/import/import.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "src/base/json_text.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/onnx_flags.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

struct ImportFlags {
  std::string model, output;
  OnnxFlags onnx;
  bool force = false, explain = false;
};

void RefuseExisting(const ImportFlags& flags, const std::string& path) {
  std::error_code error;
  if (flags.force || !fs::exists(path, error)) return;
  throw InputError("'" + path + "' exists, so it is not replaced",
                   "`--force` replaces it, or name another file: `-o other.yaml`");
}

std::string Explanation(const ImportedModel& model) {
  std::string text;
  for (const std::string& line : model.bound) text += "bound: " + line + "\n";
  for (const std::string& line : model.folded) text += "folded: " + line + "\n";
  for (const std::string& line : model.recognised) text += "recognised: " + line + "\n";
  return text + "left: " + CountText(static_cast<int64_t>(model.nodes), "node") + " became " +
         CountText(static_cast<int64_t>(model.items), "operator") + "\n";
}

int Run(const ImportFlags& flags) {
  const ImportOptions options = ImportOptionsOf(flags.onnx);
  const fs::path output = flags.output;
  const std::string weights = fs::path(output).replace_extension(".safetensors").string();
  if (weights == flags.output) {
    throw InputError("'" + flags.output + "' is the name of a file of weights",
                     "name a model file: `-o model.yaml`");
  }
  RefuseExisting(flags, flags.output);
  RefuseExisting(flags, weights);
  onnx::OnnxFile file(flags.model);
  const ImportedModel model = ImportOnnx(file, options);
  for (const std::string& warning : model.warnings) Tell("warning: " + warning);
  WriteImported(model, file, flags.output, weights);
  int64_t parameters = 0;
  for (const Weight& weight : model.weights) parameters += weight.type.shape.Elements();
  const auto items = static_cast<int64_t>(model.items);
  std::string text = flags.output + ": " + CountText(items, "operator");
  text += ", " + FormatCount(parameters) + " weights in " + weights;
  nlohmann::ordered_json json = {
      {"model", flags.output},      {"nodes", model.nodes},
      {"operators", items},         {"bound", model.bound},
      {"folded", model.folded},     {"recognised", model.recognised},
      {"warnings", model.warnings}, {"weights", {{"file", weights}, {"elements", parameters}}}};
  PrintResult((flags.explain ? Explanation(model) : "") + text + "\n", JsonText(json, 2) + "\n");
  return kDone;
}

}  // namespace

Command DefineImport(const Verb& verb) {
  auto flags = std::make_shared<ImportFlags>();
  verb.Add("FILE", flags->model, "the model, an .onnx file").Required();
  verb.Add("-o,--output", flags->output, "the model file to write; its weights lie beside it")
      .Required()
      .Value("FILE.yaml");
  AddOnnxFlags(verb, flags->onnx);
  verb.AddSwitch("--explain", flags->explain, "say what was bound and folded");
  verb.AddSwitch("--force", flags->force, "replace files that exist");
  return [flags] { return Run(*flags); };
}

}  // namespace cgrun
