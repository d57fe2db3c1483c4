// ToYaml(): what it writes, and that Parse() reads it back.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "src/model/tree.h"
#include "tests/model/model_testing.h"

namespace cgrun {
namespace {

TEST(EmitterTest, WritesForPeople) {
  const std::string text =
      "cgrun: 1\n"
      "name: \"1\"\n"
      "empty: {}\n"
      "ops:\n"
      "  - conv1: {op: conv, filters: 20, kernel: [5, 5]}\n"
      "  - flatten\n"
      "  - fc1:\n"
      "      op: linear\n"
      "      regularize: {l2: 1.0e-4}\n"
      "  - [a, b]\n"
      "nothing: null\n"
      "quoted: \"a: b # c\"\n";
  const auto tree = ParseText(text);
  ASSERT_TRUE(tree);
  EXPECT_EQ(ToYaml(*tree), text);
}

TEST(EmitterTest, LongListsGetALineAnItem) {
  std::vector<TreeNode> items(40, TreeNode::Scalar("item"));
  const std::string text = ToYaml(TreeNode::Map({{"list", {}, TreeNode::Sequence(items)}}));
  EXPECT_EQ(text.substr(0, 20), "list:\n  - item\n  - i");
}

TEST(EmitterTest, QuotesThatTextsDoNotNeedMakeNoOtherTree) {
  const auto unquoted = ParseText("names: [Fläche, b, it's]\nmark: ;\nnumber: 1\n");
  const auto quoted = ParseText("names: [\"Fläche\", 'b', \"it's\"]\nmark: ';'\nnumber: '1'\n");
  ASSERT_TRUE(unquoted && quoted);
  EXPECT_FALSE(*unquoted == *quoted);
  EXPECT_EQ(WithUsualQuotes(*unquoted), WithUsualQuotes(*quoted));
  const auto written = ParseText(ToYaml(*unquoted));
  ASSERT_TRUE(written);
  EXPECT_FALSE(*unquoted == *written);
  EXPECT_EQ(WithUsualQuotes(*unquoted), WithUsualQuotes(*written));
  const auto other = ParseText("names: [Fläche, b, it]\nmark: ;\nnumber: 1\n");
  ASSERT_TRUE(other);
  EXPECT_FALSE(WithUsualQuotes(*unquoted) == WithUsualQuotes(*other));
}

TEST(EmitterTest, EmptyListsAndMapsStayWhatTheyAre) {
  const std::string key(120, 'k');
  const TreeNode tree =
      TreeNode::Map({{key, {}, TreeNode::Sequence({})}, {"m", {}, TreeNode::Map({})}});
  EXPECT_EQ(ToYaml(tree), key + ": []\nm: {}\n");
}

// Texts that YAML could take for something else.
std::string AwkwardText() {
  static const std::vector<std::string> kAwkward = {"",
                                                    "null",
                                                    "~",
                                                    "true",
                                                    "1",
                                                    "-1",
                                                    "1.5e3",
                                                    "a: b",
                                                    "a #b",
                                                    "- a",
                                                    "---",
                                                    "...",
                                                    "<<",
                                                    "&a",
                                                    "*a",
                                                    "!a",
                                                    "|",
                                                    ">",
                                                    "%",
                                                    "@",
                                                    "`",
                                                    "{a}",
                                                    "[a]",
                                                    "a,b",
                                                    "a\nb",
                                                    "\n",
                                                    " a",
                                                    "a ",
                                                    "'a'",
                                                    "\"a\"",
                                                    "a\\b",
                                                    "${a}",
                                                    "x${",
                                                    "\t",
                                                    "é",
                                                    "日本",
                                                    "cuda:0",
                                                    "a:",
                                                    ":a",
                                                    "?",
                                                    "? a",
                                                    "-",
                                                    "--",
                                                    "-.inf",
                                                    ".nan",
                                                    "1/255",
                                                    "a  b",
                                                    "../x",
                                                    "x${",
                                                    "x[1",
                                                    "a[1]",
                                                    "${a, b}",
                                                    "\x7F"
                                                    "a"};
  return *rc::gen::elementOf(kAwkward);
}

TreeNode ArbitraryTree(int depth) {
  TreeNode node;
  const int kind = depth > 0 ? *rc::gen::element(0, 1, 2, 3, 4) : *rc::gen::element(0, 1);
  const int count = *rc::gen::element(0, 1, 2, 3, 4);
  const auto text = [] {
    return *rc::gen::inRange(0, 2)
               ? AwkwardText()
               : *rc::gen::container<std::string>(rc::gen::inRange(' ', '\x7F'));
  };
  if (kind == 1 || kind == 2) return TreeNode::Scalar(text(), {}, *rc::gen::arbitrary<bool>());
  if (kind == 3) {
    node.kind = TreeNode::Kind::kSequence;
    for (int i = 0; i < count; ++i) node.items.push_back(ArbitraryTree(depth - 1));
  }
  if (kind == 4) {
    node.kind = TreeNode::Kind::kMap;
    for (int i = 0; i < count; ++i) {
      const std::string key = text();
      if (!node.Find(key)) node.entries.push_back({key, {}, ArbitraryTree(depth - 1)});
    }
  }
  return node;
}

// A text that cannot stand without quotes comes back quoted.
void AcceptQuotes(TreeNode& wanted, const TreeNode& got) {
  if (wanted.IsScalar() && got.IsScalar() && got.quoted) wanted.quoted = true;
  for (size_t i = 0; i < std::min(wanted.items.size(), got.items.size()); ++i) {
    AcceptQuotes(wanted.items[i], got.items[i]);
  }
  for (size_t i = 0; i < std::min(wanted.entries.size(), got.entries.size()); ++i) {
    AcceptQuotes(wanted.entries[i].value, got.entries[i].value);
  }
}

bool HasDelete(const TreeNode& node) {  // U+007F is a control character, which files must not hold
  bool found = node.scalar.find('\x7F') != std::string::npos;
  for (const TreeNode& item : node.items) found = found || HasDelete(item);
  for (const TreeEntry& e : node.entries) {
    found = found || HasDelete(e.value) || e.key.find('\x7F') != std::string::npos;
  }
  return found;
}

TEST(EmitterTest, ParsesBackToTheSameTree) {
  int nested = 0;
  EXPECT_TRUE(rc::check([&nested] {
    TreeNode tree = ArbitraryTree(4);
    RC_PRE(!HasDelete(tree));
    nested += tree.IsMap() || tree.IsSequence();
    const std::string text = ToYaml(tree);
    std::string errors;
    const auto again = ParseText(text, &errors);
    RC_LOG() << text << errors;
    RC_ASSERT(again.has_value());
    AcceptQuotes(tree, *again);
    RC_ASSERT(*again == tree);
    RC_ASSERT(ToYaml(*again) == text);
  }));
  EXPECT_GT(nested, 20);
}

TEST(EmitterTest, NumbersAndBooleansStayPlain) {
  for (const std::string text : {"1", "-1", "+3", "1.5e-3", ".5", "true", "false", "1/255", "-.inf",
                                 "512 MiB", "1h30m", "cuda:0", "../a/b.gz"}) {
    EXPECT_EQ(ToYaml(TreeNode::Scalar(text)), text + "\n");
    const auto tree = ParseText(text);
    ASSERT_TRUE(tree);
    EXPECT_FALSE(tree->quoted) << text;
    EXPECT_EQ(ToYaml(TreeNode::Scalar(text, {}, true)), "\"" + text + "\"\n");
  }
}

}  // namespace
}  // namespace cgrun
