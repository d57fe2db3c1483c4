// Tests lines as padded sequences: words, bytes and ids, labels, vocabularies.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "src/base/allocation_counter.h"
#include "src/data/dataset.h"
#include "src/data/sampler.h"
#include "tests/data/lines_testing.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

TEST(Lines, WordsBecomeIdsByTheirFrequency) {
  for (bool compressed : {false, true}) {
    const std::string text = "b a b\n\nthe  b\ta\r\nc\n   \n";
    const Opened opened = LinesBuilder(compressed ? Gzip(text) : text).Open();
    // b: 3 times; a: twice; c before the.
    EXPECT_EQ(TextsOf(opened), (std::vector<Ids>{{2, 3, 2, 0}, {5, 2, 3, 0}, {4, 0, 0, 0}}));
    EXPECT_EQ(opened.dataset->fields(), (std::vector<DataField>{{"text", DType::kI32, {4}}}));
  }
}

TEST(Lines, ACarriageReturnAloneEndsLines) {
  EXPECT_EQ(TextsOf(LinesBuilder("x y\ry z\r").Open()), TextsOf(LinesBuilder("x y\ny z\n").Open()));
}

TEST(Lines, AByteOrderMarkIsNoPartOfTheFirstWord) {
  EXPECT_EQ(TextsOf(LinesBuilder("\xEF\xBB\xBFx\nx x").Open()),
            (std::vector<Ids>{{2, 0, 0, 0}, {2, 2, 0, 0}}));
}

TEST(Lines, BytesStayAsTheyAre) {
  EXPECT_EQ(TextsOf(LinesBuilder("\xC3\xA9 \n \n").Tokens("bytes").Open()),
            (std::vector<Ids>{{0xC3, 0xA9, ' ', 0}, {' ', 0, 0, 0}}));
  LinesBuilder padded("ab");
  padded.Tokens("bytes").Set("pad", "256");
  EXPECT_EQ(TextsOf(padded.Open()), (std::vector<Ids>{{'a', 'b', 256, 256}}));
}

TEST(Lines, IdsAreIntegers) {
  LinesBuilder data("7 -3\n2147483647\n");
  data.Tokens("ids").Set("pad", "-1");
  EXPECT_EQ(TextsOf(data.Open()), (std::vector<Ids>{{7, -3, -1, -1}, {2147483647, -1, -1, -1}}));
}

TEST(Lines, LabelsStandFirstOrLast) {
  const Opened first = LinesBuilder("ham\tgo on\nspam\tgo\tgo\n").Labelled().Open();
  EXPECT_EQ(TextsOf(first), (std::vector<Ids>{{2, 3, 0, 0}, {2, 2, 0, 0}}));
  EXPECT_EQ(first.dataset->fields()[1], (DataField{"label", DType::kI32, {}}));
  EXPECT_EQ(ReadField<int32_t>(*first.dataset, 1, 1), Ids{1});
  const std::span<const std::string> names = first.dataset->ClassNames(1);
  EXPECT_EQ(std::vector<std::string>(names.begin(), names.end()),
            (std::vector<std::string>{"ham", "spam"}));
  EXPECT_TRUE(first.dataset->ClassNames(0).empty());

  const Opened last = LinesBuilder("go\tgo\t7\ngo\t-1\n").Labelled("last").Open();
  EXPECT_EQ(TextsOf(last), (std::vector<Ids>{{2, 2, 0, 0}, {2, 0, 0, 0}}));
  EXPECT_EQ(ReadField<int32_t>(*last.dataset, 0, 1), Ids{7});
  EXPECT_EQ(ReadField<int32_t>(*last.dataset, 1, 1), Ids{-1});
}

