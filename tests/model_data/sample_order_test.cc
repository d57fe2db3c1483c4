// Tests which training data need a list of their samples, and when it is too long.
#include "src/model_data/sample_order.h"

#include <gtest/gtest.h>

#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

// 2⁴⁰ samples, whose random order is a list of 8 TiB.
constexpr char kMany[] = "data.train.samples=1099511627776";

std::string ErrorsOfOrder(const std::vector<std::string>& settings) {
  const ModelSpec model = SmallModel(settings);
  Diagnostics diagnostics;
  const ModelData data = OpenModelData(model, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.ToString();
  CheckOrder(model, data, diagnostics);
  return diagnostics.ToString();
}

TEST(SampleOrder, ARandomOrderThatDoesNotFitHasAPlace) {
  const std::string errors = ErrorsOfOrder({kMany});
  EXPECT_NE(errors.find("the order of 1099511627776 samples takes 8.0 TiB, more than the "),
            std::string::npos)
      << errors;
  EXPECT_NE(errors.find("help: fewer samples"), std::string::npos) << errors;
  EXPECT_TRUE(errors.starts_with("--set " + std::string(kMany))) << errors;
}

TEST(SampleOrder, OnlyARandomOrderIsAList) {
  EXPECT_EQ(ErrorsOfOrder({}), "");
  EXPECT_EQ(ErrorsOfOrder({kMany, "train.shuffle=false"}), "");
  EXPECT_TRUE(ShufflesSamples(SmallModel({})));
  EXPECT_FALSE(ShufflesSamples(SmallModel({"train.shuffle=false"})));
}

}  // namespace
}  // namespace cgrun
