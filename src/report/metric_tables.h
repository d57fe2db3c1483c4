// Metrics of more than one number, as people read them.
#ifndef CGRUN_REPORT_METRIC_TABLES_H_
#define CGRUN_REPORT_METRIC_TABLES_H_

#include <string>
#include <vector>

#include "src/report/confusion.h"
#include "src/results/named_classes.h"
#include "src/results/pass_result.h"

namespace cgrun {

// The lists and tables of a pass, each under its name and the split's, behind an empty line; empty
// where the pass has none. Large ones are said to stand in the JSON. Classes have their names where
// one list of names is as long.
std::string MetricTables(const PassResult& pass, const ClassNames& class_names);

// The tables among them that count what classes are taken for, of all that was measured.
std::vector<ConfusionMatrix> ConfusionMatrices(const EpochReport& report,
                                               const ClassNames& class_names);

}  // namespace cgrun

#endif  // CGRUN_REPORT_METRIC_TABLES_H_
