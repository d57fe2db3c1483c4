// cgrun compile: a model's byte code, into a .cgb file.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "src/base/json_text.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/group_runs.h"
#include "src/cli/host_cap.h"
#include "src/cli/memory_cap.h"
#include "src/cli/model_flags.h"
#include "src/fit/run_shape.h"
#include "src/program/serialize.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

int Run(const ModelFlags& given, const std::string& output) {
  const ModelFlags flags = WithHostMemory(given);
  RefuseHostMemory(flags, "compile");
  std::optional<ModelSpec> model = LoadModel(flags);
  if (!model) return kBadInput;
  RefuseGroups(*model, "`cgrun compile`");
  const KernelLibrary& library = KernelsOf(*model);
  Diagnostics diagnostics;
  CompileOptions options = CompileOptionsOf(flags, *model);
  if (!FitMemory(flags, *model, options).fits) return kBadInput;
  const RunShape shape = ShapeOfRun(*model, diagnostics);
  auto compiled = Compile(*model, shape.entries, library, options, diagnostics);
  PrintDiagnostics(diagnostics);
  if (!compiled) return kBadInput;
  const std::filesystem::path folder = std::filesystem::absolute(output).parent_path();
  compiled->image.model_text = ProgramText(*model, folder.string());
  SaveImage(compiled->image, output);

  size_t instructions = 0;
  for (const ImageEntry& entry : compiled->image.entries) {
    instructions += entry.instructions.size();
  }
  const nlohmann::ordered_json json = {{"model", compiled->image.model},
                                       {"file", output},
                                       {"entries", compiled->image.entries.size()},
                                       {"instructions", instructions},
                                       {"arena_bytes", compiled->layout.arena_bytes},
                                       {"compile_seconds", compiled->compile_seconds}};
  PrintResult(fmt::format("{}: {}, {}, arena {}, compiled in {}\n", output,
                          CountText(std::ssize(compiled->image.entries), "entry point"),
                          CountText(static_cast<int64_t>(instructions), "instruction"),
                          FormatBytes(compiled->layout.arena_bytes),
                          FormatSeconds(compiled->compile_seconds)),
              JsonText(json, 2) + "\n");
  return kDone;
}

}  // namespace

Command DefineCompile(const Verb& verb) {
  auto flags = AddModelFlags(verb, CapFlag::kKept);
  TakeOnnx(verb, flags);
  auto output = std::make_shared<std::string>();
  verb.Add("-o,--output", *output, "the file to write").Required().Value("FILE.cgb");
  return [flags, output] { return Run(*flags, *output); };
}

}  // namespace cgrun
