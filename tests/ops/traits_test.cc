// Checks that the traits that operators declare for the linter, the front end and eager mode fit
// their attributes.
#include <gtest/gtest.h>

#include <string_view>

#include "src/ir/op_def.h"

namespace cgrun {
namespace {

bool HasCount(const OpDef& def, std::string_view attribute) {
  const AttributeField* field = def.schema->Find(attribute);
  return field != nullptr && field->kind == AttributeKind::kInt;
}

template <class Check>
int CountOps(Check check) {
  int count = 0;
  for (int op = 0; op < OpCount(); ++op) count += check(GetOpDef(static_cast<OpId>(op)));
  return count;
}

TEST(Traits, NameAttributesThatAreThere) {
  const int layers = CountOps([](const OpDef& def) {
    EXPECT_TRUE(def.units.empty() || HasCount(def, def.units)) << def.name;
    EXPECT_TRUE(def.units.empty() || def.owned != nullptr) << def.name;
    return !def.units.empty();
  });
  EXPECT_EQ(layers, 3);
  const int readers = CountOps([](const OpDef& def) {
    EXPECT_EQ(def.labels == Labels::kIds, HasCount(def, def.id_count)) << def.name;
    return def.labels == Labels::kIds;
  });
  EXPECT_EQ(readers, 2);
}

TEST(Traits, ViewsKeepTheOrder) {
  const int views = CountOps([](const OpDef& def) {
    EXPECT_TRUE(!def.view || def.moves == Moves::kInOrder) << def.name;
    return def.view;
  });
  EXPECT_GT(views, 0);
}

TEST(Traits, LabelsAreReadByLossesAndMetrics) {
  const int losses = CountOps([](const OpDef& def) {
    const bool is_judge = def.usage == Usage::kLoss || def.usage == Usage::kMetric;
    const bool reads = def.labels == Labels::kClasses || def.labels == Labels::kBinary;
    EXPECT_TRUE(!reads || (is_judge && def.inputs.size() == 2)) << def.name;
    EXPECT_TRUE(def.applies == nullptr || (reads && def.usage == Usage::kLoss)) << def.name;
    return def.applies != nullptr;
  });
  EXPECT_EQ(losses, 2);
}

TEST(Traits, PlacesAreDrawnByOperatorsThatReadTheStep) {
  const int drawers = CountOps([](const OpDef& def) {
    EXPECT_TRUE(!def.draws_places || def.needs_step) << def.name;
    return def.draws_places;
  });
  EXPECT_EQ(drawers, 3);
}

}  // namespace
}  // namespace cgrun