TEST(Lines, AFirstLineMayNameTheColumns) {
  const std::string warning =
      "DIR/lines.txt:1:1: warning: the first line is taken for the names of the columns, and is no "
      "sample: no other label is ";
  LinesBuilder lines("sentiment\ttext\ngood\ta b\nbad\ta\n");
  const Opened words = lines.Labelled().Open();
  ASSERT_NE(words.dataset, nullptr) << words.errors;
  EXPECT_NE(words.errors.find(warning + "'sentiment'"), std::string::npos) << words.errors;
  EXPECT_EQ(words.dataset->size(), 2);
  EXPECT_EQ(words.dataset->PlaceOf(1, 1, std::nullopt).mark.line, 3);
  const Opened integers = LinesBuilder("review\tstars\na\t1\nb\t0\n").Labelled("last").Open();
  ASSERT_NE(integers.dataset, nullptr) << integers.errors;
  EXPECT_EQ(integers.dataset->size(), 2);
  for (const char* text : {"label\ta\nlabel\tb\nother\ta\n", "a\tx\nb\ty\n", "topic\ta\n"}) {
    const Opened none = LinesBuilder(text).Labelled().Open();
    EXPECT_EQ(none.errors, "") << text;
    EXPECT_EQ(none.dataset->size(), std::ranges::count(std::string_view(text), '\n')) << text;
  }
}

TEST(Lines, ALabelMayStandWithoutText) {
  const Opened opened = LinesBuilder("1\t\n2\tx\n").Labelled().Open();
  EXPECT_EQ(TextsOf(opened), (std::vector<Ids>{{0, 0, 0, 0}, {2, 0, 0, 0}}));
}

TEST(Lines, ClassesMayBeListed) {
  LinesBuilder data("b\tx\na\ty\n");
  data.Labelled().Set("classes", "[b, a, c]");
  const Opened opened = data.Open();
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(ReadField<int32_t>(*opened.dataset, 0, 1), Ids{0});
  EXPECT_EQ(opened.dataset->ClassNames(1).size(), 3u);
}

TEST(Lines, NextIsTheTokenBehind) {
  LinesBuilder data("a b a c\na\n");
  data.Input("next", DType::kI64, {4});
  const Opened opened = data.Open();
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(opened.dataset->fields()[1], (DataField{"next", DType::kI64, {4}}));
  EXPECT_EQ(ReadField<int32_t>(*opened.dataset, 0, 0), (Ids{2, 3, 2, 4}));
  EXPECT_EQ(ReadField<int64_t>(*opened.dataset, 0, 1), (std::vector<int64_t>{3, 2, 4, -1}));
  EXPECT_EQ(ReadField<int64_t>(*opened.dataset, 1, 1), (std::vector<int64_t>{-1, -1, -1, -1}));
}

TEST(Lines, AnInputCalledLengthTakesTheNumberOfTokens) {
  LinesBuilder data("1\ta b c\n0\t\n");
  data.Labelled().Input("length", DType::kI32, {});
  const Opened opened = data.Open();
  ASSERT_EQ(opened.errors, "");
  ASSERT_EQ(opened.dataset->fields().size(), 3u);
  EXPECT_EQ(ReadField<int32_t>(*opened.dataset, 0, 2), Ids{3});
  EXPECT_EQ(ReadField<int32_t>(*opened.dataset, 1, 2), Ids{0});
  LinesBuilder alone("a b");
  alone.Input("length", DType::kI64, {});
  const Opened two = alone.Open();
  ASSERT_EQ(two.errors, "");
  ASSERT_EQ(two.dataset->fields().size(), 2u);
  EXPECT_EQ(ReadField<int64_t>(*two.dataset, 0, 1), std::vector<int64_t>{2});
}

TEST(Lines, TextsTakeTheTypeOfTheirInput) {
  for (DType dtype : {DType::kU8, DType::kI64}) {
    DatasetBuilder data("lines");
    data.File("t", "ab").Set("file", "t").Set("length", "3").Set("tokens", "bytes");
    const Opened opened = data.Input("letters", dtype, {3}).Open();
    ASSERT_EQ(opened.errors, "");
    EXPECT_EQ(opened.dataset->fields(), (std::vector<DataField>{{"text", dtype, {3}}}));
    const std::string sample = ReadSample(*opened.dataset, 0)[0];
    EXPECT_EQ(sample, dtype == DType::kU8 ? std::string("ab\0", 3)
                                          : std::string("a\0\0\0\0\0\0\0b\0\0\0\0\0\0\0\0\0\0\0\0"
                                                        "\0\0\0",
                                                        24));
  }
}

