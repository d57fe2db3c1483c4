// Tests which first lines are taken for names of columns.
#include "src/data/header_words.h"

#include <gtest/gtest.h>

#include "tests/data/dataset_testing.h"

namespace cgrun {
namespace {

TEST(HeaderWordsTest, WordsAreKnownInEverySpelling) {
  EXPECT_TRUE(IsLabelHeader("Class_Name"));
  EXPECT_TRUE(IsLabelHeader(" label "));
  EXPECT_FALSE(IsLabelHeader("good"));
  EXPECT_TRUE(IsTextHeader("Review"));
  EXPECT_FALSE(IsTextHeader("a review"));
}

class Lines : public DatasetBuilder {
 public:
  explicit Lines(std::string_view text) : DatasetBuilder("lines") {
    File("lines.txt", text).Set("file", "lines.txt").Set("length", "4");
    Input("text", DType::kI32, {4}).Label("first", DType::kI32);
  }
};

TEST(HeaderWordsTest, AKnownClassIsNoHeader) {
  const Opened listed = Lines("topic\ta\nother\tb\n").Set("classes", "[topic, other]").Open();
  ASSERT_EQ(listed.errors, "");
  EXPECT_EQ(listed.dataset->size(), 2);
  const Opened valid = Lines("topic\ta\nother\tb\n").Train(*listed.dataset).Open();
  ASSERT_EQ(valid.errors, "");
  EXPECT_EQ(valid.dataset->size(), 2);
}

TEST(HeaderWordsTest, AWordAmongIntegersIsAHeaderBesideTheNameOfTexts) {
  EXPECT_EQ(Lines("stars\treview\n1\ta\n0\tb\n").Open().dataset->size(), 2);
  const std::string errors = Lines("l\tso it goes\n1\ta\n0\tb\n").Open().errors;
  EXPECT_NE(errors.find(": error: "), std::string::npos) << errors;
}

}  // namespace
}  // namespace cgrun
