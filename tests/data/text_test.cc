// Text: bytes as samples, plain and compressed, errors, bombs.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <optional>

#include "src/base/allocation_counter.h"
#include "src/data/dataset.h"
#include "tests/data/dataset_testing.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

Opened Open(std::string_view text, const std::string& length, int64_t limit = kNoLimit) {
  return DatasetBuilder("text")
      .File("text", text)
      .Set("file", "text")
      .Set("length", length)
      .Limit(limit)
      .Open();
}

TEST(TextTest, SamplesFollowEachOther) {
  for (bool compressed : {false, true}) {
    const std::string text = "to be or not";
    const Opened opened = Open(compressed ? Gzip(text) : text, "4");
    ASSERT_EQ(opened.errors, "");
    const Dataset& dataset = *opened.dataset;
    EXPECT_EQ(dataset.size(), 2);  // the last four have no byte behind them
    EXPECT_EQ(dataset.fields(),
              (std::vector<DataField>{{"text", DType::kU8, {4}}, {"next", DType::kU8, {4}}}));
    EXPECT_EQ(dataset.decoded_bytes(), 12);
    EXPECT_EQ(ReadSample(dataset, 0), (std::vector<std::string>{"to b", "o be"}));
    EXPECT_EQ(ReadSample(dataset, 1), (std::vector<std::string>{"e or", " or "}));
  }
}

TEST(TextTest, OneSampleNeedsTheByteBehindIt) {
  const Opened opened = Open("abcde", "4");
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(opened.dataset->size(), 1);
  EXPECT_EQ(ReadSample(*opened.dataset, 0), (std::vector<std::string>{"abcd", "bcde"}));
}

TEST(TextTest, BytesStayAsTheyAre) {
  std::string text(257, '\0');
  std::iota(text.begin(), text.end(), '\0');
  const Opened opened = Open(text, "256");
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(ReadSample(*opened.dataset, 0)[0], text.substr(0, 256));
  EXPECT_EQ(ReadSample(*opened.dataset, 0)[1], text.substr(1));
}

TEST(TextTest, BytesAreKnownByTheirPlaces) {
  DatasetBuilder data("text");
  data.File("text", "to be\n\xC3\xA9t\xC3\xA9 or not").Set("file", "text").Set("length", "6");
  const Opened opened = data.Open();
  ASSERT_EQ(opened.errors, "");
  const auto place = [&](size_t field, int64_t sample, int64_t value) {
    const SamplePlace place = opened.dataset->PlaceOf(field, sample, value);
    if (!place.in_file()) return std::string("none");
    return std::to_string(place.mark.line) + ":" + std::to_string(place.mark.column) + place.text;
  };
  EXPECT_EQ(place(0, 0, 'b'), "1:4'b'");
  EXPECT_EQ(place(0, 0, '\n'), "1:6");
  EXPECT_EQ(place(0, 1, 't'), "2:2't'");
  EXPECT_EQ(place(0, 1, 0xA9), "2:1'\xC3\xA9'");
  EXPECT_EQ(place(1, 0, 0xC3), "2:1'\xC3\xA9'") << "the byte behind the sample's last one";
  EXPECT_EQ(place(0, 0, 'z'), "none");
}

TEST(TextTest, FieldsTakeTheTypesOfTheirInputs) {
  DatasetBuilder data("text");
  data.File("text", "\xC3\xA9tat").Set("file", "text").Set("length", "2");
  data.Input("next", DType::kI64, {2}).Input("text", DType::kI32, {2});
  const Opened opened = data.Open();
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(opened.dataset->fields(),
            (std::vector<DataField>{{"text", DType::kI32, {2}}, {"next", DType::kI64, {2}}}));
  EXPECT_EQ(ReadField<int32_t>(*opened.dataset, 0, 0), (std::vector<int32_t>{0xC3, 0xA9}));
  EXPECT_EQ(ReadField<int64_t>(*opened.dataset, 0, 1), (std::vector<int64_t>{0xA9, 't'}));
}

TEST(TextTest, AModelWithOneInputTakesTheTextAlone) {
  DatasetBuilder data("text");
  data.File("text", "abcde").Set("file", "text").Set("length", "2");
  const Opened opened = data.Input("letters", DType::kI32, {2}).Open();
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(opened.dataset->fields(), (std::vector<DataField>{{"text", DType::kI32, {2}}}));
  EXPECT_EQ(ReadField<int32_t>(*opened.dataset, 1, 0), (std::vector<int32_t>{'c', 'd'}));
}

