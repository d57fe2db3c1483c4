// Names of other frameworks lead to ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/frontend/frontend.h"
#include "src/frontend/operator_synonyms.h"
#include "src/ir/op_def.h"
#include "src/model/key_synonyms.h"
#include "src/model/schema.h"

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

TEST(Synonyms, OfCallsLeadToOperators) {
  const std::vector<std::string> known = AllNames();
  EXPECT_EQ(BareName("torch.nn.Conv2d(3, 16, 3)"), "Conv2d");
  EXPECT_EQ(BareName("relu"), "relu");
  EXPECT_EQ(SameOperator("nn.Linear(36, 2)", known), "linear");
  EXPECT_EQ(SameOperator("relou", known), "");
  EXPECT_EQ(GuessOperator("relou", known), "relu");
  EXPECT_EQ(GuessOperator("Dense", known), "linear");
  EXPECT_EQ(GuessOperator("quux_of_quuxes", known), "");
}

TEST(Synonyms, HaveNotesWhereThereIsNoneOfOurs) {
  const std::vector<std::string> of_linear = {"units", "bias"}, of_adam = {"beta1", "beta2"};
  EXPECT_EQ(SuggestKey("in_features", of_linear),
            "leave it out: the operator knows the size of what it reads");
  EXPECT_EQ(SuggestKey("betas", of_adam), "write its two numbers apart: `beta1: …, beta2: …`");
  EXPECT_EQ(SuggestKey("betas", of_linear), "known: units, bias");
  EXPECT_EQ(SuggestKey("biass", of_linear), "did you mean 'bias'?");
}

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Operators that a model file can write.
TEST(Synonyms, OfOperatorsAllLeadToOne) {
  std::vector<std::string> known;
  for (int i = 0; i < OpCount(); ++i) {
    const OpDef& def = GetOpDef(static_cast<OpId>(i));
    if (def.usage != Usage::kInternal) known.push_back(def.name);
  }
  EXPECT_FALSE(OperatorSynonyms().empty());
  for (const Synonym& synonym : OperatorSynonyms()) {
    EXPECT_TRUE(Contains(known, synonym.ours)) << synonym.theirs << " → " << synonym.ours;
    EXPECT_EQ(PlainName(synonym.theirs), synonym.theirs);
  }
}

TEST(Synonyms, OfKeysAllLeadToOne) {
  std::vector<std::string> known = CommonKeys();
  known.emplace_back("schedule");  // of optimizers
  for (const MapDoc& map : FormatReference()) {
    for (const KeyDoc& key : map.keys) known.emplace_back(key.name);
  }
  for (int i = 0; i < OpCount(); ++i) {
    for (const AttributeField& field : GetOpDef(static_cast<OpId>(i)).schema->fields()) {
      if (!field.internal) known.push_back(field.name);
    }
  }
  EXPECT_FALSE(KeySynonyms().empty());
  for (const Synonym& synonym : KeySynonyms()) {
    EXPECT_TRUE(Contains(known, synonym.ours)) << synonym.theirs << " → " << synonym.ours;
    EXPECT_EQ(PlainName(synonym.theirs), synonym.theirs);
  }
}

}  // namespace
}  // namespace cgrun
