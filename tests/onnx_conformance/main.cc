// Runs ONNX's node tests, and prints by operator what passed, failed and is left out.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/io/read_file.h"
#include "tests/onnx_conformance/conformance_case.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr int kTests = 1765;  // of ONNX 1.22.0

struct Counts {
  int passed = 0, failed = 0, left_out = 0;
  std::map<std::string, int> reasons = {};  // with their number
};

// The folders that hold a model, by name. FOLDER may be that of all of ONNX's tests.
std::vector<std::string> TestsIn(const std::string& folder) {
  const std::string nodes = fs::exists(folder + "/node") ? folder + "/node" : folder;
  std::vector<std::string> tests;
  for (const auto& entry : fs::directory_iterator(nodes)) {
    if (fs::exists(entry.path() / "model.onnx")) tests.push_back(entry.path().string());
  }
  std::ranges::sort(tests);
  return tests;
}

Outcome RunTest(const std::string& folder, ConformanceKind* kind) {
  try {
    ConformanceCase test(folder + "/model.onnx", [&](const std::string& name) {
      const std::string path = folder + "/" + name;
      return fs::exists(path) ? std::optional(ReadTextFile(path)) : std::nullopt;
    });
    *kind = test.Kind();
    return test.Run();
  } catch (const UserError& error) {
    return {Verdict::kLeftOut, error.what()};
  } catch (const std::exception& error) {
    return {Verdict::kFailed, error.what()};
  }
}

void Count(const Outcome& outcome, Counts* counts) {
  if (outcome.verdict == Verdict::kPassed) ++counts->passed;
  if (outcome.verdict == Verdict::kFailed) ++counts->failed;
  if (outcome.verdict == Verdict::kLeftOut) ++counts->left_out;
  if (!outcome.reason.empty()) ++counts->reasons[outcome.reason];
}

// Prints a row for each operator; with `explains`, the reasons below it.
void PrintTable(const std::map<std::string, Counts>& operators, bool explains) {
  fmt::print("{:<26} {:>6} {:>6} {:>8}\n", "operator", "passed", "failed", "left out");
  for (const auto& [op, counts] : operators) {
    fmt::print("{:<26} {:>6} {:>6} {:>8}\n", op, counts.passed, counts.failed, counts.left_out);
    if (!explains) continue;
    for (const auto& [reason, count] : counts.reasons) {
      fmt::print("    {:>4} {:.150}\n", count, reason.substr(0, reason.find('\n')));
    }
  }
}

int Main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool explains = std::ranges::find(arguments, "--explain") != arguments.end();
  if (arguments.empty() || arguments[0].starts_with("--")) {
    fmt::print(stderr, "usage: conformance FOLDER [--explain]\n");
    return 2;
  }
  setvbuf(stdout, nullptr, _IOLBF, 0);  // an abort loses nothing
  std::map<std::string, Counts> operators;
  Counts all, in_scope;
  const std::vector<std::string> tests = TestsIn(arguments[0]);
  for (size_t i = 0; i < tests.size(); ++i) {
    if (isatty(2) != 0) fmt::print(stderr, "\r{} of {} tests ", i + 1, tests.size());
    ConformanceKind kind;
    const Outcome outcome = RunTest(tests[i], &kind);
    Count(outcome, &operators[kind.op]);
    Count(outcome, &all);
    if (kind.in_scope) Count(outcome, &in_scope);
    if (outcome.verdict == Verdict::kFailed) {
      fmt::print("FAILED {}: {}\n", fs::path(tests[i]).filename().string(), outcome.reason);
    }
  }
  PrintTable(operators, explains);
  const int scope = in_scope.passed + in_scope.failed + in_scope.left_out;
  fmt::print("\n{} passed, {} failed, {} left out\n", all.passed, all.failed, all.left_out);
  fmt::print("{} of {} in scope\n{} of {} (ONNX 1.22.0)\n", in_scope.passed, scope, all.passed,
             kTests);
  return all.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cgrun

int main(int argc, char** argv) { return cgrun::Main(argc, argv); }
