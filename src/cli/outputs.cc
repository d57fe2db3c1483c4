// Looks at what lies where a verb wants to write: its first bytes say of which kind it is.
#include "src/cli/outputs.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

struct OutputFlag {
  const char* flag;
  const char* kind;                 // of the file, with its article
  std::vector<std::string> begins;  // such a file begins with one of these, spaces left out but the
                                    // one behind a word
  const char* example;
  const char* verb;  // of this verb alone; null: of all
};

const OutputFlag kOutputs[] = {
    {"--json", "JSON", {"{", "["}, "--json result.json", nullptr},
    {"--csv", "a list of buffers", {"id"}, "--csv buffers.csv", "plan"},
    {"--csv",
     "a table of predictions",
     {"file,index,", "file,index\n"},
     "--csv predictions.csv",
     "predict"},
    {"--profile", "JSON", {"{", "["}, "--profile trace.json", nullptr},
    {"--svg", "an SVG picture", {"<svg"}, "--svg graph.svg", nullptr},
    {"--html", "a page", {"<!DOCTYPE", "<!doctype", "<html"}, "--html plan.html", nullptr},
    {"--dot", "a Graphviz file", {"digraph"}, "--dot graph.dot", nullptr},
    {"--output", "a compiled program", {"CGRUNB"}, "-o M.cgb", "compile"},
    {"--output", "a model file", {"cgrun:", "#"}, "-o M.yaml", "import"},
    {"--output", "an ONNX model", {"\x08"}, "-o M.onnx", "export"},
    {"--out", "a list of buffers", {"id"}, "--out p.csv", "plan"}};

// Returns the first value of an option on the command line; "" where it has none.
std::string ValueOf(const Verb& verb, const char* name) {
  const std::optional<Flag> flag = verb.Find(name);
  const std::vector<std::string> values = flag ? flag->values() : std::vector<std::string>();
  return values.empty() ? "" : values[0];
}

// Returns all that the command line names to be read: the arguments without a flag, and the
// weights. For NAME=FILE, the list has the file, too.
std::vector<std::string> InputsOf(const Verb& verb) {
  std::vector<std::string> inputs = {ValueOf(verb, "--weights")};
  for (const Flag& flag : verb.flags()) {
    if (!flag.is_argument()) continue;
    for (const std::string& input : flag.values()) {
      inputs.push_back(input);
      if (const size_t equal = input.find('='); equal != input.npos) {
        inputs.push_back(input.substr(equal + 1));
      }
    }
  }
  return inputs;
}

// Returns the first word of a plain file, at most 16 bytes; "" for an empty file and for all else.
std::string FirstWord(const std::string& path) {
  std::error_code error;
  std::string word;
  if (!fs::is_regular_file(path, error)) return word;
  std::ifstream file(path, std::ios::binary);
  file.width(16);
  file >> word;
  return word;
}

// Throws if the name has the ending of a kind of file that no flag writes.
void CheckEnding(const OutputFlag& output, const std::string& path, const std::string& help) {
  constexpr const char* kOthers[] = {".png",  ".jpg", ".jpeg", ".gif", ".bmp",
                                     ".webp", ".tif", ".tiff", ".pdf"};
  std::string ending = fs::path(path).extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (std::ranges::find(kOthers, ending) == std::end(kOthers)) return;
  throw InputError(
      "'" + path + "' is a name of another kind of file: " + output.flag + " writes " + output.kind,
      help);
}

// Checks the folder before the work, whose result would be lost without it.
void CheckFolderOf(const std::string& path) {
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  if (path == "-" || folder.empty() || fs::is_directory(folder, error)) return;
  throw InputError("cannot write '" + path + "': there is no folder '" + folder.string() + "'",
                   "make it first, or name a file elsewhere");
}

void CheckOutput(const Verb& verb, const OutputFlag& output, const std::string& path) {
  CheckFolderOf(path);
  const std::string help = std::string("give another file: `") + output.example + "`";
  for (const std::string& input : InputsOf(verb)) {
    std::error_code error;
    if (input.empty() || !fs::equivalent(path, input, error)) continue;
    throw InputError("'" + path + "' would be written over, but it is what is read", help);
  }
  CheckEnding(output, path, help);
  const std::string word = FirstWord(path);
  const bool same_kind = std::ranges::any_of(
      output.begins,
      [line = word + "\n"](const std::string& begin) { return line.starts_with(begin); });
  if (word.empty() || same_kind) return;
  throw InputError("'" + path + "' exists and is not " + output.kind + ", so it is not replaced",
                   help);
}

}  // namespace

void CheckOutputs(const Verb& verb) {
  for (const OutputFlag& output : kOutputs) {
    if (output.verb != nullptr && verb.name() != output.verb) continue;
    const std::string path = ValueOf(verb, output.flag);
    if (!path.empty()) CheckOutput(verb, output, path);
  }
}

}  // namespace cgrun
