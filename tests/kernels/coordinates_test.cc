// Boxes that are moved, compared and chosen, on boxes drawn by chance: what non-maximum suppression
// promises, whatever it keeps.
#include "src/kernels/reference/coordinates.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace cgrun::reference {
namespace {

using Box = BoxOf<float>;

// A box of whole pixels in an image of 32 × 32, which may have no area.
Box AnyBox() {
  const auto from = [](int least) { return *rc::gen::inRange(least, 32); };
  const int x = from(0), y = from(0);
  return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(from(x)),
          static_cast<float>(from(y))};
}

struct Suppression {
  std::vector<Box> boxes;
  std::vector<int> classes;
  float max_iou = 0;
  std::vector<int32_t> kept;

  bool Clash(size_t i, size_t j) const {
    return classes[i] == classes[j] && IntersectionOverUnion(boxes[i], boxes[j]) > max_iou;
  }
};

Suppression AnySuppression(size_t count) {
  Suppression s;
  const int boxes = *rc::gen::inRange(0, 40), classes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < boxes; ++i) {
    s.boxes.push_back(AnyBox());
    s.classes.push_back(*rc::gen::inRange(0, classes));
  }
  s.max_iou = 0.1F * static_cast<float>(*rc::gen::inRange(0, 11));
  s.kept.resize(count);
  const int64_t kept = SuppressNonMaxima<float>(
      s.boxes, s.max_iou, s.kept, [&](size_t i, size_t j) { return s.classes[i] == s.classes[j]; });
  s.kept.resize(static_cast<size_t>(kept));
  return s;
}

// Those before `box` in their order that were kept.
std::vector<size_t> KeptBefore(const Suppression& s, size_t box) {
  std::vector<size_t> before;
  for (const int32_t kept : s.kept) {
    if (static_cast<size_t>(kept) < box) before.push_back(static_cast<size_t>(kept));
  }
  return before;
}

RC_GTEST_PROP(SuppressNonMaxima, LeavesOutWhatOverlapsWithOneBefore, ()) {
  const Suppression s = AnySuppression(40);
  std::vector<bool> is_kept(s.boxes.size());
  for (const int32_t kept : s.kept) is_kept[static_cast<size_t>(kept)] = true;
  for (size_t i = 0; i < s.boxes.size(); ++i) {
    bool left_out = IsEmpty(s.boxes[i]);
    for (const size_t j : KeptBefore(s, i)) left_out |= s.Clash(i, j);
    RC_ASSERT(is_kept[i] != left_out);
  }
  RC_CLASSIFY(s.kept.size() < s.boxes.size(), "some are left out");
}

RC_GTEST_PROP(SuppressNonMaxima, KeepsTheOrderAndTheFirstOfThem, ()) {
  const size_t count = *rc::gen::inRange<size_t>(0, 10);
  const Suppression s = AnySuppression(count);
  RC_ASSERT(s.kept.size() <= count);
  RC_ASSERT(std::is_sorted(s.kept.begin(), s.kept.end()));
  RC_ASSERT(std::adjacent_find(s.kept.begin(), s.kept.end()) == s.kept.end());
  const auto first = std::find_if_not(s.boxes.begin(), s.boxes.end(), IsEmpty<float>);
  if (count > 0 && first != s.boxes.end()) RC_ASSERT(s.kept.at(0) == first - s.boxes.begin());
  std::vector<int32_t> all(s.boxes.size());  // the kept boxes without a bound begin in the same way
  const int64_t kept = SuppressNonMaxima<float>(
      s.boxes, s.max_iou, all, [&](size_t i, size_t j) { return s.classes[i] == s.classes[j]; });
  RC_ASSERT(s.kept.size() == std::min(count, static_cast<size_t>(kept)));
  RC_ASSERT(std::equal(s.kept.begin(), s.kept.end(), all.begin()));
}

RC_GTEST_PROP(IntersectionOverUnion, IsAPartOfTheWhole, ()) {
  const Box a = AnyBox(), b = AnyBox();
  const float iou = IntersectionOverUnion(a, b);
  RC_ASSERT(iou == IntersectionOverUnion(b, a));
  RC_ASSERT(iou >= 0 && iou <= 1);
  const bool has_area = a.x2 > a.x1 && a.y2 > a.y1;
  RC_ASSERT(IntersectionOverUnion(a, a) == (has_area ? 1.0F : 0.0F));
  // As pixels are counted.
  int shared = 0, either = 0;
  for (int pixel = 0; pixel < 32 * 32; ++pixel) {
    const float x = static_cast<float>(pixel % 32) + 0.5F,
                y = static_cast<float>(pixel / 32) + 0.5F;
    const auto has = [=](const Box& box) {
      return x > box.x1 && x < box.x2 && y > box.y1 && y < box.y2;
    };
    shared += has(a) && has(b);
    either += has(a) || has(b);
  }
  RC_ASSERT(iou == (shared == 0 ? 0.0F : static_cast<float>(shared) / static_cast<float>(either)));
}

RC_GTEST_PROP(Moved, StaysInTheImageAndWhereItIs, ()) {
  const Box box = AnyBox();
  const Box still = Moved<float>(box, {0, 0, 0, 0}, 32, 32);
  RC_ASSERT(still.x1 == box.x1 && still.y1 == box.y1 && still.x2 == box.x2 && still.y2 == box.y2);
  Deltas<float> deltas;
  for (float& delta : deltas) delta = 0.25F * static_cast<float>(*rc::gen::inRange(-40, 40));
  const Box moved = Moved(box, deltas, 20.0F, 30.0F);
  RC_ASSERT(0 <= moved.x1 && moved.x1 <= moved.x2 && moved.x2 <= 20);
  RC_ASSERT(0 <= moved.y1 && moved.y1 <= moved.y2 && moved.y2 <= 30);
}

TEST(ByScore, PutsNaNLast) {
  const std::vector<double> scores = {1, std::nan(""), 3, 1,
                                      -std::numeric_limits<double>::infinity()};
  std::vector<int32_t> order = {4, 3, 2, 1, 0};
  std::sort(order.begin(), order.end(), ByScore<double>{scores.data()});
  EXPECT_EQ(order, (std::vector<int32_t>{2, 0, 3, 1, 4}));
}

}  // namespace
}  // namespace cgrun::reference
