// Lines: what is refused, where the error stands, and what it says.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "src/data/dataset.h"
#include "tests/data/lines_testing.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

TEST(LinesErrors, ErrorsStandAtTheirPlaces) {
  ExpectError(LinesBuilder("1 2\n3 x7\n").Tokens("ids").Open().errors, "lines.txt:2:3",
              "'x7' is not an integer", "`tokens: words`");
  ExpectError(LinesBuilder("\xC3\xA9 1.5\n").Tokens("ids").Open().errors, "lines.txt:1:3",
              "'1.5' is not an integer");
  ExpectError(LinesBuilder("4294967296").Tokens("ids").Open().errors, "lines.txt:1:1",
              "'4294967296' is too large for an id");
  ExpectError(LinesBuilder("1\tx\ny\n").Labelled().Open().errors, "lines.txt:2:1",
              "this line has no tab", "with `label: first` a line is a label, a tab and the text");
  ExpectError(LinesBuilder("x\t \n").Labelled("last").Open().errors, "lines.txt:1:1",
              "this line has no label");
  ExpectError(LinesBuilder("1\tx\nham\ty\n").Labelled().Open().errors, "lines.txt:2:1",
              "this label is not an integer, but the one in line 1 is", "`classes: [a, b, c]`");
  ExpectError(LinesBuilder(std::string_view("a\0b", 3)).Open().errors, "lines.txt:1:2",
              "a NUL byte");
}

TEST(LinesErrors, WordsAndLabelsAreInUtf8) {
  ExpectError(LinesBuilder("a b\nc caf\xE9 d\nth\xE9\n").Open().errors, "lines.txt:2:6",
              "this line is not in UTF-8: its byte 0xE9 is no part of a character; and 1 more line "
              "is not\n",
              "`iconv -f latin1 -t utf-8 FILE > NEW`");
  LinesBuilder labels("\xE9\tx\n");
  ExpectError(labels.Tokens("bytes").Labelled().Open().errors, "lines.txt:1:1",
              "this line is not in UTF-8");
  EXPECT_EQ(TextsOf(LinesBuilder("\xE9").Tokens("bytes").Open()),
            (std::vector<Ids>{{0xE9, 0, 0, 0}}));
  LinesBuilder vocabulary("a");
  vocabulary.File("words", "a\n\xE9t\xE9\n").Set("vocabulary", "words");
  ExpectError(vocabulary.Open().errors, "words:2:1", "this word is not in UTF-8",
              "iconv -f latin1");
}

TEST(LinesErrors, ErrorsEnd) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "x\n";
  const std::string errors = LinesBuilder(text).Tokens("ids").Open().errors;
  EXPECT_TRUE(Has(errors, "lines.txt:20:1")) << errors;
  EXPECT_FALSE(Has(errors, "lines.txt:21:1")) << errors;
  EXPECT_TRUE(errors.ends_with("lines.txt: error: further errors of this file are not shown\n"))
      << errors;
}

TEST(LinesErrors, RefusesWhatHoldsNoSample) {
  EXPECT_TRUE(Has(LinesBuilder("").Open().errors, "'DIR/lines.txt' is empty"));
  EXPECT_TRUE(Has(LinesBuilder(Gzip("")).Open().errors, "'DIR/lines.txt' is empty"));
  EXPECT_TRUE(Has(LinesBuilder("\n \n").Open().errors, "'DIR/lines.txt' has no tokens"));
  EXPECT_TRUE(Has(LinesBuilder("\xFF\xFEx").Open().errors, "is in UTF-16"));
}

