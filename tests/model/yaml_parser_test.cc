// Parse(): marks, what is refused, and what YAML allows beyond plain maps and lists.
#include <gtest/gtest.h>

#include <string>

#include "src/model/tree.h"
#include "tests/model/model_testing.h"

namespace cgrun {
namespace {

TreeNode MustParse(const std::string& text) {
  std::string errors;
  auto tree = ParseText(text, &errors);
  EXPECT_EQ(errors, "");
  return tree.value_or(TreeNode());
}

std::string Where(const SourceMark& mark) {
  return std::to_string(mark.line) + ":" + std::to_string(mark.column) + "+" +
         std::to_string(mark.length);
}

TEST(YamlParserTest, KeepsKindsOrderAndQuotes) {
  const TreeNode tree = MustParse("b: 1\na: [x, 'y', \"z\"]\nc:\nd: {e: ~}\nf: |\n  text\n");
  ASSERT_TRUE(tree.IsMap());
  ASSERT_EQ(tree.entries.size(), 5u);
  EXPECT_EQ(tree.entries[0].key, "b");
  EXPECT_EQ(tree.entries[0].value.scalar, "1");
  EXPECT_FALSE(tree.entries[0].value.quoted);
  const TreeNode& list = tree.entries[1].value;
  ASSERT_EQ(list.items.size(), 3u);
  EXPECT_FALSE(list.items[0].quoted);
  EXPECT_TRUE(list.items[1].quoted);
  EXPECT_TRUE(list.items[2].quoted);
  EXPECT_TRUE(tree.Find("c")->value.IsNull());
  EXPECT_TRUE(tree.Find("d")->value.Find("e")->value.IsNull());
  EXPECT_EQ(tree.Find("f")->value.scalar, "text\n");
  EXPECT_EQ(tree.Find("g"), nullptr);
}

TEST(YamlParserTest, TreesAreShownInOneLine) {
  const TreeNode text = TreeNode::Scalar("it's", {}, /*quoted=*/true);
  const TreeNode list = TreeNode::Sequence({text, TreeNode(), TreeNode::Scalar("2", {})}, {});
  EXPECT_EQ(FlowText(list), "['it''s', null, 2]");
  EXPECT_EQ(FlowText(TreeNode::Map({{"a", {}, list}, {"b", {}, TreeNode()}}, {})),
            "{a: ['it''s', null, 2], b:}");
}

TEST(YamlParserTest, MarksCountCharactersFromOne) {
  const TreeNode tree =
      MustParse("é: {ab: \"ü ü\", c: &n hey}\nlist:\n  - item\n  - # nothing\n  - ~\nd:\n");
  EXPECT_EQ(Where(tree.mark), "1:1+1");
  EXPECT_EQ(Where(tree.entries[0].key_mark), "1:1+1");
  const TreeNode& map = tree.entries[0].value;
  EXPECT_EQ(Where(map.mark), "1:4+1");
  EXPECT_EQ(Where(map.Find("ab")->key_mark), "1:5+2");
  EXPECT_EQ(Where(map.Find("ab")->value.mark), "1:9+5");
  EXPECT_EQ(Where(map.Find("c")->value.mark), "1:22+3");  // behind the anchor
  const TreeNode& list = tree.Find("list")->value;
  EXPECT_EQ(Where(list.items[0].mark), "3:5+4");
  EXPECT_EQ(Where(list.items[1].mark), "4:3+1");  // its "-"
  EXPECT_EQ(Where(list.items[2].mark), "5:5+1");
  EXPECT_EQ(Where(tree.Find("d")->value.mark), "6:1+1");  // its key
}

TEST(YamlParserTest, LineEndsAndByteOrderMarkDoNotMoveMarks) {
  const TreeNode plain = MustParse("a: 1\nb:\n  - x\n");
  for (const std::string text : {"a: 1\r\nb:\r\n  - x\r\n", "a: 1\rb:\r  - x\r",
                                 "\xEF\xBB\xBF"
                                 "a: 1\nb:\n  - x\n"}) {
    const TreeNode tree = MustParse(text);
    EXPECT_EQ(tree, plain);
    EXPECT_EQ(Where(tree.Find("b")->key_mark), "2:1+1");
    EXPECT_EQ(Where(tree.Find("b")->value.items[0].mark), "3:5+1");
  }
}

TEST(YamlParserTest, AllDuplicateKeysAreReported) {
  EXPECT_EQ(TreeErrors("a: 1\nb: {c: 1, d: 2, c: 3}\na: 2\n"),
            "model.yaml:2:17: error: duplicate key 'c'\n"
            "    b: {c: 1, d: 2, c: 3}\n"
            "                    ^\n"
            "help: the first is in line 2\n"
            "model.yaml:3:1: error: duplicate key 'a'\n"
            "    a: 2\n"
            "    ^\n"
            "help: the first is in line 1\n");
  EXPECT_NE(TreeErrors("a: 1\n'a': 2\n"), "");
  EXPECT_EQ(TreeErrors("x: {a: 1}\ny: {a: 1}\n"), "");
}

TEST(YamlParserTest, DepthIsLimited) {
  const auto nested = [](int depth) {
    return std::string(static_cast<size_t>(depth), '[') +
           std::string(static_cast<size_t>(depth), ']');
  };
  EXPECT_EQ(TreeErrors(nested(kMaxTreeDepth)), "");
  EXPECT_NE(TreeErrors(nested(kMaxTreeDepth + 1)).find("nested deeper than 64"), std::string::npos);
  EXPECT_NE(TreeErrors(std::string(1'000'000, '[')), "");
  EXPECT_NE(TreeErrors(std::string(1'000'000, '{')), "");
  std::string dashes;
  for (int i = 0; i < 100'000; ++i) dashes += "- ";
  EXPECT_NE(TreeErrors(dashes).find("nested deeper"), std::string::npos);
}

TEST(YamlParserTest, AliasesAreExpanded) {
  const TreeNode tree = MustParse("a: &a {x: [1, 2]}\nb: *a\nc: [*a]\n");
  EXPECT_EQ(tree.Find("b")->value, tree.Find("a")->value);
  EXPECT_EQ(tree.Find("c")->value.items[0], tree.Find("a")->value);
  EXPECT_EQ(Where(tree.Find("b")->value.mark), "2:4+2");
  EXPECT_EQ(Where(tree.Find("b")->value.Find("x")->key_mark), "1:8+1");
}

TEST(YamlParserTest, AliasBombsAreRefused) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    const std::string name = "a" + std::to_string(i);
    bomb += name + ": &" + name + " [";
    for (int j = 0; j < 10; ++j) bomb += (j ? ", " : "") + alias;
    bomb += "]\n";
  }
  EXPECT_NE(TreeErrors(bomb).find("more than 200000 values"), std::string::npos);
  std::string deep = "a0: &a0 [x]\n";
  for (int i = 1; i < 200; ++i) {
    const std::string name = "a" + std::to_string(i);
    deep += name + ": &" + name + " [*a" + std::to_string(i - 1) + "]\n";
  }
  EXPECT_NE(TreeErrors(deep).find("nested deeper than 64"), std::string::npos);
}

TEST(YamlParserTest, BadAliasesAreErrors) {
  EXPECT_NE(TreeErrors("a: &a [*a]\n").find("inside of what it stands for"), std::string::npos);
  EXPECT_NE(TreeErrors("a: *b\n").find("anchor of this alias is not defined"), std::string::npos);
  EXPECT_NE(TreeErrors("a: &a x\n*a : 1\n").find("not an alias"), std::string::npos);
}

TEST(YamlParserTest, MergeKeysAddWhatIsNotThere) {
  const TreeNode tree = MustParse(
      "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: *a, y: 5}\nd: {<<: [*b, *a], w: 6}\n");
  EXPECT_EQ(tree.Find("c")->value, MustParse("{y: 5, x: 1}"));
  EXPECT_EQ(tree.Find("d")->value, MustParse("{w: 6, y: 3, z: 4, x: 1}"));
  EXPECT_NE(TreeErrors("a: {<<: 3}").find("`<<` merges maps"), std::string::npos);
  EXPECT_NE(TreeErrors("a: {<<: {x: 1}, <<: {y: 1}}").find("duplicate key '<<'"),
            std::string::npos);
  EXPECT_EQ(MustParse("{'<<': 1}").entries[0].key, "<<");
}

TEST(YamlParserTest, TagsAreRefusedButForTexts) {
  EXPECT_TRUE(MustParse("a: !!str 3").Find("a")->value.quoted);
  for (const std::string text : {"a: !!int 3", "a: !!python/object:os.system x", "a: !foo [1]",
                                 "a: !foo {b: 1}", "a: !<x> y", "!!binary a: b"}) {
    EXPECT_NE(TreeErrors(text).find("means nothing in a model file"), std::string::npos) << text;
  }
}

TEST(YamlParserTest, OneDocumentOnly) {
  EXPECT_EQ(TreeErrors("%YAML 1.2\n---\na: 1\n...\n"), "");
  EXPECT_NE(TreeErrors("a: 1\n---\nb: 2\n").find("the document has ended"), std::string::npos);
  EXPECT_EQ(TreeErrors(""), "model.yaml: error: the file is empty\n");
  EXPECT_EQ(TreeErrors("# nothing\n"), "model.yaml: error: the file is empty\n");
}

TEST(YamlParserTest, OtherEncodingsAreRefused) {
  EXPECT_EQ(TreeErrors("a: 1\nb: x\xFFy\n"),
            "model.yaml:2:5: error: a byte that is not UTF-8\n    b: x?y\n        ^\n"
            "help: save the file as UTF-8\n");
  EXPECT_NE(TreeErrors(std::string("\xFF\xFE"
                                   "a\0",
                                   4))
                .find("UTF-16"),
            std::string::npos);
  EXPECT_NE(TreeErrors(std::string("a: \0", 4)).find("control character"), std::string::npos);
  EXPECT_NE(TreeErrors("a: \x1b[31m").find("control character"), std::string::npos);
  EXPECT_NE(TreeErrors("a: \"\\0\"").find("control character in a text"), std::string::npos);
  for (const std::string bad : {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
    EXPECT_NE(TreeErrors("a: " + bad).find("not UTF-8"), std::string::npos);
  }
  EXPECT_EQ(MustParse("a: \xF0\x9F\x98\x80").Find("a")->value.scalar, "\xF0\x9F\x98\x80");
}

TEST(YamlParserTest, TabsMustNotIndent) {
  EXPECT_NE(TreeErrors("a:\n\tb: 1\n").find("a tab in the indentation"), std::string::npos);
  EXPECT_NE(TreeErrors("a:\n  \tb: 1\n").find("a tab in the indentation"), std::string::npos);
  EXPECT_EQ(TreeErrors("a:\t1 \t# x\n\t\n\t# comment\nb: 2\n"), "");
}

TEST(YamlParserTest, LargeFilesAreRefused) {
  EXPECT_NE(TreeErrors("# " + std::string(kMaxFileBytes, 'x')).find("at most 4 MiB"),
            std::string::npos);
  std::string many = "[";
  for (int i = 0; i < kMaxTreeNodes; ++i) many += "x, ";
  EXPECT_NE(TreeErrors(many + "x]").find("more than 200000 values"), std::string::npos);
}

TEST(YamlParserTest, SyntaxErrorsSayWhereAndWhatToDo) {
  EXPECT_EQ(TreeErrors("a: b: c\n"),
            "model.yaml:1:5: error: this is not YAML: a second ':' is not expected in a line\n"
            "    a: b: c\n"
            "        ^\n"
            "help: write `a: {b: c}`, or the second key in a line of its own, indented deeper; "
            "a text is put in quotes\n");
  EXPECT_EQ(TreeErrors("a: 1\nops: [1, 2\nb: 3\n"),
            "model.yaml:2:6: error: this is not YAML: this '[' is not closed\n"
            "    ops: [1, 2\n"
            "         ^\n"
            "help: a ']' is missing at the end of line 2\n");
  EXPECT_EQ(TreeErrors("ops:\n  - {op: conv\n  - x\n"),
            "model.yaml:2:5: error: this is not YAML: this '{' is not closed\n"
            "      - {op: conv\n"
            "        ^\n"
            "help: a '}' is missing at the end of line 2\n");
  EXPECT_NE(TreeErrors("a: \"x\nb: 1\n").find("never closed"), std::string::npos);
  EXPECT_NE(TreeErrors("a: [1, , 2]").find("nothing stands before this comma"), std::string::npos);
  EXPECT_NE(TreeErrors("a: @x").find("a value cannot begin with this"), std::string::npos);
  EXPECT_NE(TreeErrors("? [1, 2]\n: 3\n").find("a key must be a name"), std::string::npos);
  EXPECT_NE(TreeErrors("~: 3\n").find("a key must be a name"), std::string::npos);
}

TEST(YamlParserTest, KeysMayHaveSeveralWords) {
  EXPECT_EQ(TreeErrors("my path:\nb: 1\n"), "");
  EXPECT_EQ(TreeErrors("a: {my path : , b: 1}\n"), "");
  EXPECT_NE(TreeErrors("a: {epochs 4, b: 1}\n").find("a ':' is missing behind 'epochs'"),
            std::string::npos);
}

TEST(YamlParserTest, PlaceholdersStandUnquotedInFlowStyle) {
  const TreeNode tree =
      MustParse("- {n: ${a}, m: ${4*(a+b)}, s: [${a % 2}, \"${a}\"], t: x${a}y}\n");
  const TreeNode& map = tree.items[0];
  EXPECT_EQ(map.Find("n")->value.scalar, "${a}");
  EXPECT_EQ(Where(map.Find("n")->value.mark), "1:7+4");
  EXPECT_EQ(map.Find("m")->value.scalar, "${4*(a+b)}");
  EXPECT_EQ(map.Find("s")->value.items[0].scalar, "${a % 2}");
  EXPECT_EQ(map.Find("s")->value.items[1].scalar, "${a}");
  EXPECT_EQ(map.Find("t")->value.scalar, "x${a}y");
  const TreeNode names = MustParse("{in: [a.b[1].c, x], y: c[0], z: [1], w: [[2]]}\n");
  EXPECT_EQ(names.Find("in")->value.items[0].scalar, "a.b[1].c");
  EXPECT_EQ(names.Find("y")->value.scalar, "c[0]");
  EXPECT_EQ(names.Find("w")->value.items[0].items[0].scalar, "2");
  EXPECT_EQ(MustParse("{\"\": ~, \"x${\": \"\"}").entries[1].key, "x${");
  EXPECT_EQ(MustParse("x: $\ny: {a: 1}\n").Find("y")->value.Find("a")->value.scalar, "1");
}

int CountErrors(std::string_view text) {
  int count = 0;
  for (size_t at = 0; (at = text.find("error: ", at)) != text.npos; ++at) ++count;
  return count;
}

TEST(YamlParserTest, ACommaEndsAValue) {
  EXPECT_EQ(TreeErrors("{a: 0,5, b: 1}\n"),
            "model.yaml:1:5: error: a comma ends a value: 'a' is 0 here, and '5' a key\n"
            "    {a: 0,5, b: 1}\n"
            "        ^~~\n"
            "help: write `a: 0.5`, with a point\n");
  EXPECT_NE(
      TreeErrors("x: {steps: 1,000}\n").find("`steps: 1000`, or `steps: 1.000` for a fraction"),
      std::string::npos);
  EXPECT_EQ(TreeErrors("{ä: 1,234,567, b: 1}\n"),
            "model.yaml:1:5: error: a comma ends a value: 'ä' is 1 here, and '234' a key\n"
            "    {ä: 1,234,567, b: 1}\n"
            "        ^~~~~~~~~\n"
            "help: write `ä: 1234567`\n");
  EXPECT_NE(TreeErrors("{a: 1,234,567,890}").find("help: write `a: 1234567890`\n"),
            std::string::npos);
  EXPECT_EQ(TreeErrors("{a: 1,234,567,8, b: 1}\n"),
            "model.yaml:1:5: error: a comma ends a value: 'a' is 1 here, and '234' a key\n"
            "    {a: 1,234,567,8, b: 1}\n"
            "        ^~~~~~~~~~~\n"
            "help: write the number without commas\n");
  for (const char* number : {"1,234,56", "1,000,00", "1,5,6", "3,32,32", "0,5,00"}) {
    const std::string errors = TreeErrors("x: {a: " + std::string(number) + "}\n");
    EXPECT_EQ(CountErrors(errors), 1) << errors;
    EXPECT_NE(errors.find(" number without commas"), std::string::npos) << errors;
  }
  EXPECT_NE(TreeErrors("{shape: 3,32,32}").find("or a list: `shape: [3, 32, 32]`"),
            std::string::npos);
  EXPECT_EQ(CountErrors(TreeErrors("{a: 1,5, b: 2,5,\n c: 1,234,567\n}\n")), 3);
  EXPECT_EQ(CountErrors(TreeErrors("{a: 1,234,5: x}")), 1) << "a key with its value";
  EXPECT_EQ(CountErrors(TreeErrors("{a: 1,2,3,b}")), 1);
  EXPECT_EQ(TreeErrors("{a: 1, 4, 4, b: 1}\n"),
            "model.yaml:1:5: error: a comma ends a value: 'a' is 1 here, and '4' a key\n"
            "    {a: 1, 4, 4, b: 1}\n"
            "        ^~~~~~~\n"
            "help: write `a: [1, 4, 4]`\n");
  EXPECT_NE(TreeErrors("{a: \u22123,5}").find("`a: -3.5`, with a point: '\u2212' is U+2212"),
            std::string::npos);
  EXPECT_NE(TreeErrors("{a: (3,48,48)}").find("write `a: [3, 48, 48]`"), std::string::npos);
  for (const char* text : {"{a: 1, 5: }", "{a: 1, b}", "{a: 1,b}", "{a: x,5}", "{a: 1,5: 2}",
                           "{a: '1',5}", "{a: 0.5,5}", "[1,5]"}) {
    EXPECT_EQ(TreeErrors(text), "") << text;
  }
}

// The parser notices an indentation that is wrong a line late, or within the line.
TEST(YamlIndentation, IsReportedWhereItIsWrong) {
  const std::string dash = "this is not YAML: a space is missing behind this '-'";
  for (const char* next : {"      - b: relu\n", "    loss: x\n", "\n\n      - b: relu\n"}) {
    const std::string errors =
        TreeErrors(std::string("p:\n    ops:\n      - a: relu\n      -flatten\n") + next);
    EXPECT_TRUE(errors.starts_with("model.yaml:4:7: error: " + dash)) << errors;
  }
  for (const char* key : {"    batch: 4\n", "    optimizer:\n      op: sgd\n"}) {
    const std::string errors = TreeErrors(std::string("train:\n  epochs: 3\n") + key);
    EXPECT_TRUE(
        errors.starts_with("model.yaml:3:5: error: this is not YAML: this key is indented "
                           "deeper than the one before it"))
        << errors;
  }
}

TEST(YamlIndentation, ADashInAnotherColumnIsNamed) {
  const std::string message = "this is not YAML: this '-' does not stand below the '-' before it\n";
  const std::string items = "p:\n  ops:\n      - a: {op: relu}\n      # one more\n";
  const std::pair<const char*, const char*> cases[] = {
      {"     - b: relu\n", "5:6"}, {"    - b: relu\n", "5:5"}, {"       - b: relu\n", "5:8"}};
  for (const auto& [item, place] : cases) {
    const std::string errors = TreeErrors(items + item);
    EXPECT_TRUE(errors.starts_with(std::string("model.yaml:") + place + ": error: " + message))
        << item << errors;
    EXPECT_NE(errors.find("that in line 3 in column 7, and this one in column "), errors.npos)
        << errors;
  }
}

TEST(YamlParserTest, NothingStandsBehindABracket) {
  EXPECT_EQ(TreeErrors("ops:\n  - a: {op: relu}, {op: softmax}\n"),
            "model.yaml:2:18: error: this is not YAML: nothing can stand behind this '}', which "
            "ends the value\n"
            "      - a: {op: relu}, {op: softmax}\n"
            "                     ^\n"
            "help: an item of a list stands in a line of its own: `- {op: softmax}`\n");
  const std::string list = TreeErrors("ops:\n  - [1, 2], [3]\n  - 4\n");
  EXPECT_NE(list.find("2:11: error: this is not YAML: nothing can stand behind this ']'"),
            list.npos)
      << list;
  EXPECT_NE(list.find("within the brackets, or in a line of its own\n"), list.npos) << list;
}

// A text that goes on below, or a key without a value.
TEST(YamlParserTest, AnEqualsSignIsNoColon) {
  const std::string message = "error: a ':' and no '=' stands behind 'batch'\n";
  const std::string inner = "error: this is not YAML: a ':' and no '=' stands behind 'batch'\n";
  const std::string between = TreeErrors("train:\n  epochs: 2\n  batch=32\n  lr: 1\n");
  EXPECT_TRUE(between.starts_with("model.yaml:3:3: " + inner)) << between;
  EXPECT_NE(between.find("help: write `batch: 32`"), between.npos) << between;
  const std::string first = TreeErrors("train:\n  batch=32\n  epochs: 2\n");
  EXPECT_TRUE(first.starts_with("model.yaml:2:3: " + inner)) << first;
  const std::string last = TreeErrors("train:\n  epochs: 2\n  batch=32\n");
  EXPECT_TRUE(last.starts_with("model.yaml:3:3: " + message)) << last;
  EXPECT_TRUE(TreeErrors("{batch=32, lr: 1}\n").starts_with("model.yaml:1:2: " + message));
  EXPECT_EQ(TreeErrors("a: b=3\nc: [d=4]\ne=5: 6\n"), "");
}

TEST(YamlIndentation, ADashThatIsMissingIsNamed) {
  const std::string message = "this is not YAML: a '-' is missing in front of this item of a list";
  const std::pair<const char*, const char*> cases[] = {
      {"p:\n  ops:\n    - {op: relu}\n    o: {op: linear}\n  loss: x\n", "4:5"},
      {"p:\n  ops:\n    - h: {op: relu}\n    o: {op: linear}\n    - relu\n", "4:5"},
      {"p:\n  ops:\n    - {op: relu}\n      o: {op: linear}\n", "4:7"},
      {"p:\n  ops:\n    - op: relu\n      in: x\n    # one more\n    op: linear\n    units: 2\n",
       "6:5"},
      {"p:\n  ops:\n    h: {op: relu}\n    - {op: linear}\n", "3:5"}};
  for (const auto& [text, place] : cases) {
    const std::string errors = TreeErrors(text);
    EXPECT_TRUE(errors.starts_with(std::string("model.yaml:") + place + ": error: " + message))
        << text << errors;
  }
  const std::string errors = TreeErrors(cases[0].first);
  EXPECT_NE(errors.find("write `- o: {op: linear}`, in the column"), std::string::npos) << errors;
  EXPECT_EQ(TreeErrors("p:\n- a\nq: b\n"), "");
}

}  // namespace
}  // namespace cgrun
