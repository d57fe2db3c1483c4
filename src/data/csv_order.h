// The order of columns that a list names where the training data have an order already:
// InTrainingOrder() is the entry point. Columns may be called by numbers.
#ifndef CGRUN_DATA_CSV_ORDER_H_
#define CGRUN_DATA_CSV_ORDER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/data/csv_options.h"
#include "src/data/dataset.h"

namespace cgrun {

// Returns whether columns of other data are called by their numbers, as in a table without a
// header: none of the columns of this table, `names`, is called so.
bool AreNumbered(const std::vector<std::string>& columns, const std::vector<std::string>& names);

// Returns `columns` in the order of the training data or the weights, which is `known`. The option
// `key` lists them in a table whose columns are called `names`. Names are compared with names and
// numbers with numbers, whatever their order. If only one side calls columns by numbers, they keep
// their order. A list that lacks some of `known`, or has others, is an error at its place.
std::vector<size_t> InTrainingOrder(const std::string& key, std::vector<size_t> columns,
                                    const std::vector<std::string>& names,
                                    const std::vector<std::string>& known, const CsvOptions& csv,
                                    const DataOptions& options, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_DATA_CSV_ORDER_H_