TEST(Lines, LongLinesAreRefusedOrCut) {
  const std::string text = "a b\na b c d e f\na b c d e\n";
  const std::string errors = LinesBuilder(text).Open().errors;
  ExpectError(errors, "lines.txt:2:9", "this line has 6 words, but `length` is 4",
              "2 lines are too long, the longest has 6; `truncate: true`");
  EXPECT_TRUE(Has(errors, "    a b c d e f\n            ^\n")) << errors;
  EXPECT_FALSE(Has(errors, "lines.txt:3")) << errors;
  LinesBuilder cut(text);
  cut.Set("truncate", "true");
  EXPECT_EQ(TextsOf(cut.Open()), (std::vector<Ids>{{2, 3, 0, 0}, {2, 3, 4, 5}, {2, 3, 4, 5}}));
  ExpectError(LinesBuilder("\xC3\xA9t\xC3\xA9", 3).Tokens("bytes").Open().errors, "lines.txt:1:3",
              "this line has 5 bytes", "it is the only such line");
}

TEST(Lines, OtherSetsShareTheVocabularyAndTheClasses) {
  const Opened train = LinesBuilder("x\ta a b\ny\tb a\n").Labelled().Open();
  ASSERT_EQ(train.errors, "");
  LinesBuilder test("y\tb new a\ny\tb\n");
  const Opened opened = test.Labelled().Train(*train.dataset).Open();
  EXPECT_EQ(TextsOf(opened), (std::vector<Ids>{{3, 1, 2, 0}, {3, 0, 0, 0}}));
  EXPECT_EQ(ReadField<int32_t>(*opened.dataset, 0, 1), Ids{1});
  EXPECT_LT(opened.dataset->decoded_bytes(), train.dataset->decoded_bytes())
      << "the vocabulary counts once";
  LinesBuilder other("z\ta\n");
  ExpectError(other.Labelled().Train(*train.dataset).Open().errors, "lines.txt:1:1",
              "the label 'z' is none of the classes of the training data");
  LinesBuilder integer("0\ta\n");
  ExpectError(integer.Labelled().Train(*train.dataset).Open().errors, "lines.txt:1:1",
              "the label '0' is none of the classes");
}

TEST(Lines, TheVocabularyOfTheWeightsComesFirst) {
  const Opened train = LinesBuilder("b b a\n").Open();
  ASSERT_EQ(train.errors, "");
  const DataFindings kept = train.dataset->Findings();
  EXPECT_EQ(kept.names.at("vocabulary"), (std::vector<std::string>{"b", "a"}));
  LinesBuilder later("a a c b\n");
  EXPECT_EQ(TextsOf(later.Kept(kept).Open()), (std::vector<Ids>{{3, 3, 1, 2}}));
  later.File("words", "b\na\n").Set("vocabulary", "words");
  EXPECT_EQ(TextsOf(later.Open()), (std::vector<Ids>{{3, 3, 1, 2}}));
  later.File("words", "b\nc\na\n");
  EXPECT_EQ(later.Open().errors,
            "error: this vocabulary is not that of the weights: the word of id 3 is 'c' here and "
            "'a' there\nhelp: leave `vocabulary` out: the weights keep theirs\n");
  later.File("words", "b\na\nc\n");
  EXPECT_TRUE(Has(later.Open().errors, "the word of id 4 is 'c' here and nothing there"));
}

TEST(Lines, LabelsThatNoInputTakesAreNotRead) {
  LinesBuilder data("x\ta b\n\tb\n");
  data.Set("label", "first");
  EXPECT_TRUE(Has(data.Open().errors, "this line has no label"));
  LinesBuilder alone("x\ta b\ny\tb\n");
  alone.Set("label", "first");
  const Opened opened = alone.Open();
  EXPECT_EQ(TextsOf(opened), (std::vector<Ids>{{3, 2, 0, 0}, {2, 0, 0, 0}}));
  EXPECT_EQ(opened.dataset->fields().size(), 1u);
}

