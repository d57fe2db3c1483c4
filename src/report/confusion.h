// Shows how classes are confused, as a part of a page: a shaded table, or, of many classes, the
// pairs that are confused most.
#ifndef CGRUN_REPORT_CONFUSION_H_
#define CGRUN_REPORT_CONFUSION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cgrun {

struct ConfusionMatrix {
  std::string title;                 // "test confusion_matrix"
  std::vector<std::string> classes;  // a name each
  // [classes, classes], row by row: how many of row i's class are taken for column j's.
  std::vector<int64_t> counts;
};

// The rules of style that ConfusionHtml() needs.
std::string_view ConfusionStyle();

// A <figure>. A cell is the darker the larger its part of the row is, in one colour where it is
// right and in another where it is wrong; the words for it are there to hover over.
std::string ConfusionHtml(const ConfusionMatrix& matrix);

}  // namespace cgrun

#endif  // CGRUN_REPORT_CONFUSION_H_
