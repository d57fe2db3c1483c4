// The order of columns that a list names where the training data have an order already:
// InTrainingOrder() is the entry point.
#ifndef CGRUN_DATA_CSV_ORDER_H_
#define CGRUN_DATA_CSV_ORDER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/data/csv_options.h"
#include "src/data/dataset.h"

namespace cgrun {

// `columns`, which the option `key` lists of a table whose columns are called `names`, as the
// training data, or the weights, have them: `known`. Names go by names and numbers by numbers,
// whatever their order; columns that are called by numbers on one side alone keep theirs. A list
// that lacks some of `known`, or has others, is an error at its place.
std::vector<size_t> InTrainingOrder(const std::string& key, std::vector<size_t> columns,
                                    const std::vector<std::string>& names,
                                    const std::vector<std::string>& known, const CsvOptions& csv,
                                    const DataOptions& options, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_DATA_CSV_ORDER_H_
