// Reads plans of `cgrun plan --json`, as `--diff` compares them with another plan. An accepted plan
// gives a text and a JSON, and no figure of it is out of bounds.
#include "src/base/check.h"
#include "src/base/printable.h"
#include "src/report/plan_diff.h"
#include "tests/fuzz/fuzz_target.h"

namespace cgrun {
namespace {

constexpr char kName[] = "before.json";
constexpr char kAfter[] = R"({"model": "m", "device": "cpu", "batch": 16, "memory_cap_bytes": 4096,
  "total_bytes": 1250, "arena_bytes": 1024, "data_bytes": 100, "base_bytes": 126,
  "zones": [{"name": "forward", "bytes": 800}, {"name": "workspace", "bytes": 64}],
  "buffers": [{"name": "x", "entry": "train", "bytes": 480},
              {"name": "w", "entry": "", "bytes": 64}]})";

void CheckDiff(const PlanDiff& diff) {
  CGRUN_CHECK(diff.grew_bytes >= 0);
  for (const PlanFigure& figure : diff.figures) CGRUN_CHECK(figure.before >= 0) << figure.name;
  for (const BufferChange& change : diff.buffers) CGRUN_CHECK(change.before >= -1) << change.name;
  CGRUN_CHECK(!PlanDiffText(diff).empty());
  const std::string json = PlanDiffJson(diff);
  CGRUN_CHECK(FindNoUtf8(json) == json.npos) << json;
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  try {
    CheckDiff(DiffPlans(TextOf(input), kName, kAfter));
    return true;
  } catch (const InputError& error) {
    CheckError(error, kName);
    CGRUN_CHECK(!error.help().empty());
    return false;
  }
}

std::vector<std::string> GoodInputs() {
  return {kAfter,
          R"({"arena_bytes": 0, "buffers": [1, {"name": 3}, {}], "zones": 7, "batch": [[1], {}]})",
          R"({"arena_bytes": 1, "buffers": [{"name": "\u001b[31m", "bytes": 7}], "order": "<b>"})"};
}

std::vector<std::string> RefusedInputs() {
  return {R"({"arena_bytes": 1, "buffers": [], "batch": )" + std::string(100'000, '['),
          R"({"arena_bytes": 1, "buffers": [], "zones": [{"name": "a", "bytes": -9e18}]})",
          R"({"arena_bytes": 1, "buffers": [{"name": "a", "bytes": 18446744073709551615}]})"};
}

}  // namespace cgrun
