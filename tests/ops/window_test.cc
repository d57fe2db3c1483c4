// Windows against the definitions that they follow, on random sizes.
#include "src/ops/window.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace cgrun {
namespace {

int64_t Draw(int64_t low, int64_t high) { return *rc::gen::inRange(low, high + 1); }

WindowAttributes DrawWindow() {
  WindowAttributes attributes;
  attributes.kernel = {Draw(1, 4), 1};
  attributes.stride = {Draw(1, 4), 1};
  attributes.padding = {Draw(0, 3), 0, Draw(0, 3), 0};
  attributes.dilation = {Draw(1, 3), 1};
  return attributes;
}

int64_t Extent(const WindowAttributes& attributes) {
  return (attributes.kernel[0] - 1) * attributes.dilation[0] + 1;
}

// Every window that fits into the padded image, and no other.
RC_GTEST_PROP(WindowTest, OutputsAreTheWindowsThatFit, ()) {
  const WindowAttributes attributes = DrawWindow();
  const int64_t size = Draw(1, 12);
  const int64_t padded = attributes.padding[0] + size + attributes.padding[2];
  int64_t count = 0;
  for (int64_t begin = 0; begin + Extent(attributes) <= padded; begin += attributes.stride[0]) {
    ++count;
  }
  const auto window = WindowOn({1, 1, size, 1}, attributes);
  RC_ASSERT(window.has_value() == (count > 0));
  RC_CLASSIFY(count > 0, "fits");
  if (window) RC_ASSERT(window->y.output == count);
}

// ONNX SAME_UPPER: ⌈size ÷ stride⌉ windows, the least padding for them, the odd row at the end.
RC_GTEST_PROP(WindowTest, SameMakesAnOutputForEveryStep, ()) {
  WindowAttributes attributes = DrawWindow();
  attributes.padding = {-1, -1, -1, -1};
  const int64_t size = Draw(1, 12);
  const auto window = WindowOn({1, 1, size, 1}, attributes);
  RC_ASSERT(window.has_value());
  const WindowAxis& y = window->y;
  RC_ASSERT(y.output == (size + y.stride - 1) / y.stride);
  const int64_t end = (y.output - 1) * y.stride + Extent(attributes);
  RC_ASSERT(y.before + y.after == std::max<int64_t>(0, end - size));
  RC_ASSERT(y.after == y.before || y.after == y.before + 1);
}

// In ceil mode there is at most one window more; it hangs over the end and begins before the
// padding there.
RC_GTEST_PROP(WindowTest, CeilModeAddsTheWindowThatHangsOver, ()) {
  WindowAttributes attributes = DrawWindow();
  attributes.padding[2] = Draw(0, (attributes.kernel[0] - 1) / 2);
  const int64_t size = Draw(1, 12);
  const auto floor = WindowOn({1, 1, size, 1}, attributes);
  RC_PRE(floor.has_value());
  attributes.ceil_mode = true;
  const auto ceil = WindowOn({1, 1, size, 1}, attributes);
  RC_ASSERT(ceil.has_value());
  const int64_t begin = floor->y.output * floor->y.stride;  // of the next window
  const int64_t padded = attributes.padding[0] + size + attributes.padding[2];
  const bool something_left = begin - floor->y.stride + Extent(attributes) < padded;
  const bool more = something_left && begin < attributes.padding[0] + size;
  RC_CLASSIFY(more, "one more");
  if (begin - floor->y.stride < attributes.padding[0] + size) {
    RC_ASSERT(ceil->y.output == floor->y.output + (more ? 1 : 0));
  }
}

TEST(WindowTest, StrideIsTheKernelUnlessGiven) {
  const auto window = WindowOn({1, 1, 6, 9}, {{2, 3}, {}, {0, 0, 0, 0}, {1, 1}});
  ASSERT_TRUE(window.has_value());
  EXPECT_EQ(window->y.output, 3);
  EXPECT_EQ(window->x.output, 3);
}

TEST(WindowTest, AttributesOfWrongSizesAreNoWindow) {
  EXPECT_FALSE(WindowOn({1, 1, 6, 9}, {{2}, {}, {0, 0, 0, 0}, {1, 1}}).has_value());
  EXPECT_FALSE(WindowOn({1, 1, 6, 9}, {{2, 2}, {1}, {0, 0, 0, 0}, {1, 1}}).has_value());
  EXPECT_FALSE(WindowOn({1, 1, 6, 9}, {{2, 2}, {}, {0, 0}, {1, 1}}).has_value());
  EXPECT_FALSE(WindowOn({6, 9}, {{2, 2}, {}, {0, 0, 0, 0}, {1, 1}}).has_value());
}

}  // namespace
}  // namespace cgrun
