// Imported node tests of ONNX give their outputs, in graph mode and in eager mode.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "src/base/diagnostics.h"
#include "tests/io/test_files.h"
#include "tests/onnx/node_tests.h"
#include "tests/onnx_conformance/conformance_case.h"

namespace cgrun {
namespace {

// Those that are left out have an operator or a number type that is not supported. The script
// onnx-conformance lists the reasons.
constexpr int kPassed = 1148;

Outcome RunTest(const std::map<std::string, onnx::ByteSpan>& files, const std::string& folder) {
  const TempFolder scratch;
  const std::string model = scratch / "model.onnx";
  WriteBytes(model, onnx::TextOf(files.at(folder + "/model.onnx")));
  try {
    ConformanceCase test(model, [&](const std::string& name) -> std::optional<std::string> {
      const auto file = files.find(folder + "/" + name);
      if (file == files.end()) return std::nullopt;
      return std::string(onnx::TextOf(file->second));
    });
    return test.Run();
  } catch (const UserError& error) {
    return {Verdict::kLeftOut, error.what()};
  }
}

TEST(NodeTestsImportTest, GiveTheirOutputs) {
  const std::string tar = onnx::NodeTestsTar();
  if (tar.empty()) GTEST_SKIP() << onnx::kMissing;
  const std::map<std::string, onnx::ByteSpan> files = onnx::FilesIn(tar);
  int passed = 0;
  for (const auto& [path, bytes] : files) {
    if (!path.starts_with("node/") || !path.ends_with("/model.onnx")) continue;
    const std::string folder = path.substr(0, path.rfind('/'));
    const Outcome outcome = RunTest(files, folder);
    EXPECT_NE(outcome.verdict, Verdict::kFailed) << folder << ": " << outcome.reason;
    if (outcome.verdict == Verdict::kPassed) ++passed;
  }
  EXPECT_GE(passed, kPassed);
}

}  // namespace
}  // namespace cgrun