TEST(TextTest, TellsTheRangeOfItsBytes) {
  for (DType dtype : {DType::kU8, DType::kI32, DType::kI64}) {
    DatasetBuilder data("text");
    data.File("text", "bacdz").Set("file", "text").Set("length", "2");
    data.Input("text", dtype, {2}).Input("next", dtype, {2});
    const Opened opened = data.Open();
    ASSERT_EQ(opened.errors, "");
    const std::optional<FieldRange> text = RangeOf(*opened.dataset, 0);
    ASSERT_TRUE(text.has_value()) << Name(dtype);
    EXPECT_EQ(text->smallest.value, 'a');
    EXPECT_EQ(text->largest.value, 'd') << "the last byte is no part of a text";
    const std::optional<FieldRange> next = RangeOf(*opened.dataset, 1);
    ASSERT_TRUE(next.has_value()) << Name(dtype);
    EXPECT_EQ(next->smallest.value, 'a');
    EXPECT_EQ(next->smallest.sample, 0);
    EXPECT_EQ(next->largest.value, 'z');
    EXPECT_EQ(next->largest.sample, 1);
  }
}

TEST(TextTest, RefusesWhatHoldsNoSample) {
  EXPECT_NE(Open("", "4").errors.find("has 0 bytes, but one sample takes 5"), std::string::npos);
  const std::string one = Open("abcd", "4").errors;
  EXPECT_NE(one.find("'DIR/text' has 4 bytes, but one sample takes 5: `length` and the one that "
                     "follows"),
            std::string::npos)
      << one;
  EXPECT_NE(one.find("a smaller `length`, or a longer text"), std::string::npos) << one;
  EXPECT_NE(Open(Gzip(""), "1").errors.find("has 0 bytes"), std::string::npos);
}

TEST(TextTest, RefusesWrongOptions) {
  EXPECT_NE(Open("abc", "0").errors.find("option 'length' is '0', but must be an integer"),
            std::string::npos);
  EXPECT_NE(Open("abc", "two").errors.find("option 'length' is 'two'"), std::string::npos);
  const std::string none =
      DatasetBuilder("text").File("text", "abc").Set("file", "text").Open().errors;
  EXPECT_NE(none.find("data of format 'text' need the option 'length'"), std::string::npos) << none;
  const std::string absent =
      DatasetBuilder("text").Set("file", "no").Set("length", "1").Open().errors;
  EXPECT_NE(absent.find("'DIR/no'"), std::string::npos) << absent;
}

TEST(TextTest, RefusesDamagedFiles) {
  const std::string whole = Gzip(std::string(1000, 'a') + "bcd");
  for (size_t length : {size_t{5}, whole.size() / 2, whole.size() - 1}) {
    const Opened opened = Open(whole.substr(0, length), "4");
    EXPECT_EQ(opened.dataset, nullptr) << length;
    EXPECT_NE(opened.errors.find("'DIR/text'"), std::string::npos) << opened.errors;
  }
}

TEST(TextTest, RefusesBombsBeforeTheyGoOff) {
  const std::string bomb = Gzip(std::string(8 << 20, 'a'));
  const Opened opened = Open(bomb, "4", 1 << 20);
  EXPECT_EQ(opened.dataset, nullptr);
  EXPECT_NE(opened.errors.find("it inflates to at least"), std::string::npos) << opened.errors;
  EXPECT_NE(Open(std::string(100, 'a'), "4", 99)
                .errors.find("its text takes 100 bytes, more than the 99 bytes that are left"),
            std::string::npos);
}

TEST(TextTest, ReadingAllocatesNothing) {
  const Opened opened = Open("to be or not to be", "4");
  ASSERT_EQ(opened.errors, "");
  std::array<std::byte, 4> text, next;
  const std::array<std::span<std::byte>, 2> fields = {text, next};
  const HeapUse before = CurrentHeapUse();
  for (int64_t i = 0; i < opened.dataset->size(); ++i) opened.dataset->Read(i, fields);
  EXPECT_EQ(CurrentHeapUse().allocations, before.allocations);
}

}  // namespace
}  // namespace cgrun
