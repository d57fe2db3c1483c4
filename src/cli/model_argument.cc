// Tells files by how they begin, or by their names.
#include "src/cli/model_argument.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/base/shell_word.h"
#include "src/io/read_file.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

struct FileKind {
  const char* what;         // with its article
  std::string_view begins;  // the first bytes; "": told by its name
  const char* ending;       // of the name; "": any
  const char* help;         // '%' stands for the path in a command, '@' elsewhere
};

constexpr char kPredictHelp[] = "`cgrun predict MODEL %` says what a trained model makes of it";
constexpr char kDataHelp[] =
    "a model file names its data: `data: {train: {format: …}}`; docs/guide.md has examples";

constexpr char kOtherModel[] =
    "this version reads model files in YAML alone: docs/guide.md shows how one is written, "
    "`models/` has networks to start from";
constexpr char kPyTorch[] =
    "a model file names the layers; weights are taken from a safetensors file, `cgrun train MODEL "
    "--weights FILE.safetensors`, by the names of the parameters that `cgrun graph MODEL` lists";

constexpr FileKind kKinds[] = {
    {"a PNG image", "\x89PNG", "", kPredictHelp},
    {"a JPEG image", "\xFF\xD8\xFF"sv, "", kPredictHelp},
    {"a NumPy array", "\x93NUMPY", "", kPredictHelp},
    {"data of the IDX format", "\0\0\x08\x01"sv, "", kDataHelp},
    {"data of the IDX format", "\0\0\x08\x03"sv, "", kDataHelp},
    {"compressed data", "\x1F\x8B", "", kDataHelp},
    {"a compiled program", "CGRUNB", "", "programs are called M.cgb"},
    {"a file of weights", "", ".safetensors",
     "`cgrun eval MODEL --weights %` takes them, and `cgrun predict MODEL --weights % INPUT`"},
    {"a table", "", ".csv",
     "`cgrun predict MODEL %` says what a trained model makes of it; to learn from it, a model "
     "file "
     "names it: `data: {train: {format: csv, file: @, label: COLUMN}}`"},
    {"an ONNX model", "", ".onnx",
     "`cgrun import % -o model.yaml` makes a model file of it; plan, summary, graph, check, bench, "
     "predict and compile take it as it is; to train it, a model file has it as a network: "
     "`networks: {trunk: {onnx: @, outputs: [VALUE]}}`; docs/how-to/onnx-fine-tune.md has an "
     "example"},
    {"a PyTorch file", "", ".pt", kPyTorch},
    {"a PyTorch file", "", ".pth", kPyTorch},
    {"a PyTorch file", "", ".ckpt", kPyTorch},
    {"a Keras file", "", ".keras", kOtherModel},
    {"a Keras file", "", ".h5", kOtherModel},
    {"a Python program", "", ".py", kOtherModel},
};

std::string WithPath(std::string_view text, const std::string& path) {
  std::string out;
  for (char c : text) {
    out += c == '%' ? ShellWord(path) : c == '@' ? path : std::string(1, c);
  }
  return out;
}

[[noreturn]] void Refuse(const std::string& path, const std::string& what,
                         const std::string& help) {
  throw InputError("'" + path + "' is " + what + ", where a model file (.yaml) is wanted", help);
}

[[noreturn]] void RefuseFolder(const std::string& path) {
  std::error_code error;
  const std::string of_run = (fs::path(path) / "model.yaml").string();
  if (fs::exists(of_run, error)) {
    Refuse(path, "a run folder",
           "its model file is '" + of_run + "'; `cgrun train --resume " + ShellWord(path) +
               "` goes on with the run; eval, predict and generate take its weights: `cgrun eval " +
               ShellWord(of_run) + " --weights " + ShellWord(path) + "`");
  }
  std::vector<std::string> models;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.path().extension() == ".yaml") models.push_back(entry.path().string());
  }
  if (models.empty()) Refuse(path, "a folder", kDataHelp);
  const std::string first = *std::ranges::min_element(models);
  Refuse(path, "a folder",
         models.size() == 1 ? "did you mean '" + first + "'?"
                            : "name a file in it, such as '" + first + "'");
}

// `cgrun train lenet`: the model file that is meant; "" where there is none of that name.
std::string MeantModel(const std::string& name) {
  std::error_code error;
  for (const std::string& file : {name + ".yaml", "models/" + name + ".yaml"}) {
    if (fs::is_regular_file(file, error)) return file;
  }
  return "";
}

}  // namespace

void CheckModelArgument(const std::string& path) {
  std::error_code error;
  const std::string meant = fs::exists(path, error) ? "" : MeantModel(path);
  if (!meant.empty()) {
    throw InputError("there is no file '" + path + "'", "did you mean '" + meant + "'?");
  }
  if (fs::is_directory(path, error)) RefuseFolder(path);
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) return;  // a pipe is read once
  FileReader reader(path, FileReader::Gzip::kNever);
  std::string start(16, '\0');
  start.resize(reader.ReadSome(std::as_writable_bytes(std::span(start))));
  for (const FileKind& kind : kKinds) {
    const std::string_view ending = kind.ending;
    const bool is_it = ending.empty() ? start.starts_with(kind.begins) : path.ends_with(ending);
    if (is_it) Refuse(path, kind.what, WithPath(kind.help, path));
  }
}

}  // namespace cgrun
