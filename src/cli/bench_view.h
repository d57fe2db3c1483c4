// What people see of a benchmark: progress, the table, its JSON twin.
#ifndef CGRUN_CLI_BENCH_VIEW_H_
#define CGRUN_CLI_BENCH_VIEW_H_

#include <string>

#include "src/report/progress.h"
#include "src/train/bench.h"

namespace cgrun {

class BenchView final : public BenchObserver {
 public:
  BenchView();
  void OnCase(const std::string& name, int64_t done, int64_t total) override;
  void Clear() { progress_.Clear(); }

 private:
  ProgressPrinter progress_;
  bool quiet_;
};

std::string BenchText(const BenchResult& result);
std::string BenchJson(const BenchResult& result);
// The case of BenchJson() of a benchmark that had one. Throws UserError if it is no such text.
CaseResult CaseFromJson(const std::string& text);

}  // namespace cgrun

#endif  // CGRUN_CLI_BENCH_VIEW_H_
