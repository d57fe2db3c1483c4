// What people see of a benchmark: progress, the table, its JSON twin.
#ifndef CGRUN_CLI_BENCH_VIEW_H_
#define CGRUN_CLI_BENCH_VIEW_H_

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/bench/bench.h"
#include "src/cli/profile_view.h"
#include "src/report/progress.h"

namespace cgrun {

// Profiles of cases, by their names: JSON objects.
using CaseProfiles = std::map<std::string, std::string>;

class BenchView final : public BenchObserver {
 public:
  BenchView(const ProfileFlags& profile, int threads);
  // Elsewhere than on a terminal, says so in the one line that there is of progress.
  void OnStart(const std::vector<BenchCase>& cases);
  void OnCase(const std::string& name, int64_t done, int64_t total) override;
  void OnProfile(const std::string& name, const Engine& engine,
                 const OperatorTimes& times) override;
  void Clear() { progress_.Clear(); }
  // Of the cases, one after another; a trace file holds that of the last.
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
  bool terminal_;  // what can overwrite a line: the benchmark's progress is for that alone
};

std::string BenchText(const BenchResult& result);
std::string BenchJson(const BenchResult& result, const CaseProfiles& profiles = {});
// The steps and the case of BenchJson() of a benchmark that had one case. Throws UserError if it is
// no such text.
BenchResult CaseFromJson(const std::string& text);

}  // namespace cgrun

#endif  // CGRUN_CLI_BENCH_VIEW_H_
