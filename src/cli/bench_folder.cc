// The folder has two files: the table for people, and the numbers for programs.
#include "src/cli/bench_folder.h"

#include <filesystem>
#include <span>

#include "src/base/diagnostics.h"
#include "src/io/atomic_file.h"
#include "src/run/kept_values.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr const char* kText = "bench.txt";
constexpr const char* kJson = "bench.json";

void WriteInto(const std::string& folder, const char* name, const std::string& content) {
  const std::string path = (fs::path(folder) / name).string();
  WriteFileAtomically(path, std::as_bytes(std::span(content)));
}

}  // namespace

void CheckBenchFolder(const std::string& folder, bool force) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
    throw InputError("'" + folder + "' is no folder, and --out names one",
                     "`--json FILE` writes the numbers alone to a file");
  }
  for (const char* name : {kText, kJson}) {
    const fs::path file = fs::path(folder) / name;
    if (force || !fs::exists(file, error)) continue;
    throw InputError("'" + folder + "' holds a benchmark already: '" + file.string() + "'",
                     "name another folder, or replace the benchmark with --force");
  }
}

void WriteBenchFolder(const std::string& folder, const std::string& text, const std::string& json) {
  MakeFolder(folder);
  WriteInto(folder, kText, text);
  WriteInto(folder, kJson, json);
}

}  // namespace cgrun