TEST(LinesErrors, RefusesWrongOptions) {
  const auto errors = [](const std::string& name, const std::string& value,
                         const std::string& kind = "words") {
    LinesBuilder data("1");
    data.Tokens(kind).Set(name, value);
    return data.Open().errors;
  };
  EXPECT_TRUE(Has(errors("length", "0"), "option 'length' is '0', but must be an integer from 1"));
  EXPECT_TRUE(Has(errors("tokens", "letters"), "option 'tokens' cannot be 'letters'"));
  EXPECT_TRUE(Has(errors("label", "true"), "option 'label' cannot be 'true'"));
  EXPECT_TRUE(Has(errors("truncate", "4"), "option 'truncate' cannot be '4'"));
  EXPECT_TRUE(Has(errors("pad", "1"), "words are filled up with the id 0"));
  EXPECT_TRUE(Has(errors("pad", "x", "ids"), "option 'pad' is 'x'"));
  EXPECT_TRUE(Has(errors("entries", "1"), "option 'entries' is '1'"));
  EXPECT_TRUE(Has(errors("entries", "9", "ids"), "bytes and ids have no vocabulary to cut"));
  EXPECT_TRUE(Has(errors("vocabulary", "x", "bytes"), "bytes and ids have no vocabulary"));
  EXPECT_TRUE(Has(errors("classes", "[a]"), "there are classes, but no 'label'"));
  EXPECT_TRUE(Has(errors("seq_len", "4"), "write 'length'"));
}

TEST(LinesErrors, IdsFitTheInput) {
  const auto errors = [](std::string_view text, const std::string& kind, const std::string& pad) {
    DatasetBuilder data("lines");
    data.File("t", text).Set("file", "t").Set("length", "2").Set("tokens", kind);
    if (!pad.empty()) data.Set("pad", pad);
    return data.Input("text", DType::kU8, {2}).Open().errors;
  };
  EXPECT_EQ(errors("0 255", "ids", ""), "");
  ExpectError(errors("1\n2 256", "ids", ""), "t:2:3", "the id 256 does not fit uint8");
  ExpectError(errors("-1", "ids", ""), "t:1:1", "the id -1 does not fit uint8");
  EXPECT_TRUE(Has(errors("a", "bytes", "256"), "the id 256 does not fit uint8"));
  std::string words;
  for (int i = 0; i < 254; ++i) words += "w" + std::to_string(i) + "\n";
  EXPECT_EQ(errors(words, "words", ""), "");
  EXPECT_TRUE(Has(errors(words + "x", "words", ""), "the id 256 does not fit uint8"));
}

TEST(LinesErrors, KeepTheMemoryLimit) {
  EXPECT_TRUE(Has(LinesBuilder(std::string(100, 'a')).Limit(99).Open().errors,
                  "has 100 bytes, more than the 99 bytes"));
  const std::string bomb = Gzip(std::string(8 << 20, 'a'));
  EXPECT_TRUE(Has(LinesBuilder(bomb).Limit(1 << 20).Open().errors,
                  "inflates to more than the 1.0 MiB that are left\n"
                  "help: raise the memory limit, or use a file of fewer lines"));
  EXPECT_TRUE(Has(LinesBuilder(std::string(2 << 20, 'x')).Limit(1 << 20).Open().errors,
                  "has 2.0 MiB, more than the 1.0 MiB that are left\n"));
  std::string ids, words;
  for (int i = 0; i < 1000; ++i) {
    ids += "1 2 3 4\n";
    words += "w" + std::to_string(i) + "\n";
  }
  LinesBuilder of_ids(ids);
  of_ids.Tokens("ids").Limit(31'999);  // 8 of text, 16 of ids and 8 of ends a line
  EXPECT_TRUE(Has(of_ids.Open().errors,
                  ": its 4000 ids in 1000 samples take 24000 bytes, more than the "
                  "23999 bytes that are left"))
      << of_ids.Open().errors;
  const Opened opened = static_cast<LinesBuilder&>(of_ids.Limit(32'000)).Open();
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(opened.dataset->decoded_bytes(), 24'000);
  EXPECT_TRUE(Has(LinesBuilder(words).Limit(20'000).Open().errors, "different words take more"));
  LinesBuilder vocabulary("a");
  vocabulary.File("words", words).Set("vocabulary", "words").Limit(20'000);
  EXPECT_TRUE(Has(vocabulary.Open().errors, "its words take more"));
}

TEST(LinesErrors, RefusesDamagedFiles) {
  const std::string whole = Gzip("1 2 3\n4 5 6\n7 8 9 10\n");
  for (size_t length : {size_t{5}, whole.size() / 2, whole.size() - 1}) {
    const Opened opened = LinesBuilder(whole.substr(0, length)).Open();
    EXPECT_EQ(opened.dataset, nullptr) << length;
    EXPECT_TRUE(Has(opened.errors, "'DIR/lines.txt'")) << opened.errors;
  }
}

}  // namespace
}  // namespace cgrun