TEST(Lines, WithoutAVocabularyInTheTrainingDataOneIsAskedFor) {
  const Opened train = LinesBuilder("ab").Tokens("bytes").Open();
  LinesBuilder test("a b");
  const std::string errors = test.Train(*train.dataset).Open().errors;
  EXPECT_TRUE(Has(errors, "'DIR/lines.txt' has no vocabulary: it is that of the training data"))
      << errors;
  test.File("words", "b\na\n").Set("vocabulary", "words");
  EXPECT_EQ(TextsOf(test.Open()), (std::vector<Ids>{{3, 2, 0, 0}}));
}

TEST(Lines, VocabulariesAreFiles) {
  LinesBuilder data("the cat sat\n");
  data.File("words",
            "\xEF\xBB\xBF"
            "cat\r\nthe\n")
      .Set("vocabulary", "words");
  EXPECT_EQ(TextsOf(data.Open()), (std::vector<Ids>{{3, 2, 1, 0}}));
  data.Set("entries", "3");
  EXPECT_EQ(TextsOf(data.Open()), (std::vector<Ids>{{1, 2, 1, 0}}));
}

TEST(Lines, VocabulariesHoldAWordALine) {
  const auto errors = [](std::string_view words) {
    LinesBuilder data("the cat\n");
    data.File("words", words).Set("vocabulary", "words");
    return data.Open().errors;
  };
  ExpectError(errors("a\nb 17\nc\n"), "words:2:1", "a blank in a line", "id 0 is padding");
  ExpectError(errors("a\nb\na\n"), "words:3:1", "this word stands in line 1 too");
  ExpectError(errors("a\n\nb\nc\n"), "words:3:1", "the line before this one is empty");
  ExpectError(errors("a\n \nb\n"), "words:2:1", "this line holds no word");
  EXPECT_TRUE(Has(errors(""), "'DIR/words' holds no words"));
  EXPECT_TRUE(Has(errors("\n\n"), "'DIR/words' holds no words"));
  LinesBuilder missing("a");
  missing.Set("vocabulary", "no");
  EXPECT_TRUE(Has(missing.Open().errors, "'DIR/no'"));
}

TEST(Lines, RareWordsBecomeUnknown) {
  LinesBuilder data("a b a\nc b a\n");
  data.Set("entries", "4");
  const Opened opened = data.Open();
  EXPECT_EQ(TextsOf(opened), (std::vector<Ids>{{2, 3, 2, 0}, {1, 3, 2, 0}}));
  EXPECT_EQ(RangeOf(*opened.dataset, 0)->largest.value, 3);
}

TEST(Lines, TheVocabularyIsThatOfWhatIsTrainedOn) {
  std::string text;
  for (int i = 0; i < 10; ++i) text += "w" + std::to_string(i) + "\n";
  LinesBuilder data(text);
  const Opened opened = data.Split(0.3, 5).Open();
  const std::vector<Ids> texts = TextsOf(opened);
  const SplitIndices split = SplitSamples(10, 0.3, 5);
  ASSERT_EQ(split.valid.size(), 3u);
  for (const int64_t i : split.valid) EXPECT_EQ(texts[static_cast<size_t>(i)][0], 1);
  for (const int64_t i : split.train) EXPECT_GT(texts[static_cast<size_t>(i)][0], 1);
}

TEST(Lines, TellsTheRangeOfItsIds) {
  LinesBuilder data("7 9\n5 4 6 8\n");
  data.Tokens("ids").Set("pad", "3").Input("next", DType::kI32, {4});
  const Opened opened = data.Open();
  ASSERT_EQ(opened.errors, "");
  const std::optional<FieldRange> text = RangeOf(*opened.dataset, 0);
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(text->smallest.value, 3) << "of what fills up";
  EXPECT_EQ(text->smallest.sample, 0);
  EXPECT_EQ(text->largest.value, 9);
  EXPECT_EQ(RangeOf(*opened.dataset, 1)->smallest.value, -1);
}

