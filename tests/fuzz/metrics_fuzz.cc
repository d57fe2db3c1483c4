// Reads metrics.csv of a run that goes on from step 5. An accepted file begins with lines of the
// input. If a run goes on from there once more, it leaves the file as it is.
#include "src/base/check.h"
#include "src/run/metrics_log.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

constexpr int64_t kStep = 5;

const TempFolder& Folder() {
  static const TempFolder folder;
  return folder;
}

EpochReport OneEpoch() {
  EpochReport report;
  report.rates = {{"learning_rate", 0.125}};
  report.train.split = "train";
  report.train.means = {{"loss", 0.5}, {"accuracy", 0.25}};
  report.train.samples = report.train.timed_samples = 9;
  return report;
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  const std::string file = Folder() / "metrics.csv", text = TextOf(input);
  WriteBytes(file, text);
  try {
    MetricsLog log(file, OneEpoch(), kStep);
  } catch (const UserError& error) {
    CheckError(error, file);
    return false;
  }
  const std::string kept = ReadBytes(file);
  CGRUN_CHECK(!kept.empty() && kept.back() == '\n' && text.starts_with(kept)) << kept;
  MetricsLog(file, OneEpoch(), kStep).Write(OneEpoch());
  CGRUN_CHECK(ReadBytes(file).starts_with(kept));
  return true;
}

std::vector<std::string> GoodInputs() {
  const std::string file = Folder() / "good.csv";
  MetricsLog log(file, OneEpoch());
  for (int64_t step : {2, 4, 5, 6}) {
    EpochReport report = OneEpoch();
    report.step = step;
    log.Write(report);
  }
  return {ReadBytes(file)};
}

}  // namespace cgrun
