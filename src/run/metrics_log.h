// metrics.csv: a line an evaluation. `seconds` are those of training in the epoch so far, `samples`
// what was trained on in them: where a run was resumed within the epoch, both are of the time
// since.
#ifndef CGRUN_RUN_METRICS_LOG_H_
#define CGRUN_RUN_METRICS_LOG_H_

#include <string>

#include "src/results/pass_result.h"

namespace cgrun {

// After its construction it does not allocate, except for an error.
class MetricsLog {
 public:
  // Begins the file with a header: a column for each rate and mean of `shape`, in its order. A run
  // that goes on from `step` > 0 keeps the lines up to that step; those beyond it, which it writes
  // again, are cut. Throws UserError, also where such a file has other columns.
  MetricsLog(std::string path, const EpochReport& shape, int64_t step = 0);
  ~MetricsLog();
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  // Returns the step of the last line, or −1 if there is none.
  int64_t last_step() const { return last_step_; }
  // Appends a line. `report` has the rates and means of the header; a pass that was not measured
  // has empty cells. Throws UserError.
  void Write(const EpochReport& report);

 private:
  // The characters of the former file that stay, 0 where there is none. Sets last_step_.
  size_t KeptSize(const std::string& header, int64_t step);
  template <class... Args>
  void AddNumber(const char* format, Args... args);
  void AddNames(const PassResult& pass);
  void AddMeans(const PassResult& pass);
  void EndLine();

  std::string path_;
  std::string line_;  // has room for every line
  int64_t last_step_ = -1;
  int fd_ = -1;
};

}  // namespace cgrun

#endif  // CGRUN_RUN_METRICS_LOG_H_
