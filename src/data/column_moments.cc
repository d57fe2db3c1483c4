// Sums become means at the end.
#include "src/data/column_moments.h"

#include <cmath>
#include <limits>

namespace cgrun {

std::vector<double> ColumnMoments::Means() const {
  std::vector<double> means;
  for (const Column& column : columns_) {
    means.push_back(column.count > 0 ? column.mean : std::numeric_limits<double>::quiet_NaN());
  }
  return means;
}

std::vector<double> ColumnMoments::Deviations() const {
  std::vector<double> deviations;
  for (const Column& column : columns_) {
    const double variance =
        column.count > 0 ? column.squares / static_cast<double>(column.count) : 0.0;
    const double deviation = variance > 0 ? std::sqrt(variance) : 0.0;
    deviations.push_back(deviation > 0 ? deviation : 1);
  }
  return deviations;
}

}  // namespace cgrun
