// cgrun generate.
#include "src/generate/generate.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>

#include "src/base/json_text.h"
#include "src/base/printable.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/group_runs.h"
#include "src/cli/memory_cap.h"
#include "src/cli/model_flags.h"
#include "src/cli/weights_flag.h"
#include "src/data/image_sheet.h"
#include "src/generate/generate_text.h"
#include "src/io/atomic_file.h"
#include "src/io/npy_file.h"
#include "src/model_data/token_names.h"
#include "src/results/metrics_json.h"

namespace cgrun {
namespace {

constexpr int64_t kMostSamples = 10'000, kSamples = 64;
constexpr int64_t kMostTokens = 10'000'000, kTokens = 200;
constexpr int64_t kMostScale = 16;

struct GenerateFlags {
  std::string weights;
  std::string out;    // "": the model's name
  int64_t count = 0;  // 0: not given
  int64_t scale = 1;
  bool force = false;
  std::optional<std::string> prompt;
  std::optional<double> temperature;
};

bool AreImages(const Shape& sample) {
  return sample.rank() == 3 && (sample[0].size == 1 || sample[0].size == 3);
}

// Enlarges images of `shape`, [N, channels, height, width]: each pixel becomes `scale` × `scale`
// pixels.
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

// More than Write() takes beside the samples, in bytes: the pixels as they are and enlarged, the
// sheet, its file, and what compressing that takes.
int64_t WritingBytes(const Shape& sample, int64_t count, int64_t scale) {
  constexpr int64_t kMargins = 4, kCopies = 8, kTables = 4 << 20;
  if (!AreImages(sample)) return 0;
  const int64_t sheet = count * sample[0].size * (scale * sample[1].size + kMargins) *
                        (scale * sample[2].size + kMargins);
  return kCopies * sheet + kTables;
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

// Checks before the work that the file at `path` may be replaced: this program drew it, or the user
// says so.
void CheckIsFree(const std::string& path, bool force) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (path.empty() || force || !fs::is_regular_file(path, error)) return;
  std::string begin(kSheetBegin, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<size_t>(file.gcount()));
  const bool is_empty = file.is_open() && fs::file_size(path, error) == 0;
  if (is_empty || IsSheet(begin)) return;
  throw InputError("'" + path +
                       "' exists and is no sheet of images that `cgrun generate` has "
                       "drawn, so it is not replaced",
                   "--out FILE takes another, --force replaces it");
}

void CheckCount(int64_t count, int64_t most, const std::string& what, const std::string& help) {
  if (count <= most) return;
  throw InputError("-n, --count must be 1 to " + std::to_string(most) + " for a model of " + what +
                       ", not '" + std::to_string(count) + "'",
                   help);
}

int GenerateImages(const ModelSpec& model, const ModelFlags& flags, const RunFlags& run_flags,
                   const GenerateFlags& generate) {
  if (generate.prompt || generate.temperature) {
    throw InputError(std::string(generate.prompt ? "--prompt" : "--temperature") +
                         " is for models of texts, which learn what follows in one",
                     "models/char-rnn.yaml is one");
  }
  CheckCount(generate.count, kMostSamples, "images",
             "a sheet has no room for more; another --seed makes other samples");
  GenerateOptions options;
  options.device = DeviceOf(model);
  options.compile = CompileOptionsOf(flags, model, run_flags.dry_run);
  options.mode = ModeOf(run_flags);
  options.count = generate.count == 0 ? kSamples : generate.count;
  Diagnostics diagnostics;
  const auto output = DescribeGenerated(model, options.compile.precision, diagnostics);
  PrintBriefly(diagnostics);
  if (!output) return kBadInput;
  const std::string path = generate.out.empty() ? model.name.value + ".png" : generate.out;
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
  CheckIsFree(path, generate.force);
  if (!npy) options.host_bytes = WritingBytes(output->shape, options.count, generate.scale);
  options.weights = ChooseWeights(model, generate.weights);
  Diagnostics later;
  const auto generated = GenerateSamples(model, *output, options, later);
  PrintBriefly(later);
  if (!generated || !CheckWeights(generated->weights, options.weights, model)) return kBadInput;
  Tell("weights: " + WeightsText(options.weights));
  if (!run_flags.dry_run) Write(path, generated->samples, *output, generate.scale);
  nlohmann::ordered_json json = {
      {"model", model.name.value},  {"device", options.device},
      {"mode", Name(options.mode)}, {"weights", options.weights},
      {"output", output->name},     {"shape", output->shape.ToString()},
      {"samples", options.count},   {"file", run_flags.dry_run ? "" : path}};
  json.update(ParseOrderedJson(MemoryJson(generated->memory)));
  PrintResult(CountText(options.count, "sample") + " of '" + output->name + "', " +
                  output->shape.ToString() +
                  " each: " + (run_flags.dry_run ? "not written (--dry-run)" : path) + "\n",
              JsonText(json, 2) + "\n");
  return kDone;
}

// The text as a file, or as what is printed.
void PrintWritten(const std::string& text, const GenerateFlags& generate,
                  nlohmann::ordered_json json) {
  json["text"] = text;
  json["file"] = generate.out;
  const std::string shown = JsonText(json, 2) + "\n";
  if (generate.out.empty()) return PrintData(text + "\n", shown);
  WriteFileAtomically(generate.out, std::as_bytes(std::span(text)));
  PrintResult(generate.out + "\n", shown);
}

int GenerateText(const ModelSpec& model, const ModelFlags& flags, const RunFlags& run_flags,
                 const GenerateFlags& generate) {
  if (generate.scale > 1)
    throw InputError("--scale enlarges images, and this model writes text", "");
  CheckCount(generate.count, kMostTokens, "text", "--prompt goes on where a shorter one ended");
  if (generate.out.ends_with(".png") || generate.out.ends_with(".npy")) {
    throw InputError("'" + generate.out + "' is no name of a text, which this model writes",
                     "`--out " + model.name.value + ".txt`");
  }
  CheckIsFree(generate.out, generate.force);
  WriteTextOptions options;
  options.device = DeviceOf(model);
  options.compile = CompileOptionsOf(flags, model, run_flags.dry_run);
  options.mode = ModeOf(run_flags);
  options.count = generate.count == 0 ? kTokens : generate.count;
  options.temperature = generate.temperature.value_or(1);
  options.seed = model.train ? static_cast<uint64_t>(model.train->seed.value) : 0;
  Diagnostics diagnostics;
  const auto text = DescribeTextModel(model, options.compile.precision, diagnostics);
  PrintBriefly(diagnostics);
  if (!text) return kBadInput;
  options.weights = ChooseWeights(model, generate.weights);
  Diagnostics later;
  TextWriter writer(*text, options, later);
  PrintBriefly(later);
  if (!writer.ready() || !CheckWeights(writer.weights(), options.weights, model)) return kBadInput;
  Tell("weights: " + WeightsText(options.weights));
  const std::string prompt = generate.prompt.value_or("");
  nlohmann::ordered_json json = {{"model", model.name.value},  {"device", options.device},
                                 {"mode", Name(options.mode)}, {"weights", options.weights},
                                 {"prompt", prompt},           {"tokens", options.count}};
  if (run_flags.dry_run) {
    PrintResult("Everything is ready; nothing was written (--dry-run).\n",
                JsonText(json, 2) + "\n");
    return kDone;
  }
  const std::string text_written = prompt + writer.Write(prompt);
  json.update(ParseOrderedJson(MemoryJson(writer.MeasureMemory())));
  PrintWritten(text_written, generate, std::move(json));
  return kDone;
}

int Run(const ModelFlags& flags, const RunFlags& run_flags, const GenerateFlags& generate) {
  const std::optional<ModelSpec> model = LoadModelOrProgram(flags);
  if (!model) return kBadInput;
  RefuseGroups(*model, "`cgrun generate`");
  KernelsOf(*model);  // says why there are none
  return TokensOf(*model) ? GenerateText(*model, flags, run_flags, generate)
                          : GenerateImages(*model, flags, run_flags, generate);
}

}  // namespace

Command DefineGenerate(const Verb& verb) {
  auto flags = AddModelFlags(verb, CapFlag::kNone);
  auto run_flags = AddRunFlags(verb);
  auto generate = std::make_shared<GenerateFlags>();
  verb.Get("MODEL").Describe("model file (.yaml), or compiled program (.cgb)");
  AddWeightsFlag(verb, generate->weights);
  verb.Add("-n,--count", generate->count,
           "the number of samples (default: 64); for text, the number of characters or words after "
           "the prompt (default: 200)")
      .Between(int64_t{1}, std::numeric_limits<int64_t>::max())
      .Value("N");
  verb.Add("--scale", generate->scale,
           "the number of pixels of the sheet, across and down, for each pixel of a sample "
           "(default: 1)")
      .Between(int64_t{1}, kMostScale)
      .Value("N");
  verb.Add("--out", generate->out,
           "write a sheet of images (.png) or the numbers (.npy) (default: MODEL.png); for text, "
           "write it to this file (default: print it)")
      .Value("FILE");
  verb.AddSwitch("--force", generate->force, "overwrite a file even if this verb did not draw it");
  verb.Add("--prompt", generate->prompt, "for a model of text: the beginning that it continues")
      .Value("BEGINNING");
  verb.Add("--temperature", generate->temperature,
           "for text: below 1, probable choices become more probable; 0 always takes the most "
           "probable (default: 1)")
      .Between(0.0, 100.0)
      .Value("T");
  return [flags, run_flags, generate] { return Run(*flags, *run_flags, *generate); };
}

}  // namespace cgrun
