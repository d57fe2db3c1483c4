// Writes the log of a run as it goes on: metrics.csv, and the same for TensorBoard.
#ifndef CGRUN_RUN_RUN_LOG_H_
#define CGRUN_RUN_RUN_LOG_H_

#include <string>
#include <vector>

#include "src/io/event_file.h"
#include "src/run/metrics_log.h"

namespace cgrun {

inline constexpr char kEventFileName[] = "events.out.tfevents.cgrun";

// After its construction it does not allocate, except for an error.
class RunLog {
 public:
  // In the run's folder. `shape` and `step`: as in MetricsLog. Throws UserError.
  RunLog(const std::string& folder, const EpochReport& shape, int64_t step);

  // Returns the step of the last line, former parts of the run included, or −1 if there is none.
  int64_t last_step() const { return metrics_.last_step(); }
  // Throws UserError.
  void Write(const EpochReport& report);

 private:
  // The tags of the means of one pass: "train/loss".
  static std::vector<std::string> TagsOf(const PassResult& pass);
  void Add(const std::vector<std::string>& tags, const PassResult& pass);

  MetricsLog metrics_;
  EventFileWriter events_;
  std::vector<std::string> rate_tags_, train_tags_;
  std::vector<std::vector<std::string>> evaluation_tags_;
};

}  // namespace cgrun

#endif  // CGRUN_RUN_RUN_LOG_H_