TEST(Lines, TokensAndLabelsAreKnownByTheirPlaces) {
  const auto place = [](const Opened& opened, size_t field, int64_t sample, int64_t value) {
    EXPECT_EQ(opened.errors, "");
    const SamplePlace place = opened.dataset->PlaceOf(field, sample, value);
    if (!place.in_file()) return std::string("none");
    return std::to_string(place.mark.line) + ":" + std::to_string(place.mark.column) + place.text;
  };
  LinesBuilder texts("ham\ta b\n\n  \nspam\tb \xC3\xA9 a\n");
  const Opened words = texts.Labelled().Open();
  EXPECT_EQ(place(words, 0, 1, 4), "4:8'\xC3\xA9'");
  EXPECT_EQ(place(words, 0, 1, 2), "4:10'a'");
  EXPECT_EQ(place(words, 0, 1, 0), "none") << "what fills up stands nowhere";
  EXPECT_EQ(place(words, 1, 1, 1), "4:1'spam'");
  EXPECT_EQ(words.dataset->PlaceOf(1, 0, std::nullopt).mark.line, 1);
  LinesBuilder numbers("7 8\n7 9 7\n");
  numbers.Tokens("ids").Input("next", DType::kI32, {4});
  const Opened ids = numbers.Open();
  EXPECT_EQ(place(ids, 0, 1, 9), "2:3");
  EXPECT_EQ(place(ids, 0, 1, 7), "2:1");
  EXPECT_EQ(place(ids, 1, 1, 7), "2:5") << "nothing comes before the first";
  LinesBuilder letters("\xC3\xA9t\n");
  const Opened bytes = letters.Tokens("bytes").Open();
  EXPECT_EQ(place(bytes, 0, 0, 't'), "1:2't'");
  EXPECT_EQ(place(bytes, 0, 0, 0xC3), "1:1");
}

TEST(Lines, ReadingAllocatesNothing) {
  LinesBuilder data("a b c\nd\n");
  data.Input("next", DType::kI32, {4}).Input("length", DType::kI32, {});
  const Opened opened = data.Open();
  ASSERT_EQ(opened.errors, "");
  std::array<std::byte, 16> text, next;
  std::array<std::byte, 4> length;
  const std::array<std::span<std::byte>, 3> fields = {text, next, length};
  const HeapUse before = CurrentHeapUse();
  for (int64_t i = 0; i < opened.dataset->size(); ++i) opened.dataset->Read(i, fields);
  EXPECT_EQ(CurrentHeapUse().allocations, before.allocations);
}

// Ids that are written as lines are read back, cut and filled up.
TEST(Lines, IdsAreReadBack) {
  const bool good = rc::check("ids of lines are read back", [] {
    const auto length = *rc::gen::inRange<int64_t>(1, 6);
    const auto lines = *rc::gen::nonEmpty(
        rc::gen::container<std::vector<Ids>>(rc::gen::nonEmpty(rc::gen::arbitrary<Ids>())));
    std::string text;
    for (const Ids& line : lines) {
      for (const int32_t id : line) text += std::to_string(id) + ' ';
      text += '\n';
    }
    LinesBuilder data(text, length);
    data.Tokens("ids").Set("truncate", "true").Set("pad", "42");
    data.Input("next", DType::kI32, {length});
    const Opened opened = data.Open();
    RC_ASSERT(opened.errors == "");
    RC_ASSERT(opened.dataset->size() == static_cast<int64_t>(lines.size()));
    for (size_t s = 0; s < lines.size(); ++s) {
      Ids expected = lines[s];
      if (std::ssize(expected) > length) expected.resize(static_cast<size_t>(length));
      Ids next(expected.begin() + 1, expected.end());
      expected.resize(static_cast<size_t>(length), 42);
      next.resize(static_cast<size_t>(length), -1);
      RC_ASSERT(ReadField<int32_t>(*opened.dataset, static_cast<int64_t>(s), 0) == expected);
      RC_ASSERT(ReadField<int32_t>(*opened.dataset, static_cast<int64_t>(s), 1) == next);
    }
  });
  EXPECT_TRUE(good);
}

}  // namespace
}  // namespace cgrun
