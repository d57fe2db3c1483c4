// Reads assignments to dimensions and inputs.
#include "src/cli/onnx_flags.h"

#include <charconv>
#include <filesystem>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/io/npy_file.h"

namespace cgrun {
namespace {

std::map<std::string, int64_t> DimsOf(const std::vector<std::string>& assignments) {
  constexpr int64_t kMost = int64_t{1} << 31;
  std::map<std::string, int64_t> dims;
  for (const std::string& assignment : assignments) {
    const size_t equal = assignment.rfind('=');
    int64_t size = 0;
    const char* const end = assignment.data() + assignment.size();
    const bool has_name = equal != assignment.npos && equal > 0;
    if (!has_name || std::from_chars(assignment.data() + equal + 1, end, size).ptr != end ||
        size < 1 || size > kMost) {
      throw InputError("'--dim " + assignment + "' gives no dimension a size",
                       "write its name and a number: `--dim seq=128`");
    }
    if (!dims.emplace(assignment.substr(0, equal), size).second) {
      throw InputError("'--dim' gives '" + assignment.substr(0, equal) + "' two sizes",
                       "if several axes have this name, `--dim INPUT.AXIS=N` is one of them");
    }
  }
  return dims;
}

// A file where the text is the name of one, else a value.
GivenConstant ConstantOfText(const std::string& text) {
  std::error_code error;
  const bool is_file = text.ends_with(".npy") || text.ends_with(".npy.gz");
  if (!is_file && !std::filesystem::is_regular_file(text, error)) return {.text = text};
  return {.text = text, .tensor = ReadNpy(text)};
}

std::map<std::string, GivenConstant> ConstantsOf(const std::vector<std::string>& assignments) {
  std::map<std::string, GivenConstant> constants;
  for (const std::string& assignment : assignments) {
    const size_t equal = assignment.find('=');
    if (equal == assignment.npos || equal == 0 || equal + 1 == assignment.size()) {
      throw InputError("'--const " + assignment + "' gives no input a value",
                       "write its name and a value or a file: `--const sr=16000`, "
                       "`--const mask=mask.npy`");
    }
    const std::string name = assignment.substr(0, equal);
    if (!constants.emplace(name, ConstantOfText(assignment.substr(equal + 1))).second) {
      throw InputError("'--const' gives '" + name + "' two values");
    }
  }
  return constants;
}

}  // namespace

void AddOnnxFlags(const Verb& verb, OnnxFlags& flags) {
  verb.Add("--dim", flags.dims, "the size of a named dimension of an .onnx file")
      .Value("NAME=N")
      .Repeated();
  verb.Add("--const", flags.constants,
           "the value of an input of an .onnx file, which becomes a constant: a number, a list, or "
           "an .npy file")
      .Value("NAME=VALUE")
      .Repeated();
}

ImportOptions ImportOptionsOf(const OnnxFlags& flags) {
  return {.dims = DimsOf(flags.dims), .constants = ConstantsOf(flags.constants)};
}

}  // namespace cgrun
