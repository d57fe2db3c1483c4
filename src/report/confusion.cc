// Tables of HTML that need no script.
#include "src/report/confusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "src/report/markup.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

constexpr char kConfusionStyle[] = R"(
figure { margin: 0; max-width: 100%; overflow-x: auto; }
.matrices { display: flex; flex-wrap: wrap; gap: 28px; align-items: flex-start; }
.matrix th, .matrix td, .pairs th, .pairs td { font-size: 12px; }
.matrix th, .pairs th { font-weight: 400; color: #5a6875; text-align: right; padding: 2px 6px;
                        white-space: nowrap; }
.matrix th span { display: block; max-width: 12em; max-height: 9em; overflow: hidden;
                  text-overflow: ellipsis; }
.matrix .upright { vertical-align: bottom; }
.matrix .upright span { writing-mode: vertical-rl; transform: rotate(180deg); }
.matrix td { min-width: 24px; padding: 2px 5px; border: 1px solid #e7ecf0; text-align: right; }
.pairs td:first-child { color: inherit; }
.matrix .dark { color: #fff; }
.pairs th, .pairs td { padding: 2px 18px 2px 0; text-align: left; }
)";

constexpr size_t kMostClasses = 30;  // of a table; beyond that a list of pairs
constexpr size_t kMostPairs = 20;
constexpr size_t kShortName = 3;  // bytes; longer names stand upright above their columns
constexpr double kDark = 0.6;     // from which shade on figures are white

// A pair of classes that are confused.
struct Pair {
  size_t label = 0, taken_for = 0;
  int64_t count = 0;
};

class Matrix {
 public:
  explicit Matrix(const ConfusionMatrix& matrix) : matrix_(matrix) {
    for (size_t i = 0; i < size(); ++i) {
      right_ += Count(i, i);
      int64_t& row = rows_.emplace_back(0);
      for (size_t j = 0; j < size(); ++j) row += Count(i, j);
      all_ += row;
    }
  }

  std::string ToString() const {
    return fmt::format(
        "<figure>\n<figcaption class=\"title\">{}: {} of {} right</figcaption>\n{}</figure>\n",
        EscapeMarkup(matrix_.title), FormatCount(right_), FormatCount(all_),
        size() <= kMostClasses ? Table() : Pairs());
  }

 private:
  size_t size() const { return matrix_.classes.size(); }
  int64_t Count(size_t label, size_t taken_for) const {
    return matrix_.counts[label * size() + taken_for];
  }
  std::string Name(size_t i) const { return EscapeMarkup(matrix_.classes[i]); }
  double PartOfRow(size_t label, int64_t count) const {
    return static_cast<double>(count) / static_cast<double>(std::max<int64_t>(1, rows_[label]));
  }

  std::string Head(size_t i, bool upright) const {
    return fmt::format("<th title=\"{}\"{}><span>{}</span></th>", Name(i),
                       upright ? " class=\"upright\"" : "", Name(i));
  }

  std::string Cell(size_t label, size_t taken_for) const {
    const int64_t count = Count(label, taken_for);
    if (count == 0) return "<td></td>";
    // The root shows the few that are wrong, too.
    const double shade = std::sqrt(PartOfRow(label, count));
    return fmt::format(
        "<td{} style=\"background: rgba({}, {:.2f})\" title=\"{}, taken for {}: {} of {}\">{}</td>",
        shade > kDark ? " class=\"dark\"" : "",
        label == taken_for ? "31, 111, 180" : "217, 115, 13", shade, Name(label), Name(taken_for),
        FormatCount(count), FormatCount(rows_[label]), FormatCount(count));
  }

  std::string Table() const {
    const bool upright = std::ranges::any_of(
        matrix_.classes, [](const std::string& name) { return name.size() > kShortName; });
    std::string html = "<table class=\"matrix\">\n<tr><th></th>";
    for (size_t i = 0; i < size(); ++i) html += Head(i, upright);
    html += "</tr>\n";
    for (size_t i = 0; i < size(); ++i) {
      html += "<tr>" + Head(i, false);
      for (size_t j = 0; j < size(); ++j) html += Cell(i, j);
      html += "</tr>\n";
    }
    return html + "</table>\n";
  }

  // Returns the most confused pairs first.
  std::vector<Pair> WorstPairs() const {
    std::vector<Pair> pairs;
    for (size_t i = 0; i < size(); ++i) {
      for (size_t j = 0; j < size(); ++j) {
        if (i != j && Count(i, j) > 0) pairs.push_back({i, j, Count(i, j)});
      }
    }
    std::ranges::stable_sort(pairs, std::ranges::greater(), &Pair::count);
    return pairs;
  }

  std::string Pairs() const {
    const std::vector<Pair> pairs = WorstPairs();
    if (pairs.empty()) return "<p>No class is taken for another one.</p>\n";
    const size_t shown = std::min(pairs.size(), kMostPairs);
    std::string html = fmt::format(
        "<p>Of {} classes, the {} of {} that are confused most.</p>\n<table class=\"pairs\">\n"
        "<tr><th>label</th><th>taken for</th><th>times</th><th>of the label</th></tr>\n",
        FormatCount(static_cast<int64_t>(size())), FormatCount(static_cast<int64_t>(shown), "pair"),
        FormatCount(static_cast<int64_t>(pairs.size())));
    for (size_t i = 0; i < shown; ++i) {
      const Pair& pair = pairs[i];
      html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.1f} %</td></tr>\n",
                          Name(pair.label), Name(pair.taken_for), FormatCount(pair.count),
                          100 * PartOfRow(pair.label, pair.count));
    }
    return html + "</table>\n";
  }

  const ConfusionMatrix& matrix_;
  std::vector<int64_t> rows_;  // their sums
  int64_t right_ = 0, all_ = 0;
};

}  // namespace

std::string_view ConfusionStyle() { return kConfusionStyle; }

std::string ConfusionHtml(const ConfusionMatrix& matrix) { return Matrix(matrix).ToString(); }

}  // namespace cgrun
