// Names of other frameworks lead to ours.
#include "src/frontend/synonyms.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/ir/op_def.h"

namespace cgrun {
namespace {

std::vector<std::string> AllNames() {
  std::vector<std::string> names;
  for (int i = 0; i < OpCount(); ++i) names.push_back(GetOpDef(static_cast<OpId>(i)).name);
  return names;
}

TEST(Synonyms, LeadToOperators) {
  const std::vector<std::string> known = AllNames();
  for (const auto& [theirs, ours] : std::vector<std::pair<std::string, std::string>>{
           {"dense", "linear"},
           {"Dense", "linear"},
           {"fc", "linear"},
           {"fully_connected", "linear"},
           {"InnerProduct", "linear"},
           {"inner_product", "linear"},
           {"convolution", "conv"},
           {"conv2d", "conv"},
           {"Conv", "conv"},
           {"maxpool", "max_pool"},
           {"MaxPool2d", "max_pool"},
           {"batchnorm", "batch_norm"},
           {"BatchNormalization", "batch_norm"},
           {"dropout2d", "dropout"},
           {"cross_entropy", "softmax_cross_entropy"},
           {"mse", "squared_error"},
           {"LayerNorm", "layer_norm"},
           {"LogSoftmax", "log_softmax"},
           {"clamp", "clip"},
           {"maximum", "max"},
           {"less", "compare"},
           {"randn", "random_normal"},
           {"RandomHorizontalFlip", "random_flip"},
           {"CenterCrop", "crop"},
           {"ConvTranspose2d", "conv_transpose"},
           {"BCEWithLogitsLoss", "binary_cross_entropy"},
           {"L1Loss", "absolute_error"},
           {"AdamW", "adamw"},
           {"Adam", "adam"},
           {"SGD", "sgd"},
           {"ReLU", "relu"}}) {
    EXPECT_EQ(SuggestOperator(theirs, known), "write '" + ours + "'");
  }
}

TEST(Synonyms, StayAmongWhatIsKnown) {
  const std::vector<std::string> known = {"relu", "conv"};
  EXPECT_EQ(SuggestOperator("dense", known), "known: relu, conv");
  EXPECT_EQ(SuggestOperator("rely", known), "did you mean 'relu'?");
}

}  // namespace
}  // namespace cgrun
