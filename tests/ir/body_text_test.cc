// The listing of what a fused node does.
#include "src/ir/body_text.h"

#include <gtest/gtest.h>

#include "src/ops/leaky_relu.h"
#include "src/ops/pool.h"

namespace cgrun {
namespace {

TEST(BodyText, HasTheAttributesOfEachOperator) {
  LeakyReluAttributes leaky;
  leaky.slope = 0.25;
  MaxPoolAttributes pool;
  pool.kernel = {3, 2};
  const std::vector<FusedOperator> body = {{OpId::add, Attributes(), {0, 1}},
                                           {OpId::leaky_relu, Attributes::Of(leaky), {-1}},
                                           {OpId::max_pool, Attributes::Of(pool), {-2}}};
  EXPECT_EQ(BodyText(body, "  "),
            "  %0 = add(input 0, input 1)\n"
            "  %1 = leaky_relu(%0) {slope=0.25}\n"
            "  %2 = max_pool(%1) {kernel=[3, 2]}\n");
}

TEST(BodyText, IsEmptyOfANodeThatIsNotFused) { EXPECT_EQ(BodyText({}, "  "), ""); }

}  // namespace
}  // namespace cgrun
