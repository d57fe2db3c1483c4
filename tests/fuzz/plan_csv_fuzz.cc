// Reads packing problems as text. An accepted one is written out and must read back as the same
// problem.
#include "src/base/check.h"
#include "src/packing/problem_csv.h"
#include "tests/fuzz/fuzz_target.h"

namespace cgrun {
namespace {

std::optional<MemoryProblem> Read(const std::string& text, Diagnostics& diagnostics) {
  return ReadProblemCsv(std::make_shared<const SourceFile>(SourceFile{"plan.csv", text}),
                        diagnostics);
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  Diagnostics diagnostics;
  const auto problem = Read(TextOf(input), diagnostics);
  CGRUN_CHECK(problem.has_value() == !diagnostics.has_errors());
  if (!problem) {
    CheckErrors(diagnostics, "plan.csv");
    return false;
  }
  const std::string text = WriteProblemCsv(*problem);
  Diagnostics again;
  const auto same = Read(text, again);
  CGRUN_CHECK(same.has_value()) << text << again.ToString();
  CGRUN_CHECK(WriteProblemCsv(*same) == text) << text;
  return true;
}

std::vector<std::string> GoodInputs() {
  return {"id,lower,upper,size,alignment,offset\nconv1,0,3,4096,64,\nfc1,3,9,1024,64,0\n",
          "\xEF\xBB\xBFupper,size,lower,id\r\n3,1,0,\"a,\"\"b\"\r\n\r\n9,64,8,c"};
}

}  // namespace cgrun
