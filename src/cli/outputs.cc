// Looks at what lies where a verb wants to write: its first bytes say of which kind it is.
#include "src/cli/outputs.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "src/base/diagnostics.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

struct OutputFlag {
  const char* flag;
  const char* kind;    // of the file, with its article
  const char* begins;  // such a file begins with one of these characters
  const char* example;
};

constexpr OutputFlag kOutputs[] = {{"--json", "JSON", "{[", "--json result.json"},
                                   {"--csv", "a list of buffers", "i", "--csv buffers.csv"},
                                   {"--output", "a compiled program", "C", "-o M.cgb"}};
constexpr const char* kInputs[] = {"MODEL", "PROGRAM", "--weights"};

// What the command line gives for an option; "" where it gives nothing.
std::string ValueOf(const CLI::App& verb, const char* name) {
  const CLI::Option* option = verb.get_option_no_throw(name);
  if (option == nullptr || option->count() == 0 || option->results().empty()) return "";
  return option->results()[0];
}

// The first byte that is no white space; 0 in an empty file and in what is no plain file.
char FirstByte(const std::string& path) {
  std::error_code error;
  char byte = 0;
  if (!fs::is_regular_file(path, error)) return 0;
  std::ifstream(path, std::ios::binary) >> byte;
  return byte;
}

void CheckOutput(const CLI::App& verb, const OutputFlag& output, const std::string& path) {
  const std::string help = std::string("give another file: `") + output.example + "`";
  for (const char* name : kInputs) {
    const std::string input = ValueOf(verb, name);
    std::error_code error;
    if (input.empty() || !fs::equivalent(path, input, error)) continue;
    throw InputError("'" + path + "' would be written over, but it is what is read", help);
  }
  const char first = FirstByte(path);
  if (first == 0 || std::string(output.begins).find(first) != std::string::npos) return;
  throw InputError("'" + path + "' exists and is not " + output.kind + ", so it is not replaced",
                   help);
}

}  // namespace

void CheckOutputs(const CLI::App& verb) {
  for (const OutputFlag& output : kOutputs) {
    const std::string path = ValueOf(verb, output.flag);
    if (!path.empty()) CheckOutput(verb, output, path);
  }
}

}  // namespace cgrun
