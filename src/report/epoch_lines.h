// Formats the results of an epoch in lines whose columns stand under those of the epochs before.
// Nothing here allocates.
#ifndef CGRUN_REPORT_EPOCH_LINES_H_
#define CGRUN_REPORT_EPOCH_LINES_H_

#include <cstddef>
#include <span>

namespace cgrun {

// A number as a column has it, of six characters whatever its size: "0.1234", "12.346", "9.1e29",
// "4.1e-4" (seven of a negative one whose exponent has three digits and a sign).
void FormatMetric(double value, char* text, size_t size);

// Holds the results of one split: "loss 0.1234\taccuracy 0.9810".
struct EpochRow {
  const char* split;
  const char* columns;
};

// One line `LABEL  COLUMNS  | SPLIT COLUMNS  | RATE` where it is at most `width` characters. Else a
// line a split, behind its name, which goes on under its columns where it is too long. Ends with a
// line feed.
void FormatEpoch(const char* label, std::span<const EpochRow> rows, const char* rate, int width,
                 char* text, size_t size);

}  // namespace cgrun

#endif  // CGRUN_REPORT_EPOCH_LINES_H_
