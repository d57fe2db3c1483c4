// Comments behind quotes and brackets, and the indentation of what stands in brackets: what YAML
// asks for and yaml-cpp does not look at.
#include <gtest/gtest.h>

#include <string>

#include "tests/model/model_testing.h"

namespace cgrun {
namespace {

TEST(FlowLayoutTest, ACommentHasABlankBeforeIt) {
  EXPECT_EQ(TreeErrors("task: \"regression\"# c\n"),
            "model.yaml:1:19: error: this is not YAML: a blank is missing before this '#'\n"
            "    task: \"regression\"# c\n"
            "                      ^\n"
            "help: a comment begins with a blank and a '#'\n");
  for (const std::string text :
       {"a: 'it''s'#c\n", "a: {b: 1}#c\n", "a: [1, [2]#c\n  ]\n", "a: ['x'#c\n  ]\n",
        "a: [{b: 1, c: d#e }#f\n  ]\n", "'a'#c: 1\n", "{a: 1}#c\n", "a: |#c\n  x\n",
        "a: >-#c\n  x\n", "a: |2+#c\n  x\n", "- >#c\n  x\n", "a: &n |#c\n  x\n",
        "a: !!str |#c\n  x\n", "a: !!str \"x\"#c\n"}) {
    EXPECT_NE(TreeErrors(text).find("a blank is missing before this '#'"), std::string::npos)
        << text;
  }
  for (const std::string text :
       {"a: \"x\" # c\n", "a: x#c\n", "a: {b: x#c}\n", "a: {b: 1} # c\n", "a: [1, # ]#\n  2]\n",
        "a: [1\n  #]#\n  ]\n", "a: '}#'\n", "a: |\n  \"x\"# {}#\n", "a: {b: '#'}\n", "a: [b: 1]\n",
        "a: [b: {c: 1}, d: [2]] # e\n", "a: {b, 'c', ? d}\n", "a: {$x: ${y}} #\n", "a: | #c\n  x\n",
        "a: >- # |#c\n  x#c\n", "a: x|#c\n", "a: !!str\nb: 1\n"}) {
    EXPECT_EQ(TreeErrors(text), "");
  }
}

TEST(FlowLayoutTest, WhatStandsInBracketsIsIndented) {
  EXPECT_EQ(TreeErrors("a: [1,\n2]\n"),
            "model.yaml:2:1: error: this is not YAML: what stands in brackets is indented deeper "
            "than the line that they begin in\n"
            "    2]\n"
            "    ^\n"
            "help: indent this line\n");
  for (const std::string text :
       {"a: {\nb: 1\n}\n", "a: {b:\n1}\n", "a: {b: x\ny}\n", "a: {b: 'x\ny'}\n", "a: [1\n, 2]\n",
        "a:\n  b: [1,\n  2]\n", "- [1,\n2]\n", "a: [\n[1]]\n", "a: &x [1]\nb: [\n*x ]\n",
        "a: [b: 1,\nc: 2]\n", "a:\n  [1,\n2]\n"}) {
    EXPECT_NE(TreeErrors(text).find("indent this line"), std::string::npos) << text;
  }
  for (const std::string text :
       {"{\na: 1,\nb: [1,\n2]\n}\n", "a: {\n b: 1\n}\n", "a: [\n  1,\n# 2\n\n  3\n]\n",
        "- [\n\t\n 2\n ]\n", "- [1,\n 2]\n", "a:\n  [1,\n 2]\n", "a:\n  - b: [1,\n    2\n  ]\n",
        "a: [1]\nb: [2]\n"}) {
    EXPECT_EQ(TreeErrors(text), "");
  }
}

TEST(FlowLayoutTest, AValueIsIndentedDeeperThanItsKey) {
  EXPECT_EQ(TreeErrors("train:\n{epochs: 1}\n"),
            "model.yaml:2:1: error: this is not indented enough for the value of 'train'\n"
            "    {epochs: 1}\n"
            "    ^\n"
            "help: put it on the line of the key\n");
  for (const std::string text : {"model:\n\"small\"\n", "model:\n'small'\n", "a:\n[1]\n",
                                 "a:\n  b:\n  [1]\n", "a:\n|\n  x\n", "a: &x 1\nb:\n*x\n",
                                 "a: &x\n{b: 1}\n", "a: !!str\n'x'\n", "a:\n- b:\n  {c: 1}\n"}) {
    EXPECT_NE(TreeErrors(text).find("not indented enough"), std::string::npos)
        << text << TreeErrors(text);
  }
  for (const std::string text :
       {"a:\n {b: 1}\n", "a:\n 'x'\n", "a:\n- 1\n", "a: &x\n- 1\n", "a:\n  b:\n  - {c: 1}\n",
        "{a:\n'x'}\n", "\"x\"\n", "a:\n- {b: 1}\n- 'x'\n", "? a\n: 'b'\n"}) {
    EXPECT_EQ(TreeErrors(text).find("not indented enough"), std::string::npos)
        << text << TreeErrors(text);
  }
}

TEST(FlowLayoutTest, ATextInQuotesGoesOnInIndentedLines) {
  EXPECT_EQ(TreeErrors("a: \"x\ny\"\n"),
            "model.yaml:2:1: error: this is not YAML: a text in quotes goes on in lines that are "
            "indented deeper than the line that it begins in\n"
            "    y\"\n"
            "    ^\n"
            "help: indent this line\n");
  for (const std::string text : {"a: 'x\ny'\n", "a: 'x\n\n# y'\n", "a: \"x\n\"\n", "a: 'x\n]'\n",
                                 "a:\n  b: 'x\n  y'\n", "- 'x\ny'\n", "a: !!str 'x\ny'\n"}) {
    EXPECT_NE(TreeErrors(text).find("a text in quotes goes on"), std::string::npos)
        << text << TreeErrors(text);
  }
  for (const std::string text : {"a: 'x\n y'\n", "a: 'x\n\n  y'\n", "'x\ny'\n", "- 'x\n y'\n",
                                 "a:\n  'x\n  y'\n", "- a: 'x\n  y'\n", "a: 'x'\nb: 'y'\n"}) {
    EXPECT_EQ(TreeErrors(text).find("a text in quotes goes on"), std::string::npos)
        << text << TreeErrors(text);
  }
}

}  // namespace
}  // namespace cgrun
