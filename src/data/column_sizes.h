// Columns of features whose numbers are too large, or too different, for a model to learn from them
// as they are: DoubtOfColumns() is the entry point.
#ifndef CGRUN_DATA_COLUMN_SIZES_H_
#define CGRUN_DATA_COLUMN_SIZES_H_

#include <string>
#include <vector>

namespace cgrun {

// Of columns with these means and deviations (ColumnMoments::Spreads()): "the features are of very
// different sizes: 'income' (mean 51000, deviation 12000) beside 'rate' (mean 0.3, deviation 0.1)",
// with the largest few; "" where all will do. Columns of zeros and ones are never the small ones.
std::string DoubtOfColumns(const std::vector<std::string>& names, const std::vector<double>& means,
                           const std::vector<double>& deviations);

// Whether numbers of this mean and deviation are large.
bool IsLargeSize(double mean, double deviation);

// "mean 51000, deviation 12000".
std::string SizeText(double mean, double deviation);

}  // namespace cgrun

#endif  // CGRUN_DATA_COLUMN_SIZES_H_
