// report.html: a run on one page that needs nothing else: its summary, curves, what classes are
// taken for, memory and settings.
#ifndef CGRUN_REPORT_RUN_PAGE_H_
#define CGRUN_REPORT_RUN_PAGE_H_

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "src/plan/memory_layout.h"
#include "src/report/chart.h"
#include "src/report/confusion.h"
#include "src/results/pass_result.h"

namespace cgrun {

struct RunPage {
  std::string model;
  std::vector<std::pair<std::string, std::string>> facts;  // rows of the summary
  std::vector<Chart> charts;
  std::vector<ConfusionMatrix> matrices;
  const MemoryLayout* layout = nullptr;  // null: nothing was planned, as in eager mode
  std::string settings;                  // the model file as resolved
  std::vector<std::pair<std::string, std::string>> origin = {};  // rows: how the run came about
};

std::string RunPageHtml(const RunPage& page);

// Marks the charts of metrics that only approximate what they are called: "auc ≈".
void MarkApproximations(const EpochReport& last, std::vector<Chart>& charts);

// One chart a metric from the text of metrics.csv: `train_loss` and `valid_loss` are curves of the
// chart `loss`; the x axis is the step. A curve has at most about 1,000 points: of a longer run,
// only every so many rows are drawn.
std::vector<Chart> ChartsOf(std::istream& metrics_csv);

}  // namespace cgrun

#endif  // CGRUN_REPORT_RUN_PAGE_H_
