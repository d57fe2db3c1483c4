// Tests the page of confused classes. Shades say how large a part is, names cannot break markup,
// and of many classes the pairs that are confused most are shown.
#include "src/report/confusion.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cgrun {
namespace {

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// `wrong` of class i are taken for the next class, and the others of its 100 are right.
ConfusionMatrix OfMany(size_t classes, int64_t wrong) {
  ConfusionMatrix matrix{"test confusion", {}, std::vector<int64_t>(classes * classes)};
  for (size_t i = 0; i < classes; ++i) {
    matrix.classes.push_back("c" + std::to_string(i));
    matrix.counts[i * classes + i] = 100 - wrong;
    matrix.counts[i * classes + (i + 1) % classes] = wrong;
  }
  return matrix;
}

TEST(Confusion, HasACellForEachPairOfClasses) {
  const std::string html =
      ConfusionHtml({"test confusion", {"cat", "dog", "cow"}, {4, 1, 0, 0, 9, 0, 0, 0, 0}});
  EXPECT_NE(html.find("test confusion: 13 of 14 right"), html.npos) << html;
  EXPECT_EQ(Count(html, "<td"), 9u);
  EXPECT_EQ(Count(html, "<td></td>"), 6u) << "what never happened is empty";
  EXPECT_NE(html.find("title=\"cat, taken for dog: 1 of 5\">1</td>"), html.npos) << html;
  EXPECT_NE(html.find("title=\"dog, taken for dog: 9 of 9\">9</td>"), html.npos) << html;
  EXPECT_EQ(Count(html, "upright"), 0u);
}

TEST(Confusion, IsDarkerTheLargerThePart) {
  const std::string html = ConfusionHtml({"test confusion", {"0", "1"}, {99, 1, 50, 50}});
  EXPECT_NE(html.find("class=\"dark\" style=\"background: rgba(31, 111, 180, 0.99)\""), html.npos);
  EXPECT_NE(html.find("<td style=\"background: rgba(217, 115, 13, 0.10)\""), html.npos) << html;
  EXPECT_NE(html.find("class=\"dark\" style=\"background: rgba(217, 115, 13, 0.71)\""), html.npos);
}

TEST(Confusion, OfManyClassesListsThePairsThatAreConfusedMost) {
  EXPECT_EQ(Count(ConfusionHtml(OfMany(30, 7)), "class=\"matrix\""), 1u);
  ConfusionMatrix matrix = OfMany(31, 7);
  matrix.counts[4 * 31 + 2] = 50;
  const std::string html = ConfusionHtml(matrix);
  EXPECT_EQ(Count(html, "class=\"matrix\""), 0u);
  EXPECT_EQ(Count(html, "<tr><td>"), 20u);
  EXPECT_NE(html.find("Of 31 classes, the 20 pairs of 32 that are confused most."), html.npos);
  const size_t worst = html.find("<tr><td>c4</td><td>c2</td><td>50</td><td>33.3 %</td></tr>");
  EXPECT_NE(worst, html.npos) << html;
  EXPECT_LT(worst, html.find("<tr><td>c0</td><td>c1</td><td>7</td><td>7.0 %</td></tr>"));
  EXPECT_NE(ConfusionHtml(OfMany(31, 0)).find("No class is taken for another one."), html.npos);
}

TEST(Confusion, NamesAreEscapedAndStandUprightWhereTheyAreLong) {
  const std::string html = ConfusionHtml({"test <1>", {"a & b", "<i>"}, {1, 1, 0, 1}});
  EXPECT_EQ(html.find("<i>"), html.npos);
  EXPECT_EQ(html.find("<1>"), html.npos);
  EXPECT_EQ(Count(html, "<span>a &amp; b</span>"), 2u);
  EXPECT_EQ(Count(html, "class=\"upright\""), 2u);
}

}  // namespace
}  // namespace cgrun
