// Tests attribute structs through their schemas: kinds, printing, changing, binding, ranges.
#include "src/ir/attributes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cgrun {
namespace {

struct Sample {
  bool flag = false;
  int64_t count = 3;
  double rate = 0.5;
  std::string mode = "fast";
  IntList sizes = {1, 2};
  Shape shape;
  DType dtype = DType::kF32;
  RealList means = {0};

  static const AttributeSchema& Schema() {
    static const AttributeSchema schema = SchemaBuilder<Sample>()
                                              .Add("flag", &Sample::flag, "a flag")
                                              .Add("count", &Sample::count, "a number")
                                              .Required()
                                              .AtLeast(1)
                                              .AtMost(9)
                                              .Add("rate", &Sample::rate, "a rate")
                                              .AtLeast(0)
                                              .Add("mode", &Sample::mode, "a word")
                                              .Choices({"fast", "slow"})
                                              .Add("sizes", &Sample::sizes, "sizes")
                                              .ExpandTo(2)
                                              .AllowSame()
                                              .AtLeast(0)
                                              .Add("shape", &Sample::shape, "a shape")
                                              .Internal()
                                              .Add("dtype", &Sample::dtype, "a type")
                                              .Add("means", &Sample::means, "means")
                                              .AtMost(10)
                                              .Build();
    return schema;
  }
};

const AttributeField& Field(const std::string& name) { return *Sample::Schema().Find(name); }

TEST(AttributeValueTest, Prints) {
  EXPECT_EQ(ToString(AttributeValue(true)), "true");
  EXPECT_EQ(ToString(AttributeValue(int64_t{-7})), "-7");
  EXPECT_EQ(ToString(AttributeValue(0.1)), "0.1");
  EXPECT_EQ(ToString(AttributeValue(1.0 / 3)), "0.3333333333333333");
  EXPECT_EQ(ToString(AttributeValue(std::string("word"))), "word");
  EXPECT_EQ(ToString(AttributeValue(IntList{1, -2})), "[1, -2]");
  EXPECT_EQ(ToString(AttributeValue(IntList{})), "[]");
  EXPECT_EQ(ToString(AttributeValue(RealList{0.1, 2})), "[0.1, 2]");
  EXPECT_EQ(ToString(AttributeValue(Shape{kBatchDim, 3})), "[N, 3]");
  EXPECT_EQ(ToString(AttributeValue(DType::kBF16)), "bf16");
}

TEST(AttributeSchemaTest, KnowsEachFieldAndItsRefinements) {
  const std::vector<AttributeField>& fields = Sample::Schema().fields();
  ASSERT_EQ(fields.size(), 8u);
  const AttributeKind kinds[] = {
      AttributeKind::kBool, AttributeKind::kInt,   AttributeKind::kReal,  AttributeKind::kString,
      AttributeKind::kInts, AttributeKind::kShape, AttributeKind::kDType, AttributeKind::kReals};
  for (size_t i = 0; i < fields.size(); ++i) EXPECT_EQ(fields[i].kind, kinds[i]) << fields[i].name;
  EXPECT_EQ(Field("flag").doc, "a flag");
  EXPECT_TRUE(Field("count").required);
  EXPECT_FALSE(Field("rate").required);
  EXPECT_TRUE(Field("shape").internal);
  EXPECT_FALSE(Field("dtype").internal);
  EXPECT_EQ(Field("count").minimum, 1);
  EXPECT_EQ(Field("count").maximum, 9);
  EXPECT_EQ(Field("sizes").expand_to, 2);
  EXPECT_EQ(Sample::Schema().Find("coumt"), nullptr);
}

TEST(AttributeSchemaTest, FailsWithoutAFieldToRefine) {
  EXPECT_DEATH(SchemaBuilder<Sample>().Required(), "no field to refine");
}

TEST(AttributesTest, WithChangesACopy) {
  const Attributes before = Attributes::Of(Sample());
  const Attributes after = before.With(Field("count"), int64_t{5});
  EXPECT_EQ(before.As<Sample>().count, 3);
  EXPECT_EQ(after.As<Sample>().count, 5);
  EXPECT_EQ(after.As<Sample>().mode, "fast");
  EXPECT_NE(before, after);
  EXPECT_EQ(after.With(Field("count"), int64_t{3}), before);
}

TEST(AttributesTest, SetsAndGetsEveryKind) {
  const std::vector<AttributeValue> values = {
      true,       int64_t{7}, 0.25,       std::string("slow"),
      IntList{4}, Shape{2},   DType::kU8, RealList{1, 2}};
  Attributes attributes = Attributes::Of(Sample());
  const std::vector<AttributeField>& fields = Sample::Schema().fields();
  for (size_t i = 0; i < fields.size(); ++i) attributes = attributes.With(fields[i], values[i]);
  for (size_t i = 0; i < fields.size(); ++i) EXPECT_EQ(attributes.Get(fields[i]), values[i]);
  EXPECT_EQ(attributes.ToString(),
            "flag=true count=7 rate=0.25 mode=slow sizes=[4] shape=[2] dtype=uint8 means=[1, 2]");
}

TEST(AttributesTest, PrintsOnlyWhatDiffersFromTheDefault) {
  EXPECT_EQ(Attributes::Of(Sample()).ToString(), "");
  EXPECT_EQ(Attributes().ToString(), "");
  Sample sample;
  sample.rate = 0.25;
  EXPECT_EQ(Attributes::Of(sample).ToString(), "rate=0.25");
}

TEST(AttributesTest, EqualityComparesFieldsOfOneSchema) {
  EXPECT_EQ(Attributes::Of(Sample()), Attributes::Defaults(Sample::Schema()));
  EXPECT_EQ(Attributes(), Attributes::Of(NoAttributes()));
  EXPECT_NE(Attributes::Of(Sample()), Attributes());
}

TEST(AttributesTest, BindReplacesTheBatchInShapes) {
  Sample sample;
  sample.shape = {kBatchDim, Dim(3, true), 5};
  const Attributes bound = Attributes::Of(sample).Bind(4);
  EXPECT_EQ(bound.As<Sample>().shape, (Shape{4, 12, 5}));
  EXPECT_EQ(bound.As<Sample>().count, 3);
}

TEST(AttributesTest, AsChecksTheStruct) {
  EXPECT_DEATH(Attributes().As<Sample>(), "another operator");
}

TEST(FaultTest, NamesWhatIsOutOfRange) {
  EXPECT_EQ(FaultOf(Field("count"), int64_t{1}), "");
  EXPECT_EQ(FaultOf(Field("count"), int64_t{0}), "`count` must be at least 1, not 0");
  EXPECT_EQ(FaultOf(Field("count"), int64_t{10}), "`count` must be at most 9, not 10");
  EXPECT_EQ(FaultOf(Field("rate"), -0.5), "`rate` must be at least 0, not -0.5");
  EXPECT_EQ(FaultOf(Field("sizes"), IntList{3, -2}), "`sizes` must be at least 0, not [3, -2]");
  EXPECT_EQ(FaultOf(Field("sizes"), IntList{-1, -1}), "") << "`same`";
  EXPECT_EQ(FaultOf(Field("means"), RealList{0, 11}), "`means` must be at most 10, not [0, 11]");
  EXPECT_EQ(FaultOf(Field("means"), RealList{-std::numeric_limits<double>::infinity()}), "");
  EXPECT_EQ(FaultOf(Field("means"), RealList{std::nan("")}), "`means` must be a number, not [nan]");
}

TEST(FaultTest, NamesTheChoices) {
  EXPECT_EQ(FaultOf(Field("mode"), std::string("slow")), "");
  EXPECT_EQ(FaultOf(Field("mode"), std::string("fats")),
            "`mode` must be one of fast, slow, not fats");
  EXPECT_EQ(FaultOf(Field("flag"), true), "");
  EXPECT_EQ(FaultOf(Field("shape"), Shape{-1}), "");
}

}  // namespace
}  // namespace cgrun
