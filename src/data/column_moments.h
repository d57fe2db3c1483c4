// Means of a table's columns, and how far their values lie from them: found value by value.
#ifndef CGRUN_DATA_COLUMN_MOMENTS_H_
#define CGRUN_DATA_COLUMN_MOMENTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cgrun {

class ColumnMoments {
 public:
  ColumnMoments() = default;
  explicit ColumnMoments(size_t columns) : columns_(columns) {}

  void Add(size_t column, double value) {
    Column& to = columns_[column];
    // Welford, Note on a method for calculating corrected sums of squares and products, 1962: equal
    // values leave the mean, and squares of 0, exact.
    const double from_mean = value - to.mean;
    to.mean += from_mean / static_cast<double>(++to.count);
    to.squares += from_mean * (value - to.mean);
  }

  // Returns the mean of each column; NaN where the column has no value.
  std::vector<double> Means() const;
  // The square root of the mean square distance from the mean; 1 where all values are the same, so
  // that one can divide by it.
  std::vector<double> Deviations() const;

 private:
  struct Column {
    int64_t count = 0;
    double mean = 0, squares = 0;
  };
  std::vector<Column> columns_;
};

}  // namespace cgrun

#endif  // CGRUN_DATA_COLUMN_MOMENTS_H_
