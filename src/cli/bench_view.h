// BenchView shows the progress of a benchmark.
#ifndef CGRUN_CLI_BENCH_VIEW_H_
#define CGRUN_CLI_BENCH_VIEW_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "src/bench/bench.h"
#include "src/cli/profile_view.h"
#include "src/report/bench_report.h"
#include "src/report/progress.h"

namespace cgrun {

class BenchView final : public BenchObserver {
 public:
  BenchView(const ProfileFlags& profile, int threads);
  // Elsewhere than on a terminal, says so in the one line that there is of progress.
  void OnStart(const std::vector<BenchCase>& cases);
  void OnCase(const std::string& name, int64_t done, int64_t total) override;
  void OnProfile(const std::string& name, const Engine& engine,
                 const OperatorTimes& times) override;
  void Clear() { progress_.Clear(); }
  // Returns the profiles of the cases, one after another. A trace file holds that of the last.
  const std::string& profiles() const { return profiles_; }
  const CaseProfiles& profile_objects() const { return objects_; }

 private:
  const ProfileFlags& profile_;
  int threads_;
  std::optional<Ceilings> ceilings_;  // once they are measured
  std::string profiles_;
  CaseProfiles objects_;
  ProgressPrinter progress_;
  std::chrono::steady_clock::time_point begin_;  // of the rounds
  bool quiet_;
  bool terminal_;  // shows progress, which only a terminal can overwrite
};

}  // namespace cgrun

#endif  // CGRUN_CLI_BENCH_VIEW_H_
