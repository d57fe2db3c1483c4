// cgrun generate.
#include "src/train/generate.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/model_flags.h"
#include "src/cli/weights_flag.h"
#include "src/data/image_sheet.h"
#include "src/io/atomic_file.h"
#include "src/io/npy.h"

namespace cgrun {
namespace {

constexpr int64_t kMostSamples = 10'000;
constexpr int64_t kMostScale = 16;

struct GenerateFlags {
  std::string weights;
  std::string out;  // "": the model's name
  int64_t count = 64;
  int64_t scale = 1;
};

bool AreImages(const Shape& sample) {
  return sample.rank() == 3 && (sample[0].size == 1 || sample[0].size == 3);
}

// Images of `shape`, [N, channels, height, width], with `scale` × `scale` pixels for each of
// theirs.
std::vector<uint8_t> Enlarged(const std::vector<uint8_t>& pixels, const Shape& shape,
                              int64_t scale) {
  const auto width = static_cast<size_t>(shape[3].size);
  std::vector<uint8_t> enlarged, line;
  enlarged.reserve(pixels.size() * static_cast<size_t>(scale * scale));
  for (size_t row = 0; row < pixels.size(); row += width) {
    line.clear();
    for (size_t x = 0; x < width; ++x) {
      line.insert(line.end(), static_cast<size_t>(scale), pixels[row + x]);
    }
    for (int64_t i = 0; i < scale; ++i) enlarged.insert(enlarged.end(), line.begin(), line.end());
  }
  return enlarged;
}

void Write(const std::string& path, const HostTensor& samples, const GeneratedOutput& output,
           int64_t scale) {
  if (path.ends_with(".npy")) {
    WriteNpy(path, samples.dtype(), samples.shape(), samples.bytes());
    return;
  }
  const Shape& shape = samples.shape();
  const std::vector<uint8_t> pixels = Enlarged(PixelsOf(samples, output.pixels), shape, scale);
  WriteFileAtomically(path, EncodeSheet({pixels, shape[0].size, shape[1].size,
                                         scale * shape[2].size, scale * shape[3].size}));
}

int Run(const ModelFlags& flags, const RunFlags& run_flags, const GenerateFlags& generate) {
  const std::optional<ModelSpec> model = LoadModelOrProgram(flags);
  if (!model) return kBadInput;
  KernelsOf(*model);  // says why there are none
  GenerateOptions options;
  options.device = DeviceOf(*model);
  options.compile = CompileOptionsOf(flags, *model);
  options.mode = ModeOf(run_flags);
  options.count = generate.count;
  Diagnostics diagnostics;
  const auto output = DescribeGenerated(*model, options.compile.precision, diagnostics);
  PrintDiagnostics(diagnostics);
  if (!output) return kBadInput;
  const std::string path = generate.out.empty() ? model->name.value + ".png" : generate.out;
  const bool npy = path.ends_with(".npy");
  if (!npy && !path.ends_with(".png")) {
    throw InputError("'" + path + "' is neither a .png nor an .npy file",
                     "a sheet of images is a .png file, the numbers themselves are an .npy file");
  }
  if (!npy && !AreImages(output->shape)) {
    throw InputError("'" + output->name + "' is " + output->shape.ToString() +
                         " for a sample, which is no image of 1 or 3 channels",
                     "`--out samples.npy` writes the numbers");
  }
  if (npy && generate.scale > 1) {
    throw InputError("--scale enlarges images, but '" + path + "' is an array of numbers",
                     "leave it out, or write a .png file");
  }
  options.weights = ChooseWeights(*model, generate.weights);
  Diagnostics later;
  const auto generated = GenerateSamples(*model, *output, options, later);
  PrintDiagnostics(later);
  if (!generated || !CheckWeights(generated->weights, options.weights)) return kBadInput;
  if (!run_flags.dry_run) Write(path, generated->samples, *output, generate.scale);
  const nlohmann::ordered_json json = {
      {"model", model->name.value}, {"device", options.device},
      {"mode", Name(options.mode)}, {"weights", options.weights},
      {"output", output->name},     {"shape", output->shape.ToString()},
      {"samples", options.count},   {"file", run_flags.dry_run ? "" : path}};
  PrintResult(CountText(options.count, "sample") + " of '" + output->name + "', " +
                  output->shape.ToString() +
                  " each: " + (run_flags.dry_run ? "not written (--dry-run)" : path) + "\n",
              json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  return kDone;
}

}  // namespace

Command DefineGenerate(CLI::App& app) {
  auto flags = AddModelFlags(app);
  auto run_flags = AddRunFlags(app);
  auto generate = std::make_shared<GenerateFlags>();
  app.get_option("MODEL")->description("model file (.yaml), or compiled program (.cgb)");
  AddWeightsFlag(app, generate->weights);
  app.add_option("-n,--count", generate->count, "how many samples (default: 64)")
      ->check(CLI::Range(int64_t{1}, kMostSamples))
      ->type_name("N");
  app.add_option("--scale", generate->scale,
                 "pixels of the sheet, across and down, for each of a sample (default: 1)")
      ->check(CLI::Range(int64_t{1}, kMostScale))
      ->type_name("N");
  app.add_option("--out", generate->out,
                 "a sheet of images (.png), or the numbers (.npy) (default: MODEL.png)")
      ->type_name("FILE");
  return [flags, run_flags, generate] { return Run(*flags, *run_flags, *generate); };
}

}  // namespace cgrun
