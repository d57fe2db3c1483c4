// `${…}`: arithmetic against a reference, and what cannot be put in.
#include "src/model/expression.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/model/model_testing.h"

namespace cgrun {
namespace {

class ExpressionTest : public testing::Test {
 protected:
  ExpressionTest() {
    parameters_ =
        *ParseText("{mid: 64, out: 256, zero: 0, project: true, act: relu, list: [1, 2]}");
    for (const TreeEntry& e : parameters_.entries) bindings_.push_back({e.key, &e.value});
  }

  TreeNode Put(const std::string& text) {
    SubstitutionBudget budget;
    diagnostics_ = {};
    return Substitute(TreeNode::Scalar(text), bindings_, budget, diagnostics_);
  }
  std::string Value(const std::string& expression) {
    const TreeNode node = Put("${" + expression + "}");
    EXPECT_EQ(diagnostics_.ToString(), "") << expression;
    EXPECT_FALSE(node.quoted);
    return node.scalar;
  }
  std::string Refusal(const std::string& text) {
    Put(text);
    EXPECT_EQ(diagnostics_.error_count(), 1) << text;
    if (!diagnostics_.has_errors()) return "";
    const Diagnostic d = diagnostics_.Sorted()[0];
    return d.message + (d.help.empty() ? "" : " | " + d.help);
  }

  TreeNode parameters_;
  std::vector<Binding> bindings_;
  Diagnostics diagnostics_;
};

TEST_F(ExpressionTest, Arithmetic) {
  EXPECT_EQ(Value("mid"), "64");
  EXPECT_EQ(Value(" mid "), "64");
  EXPECT_EQ(Value("4*mid"), "256");
  EXPECT_EQ(Value("(mid+out)/2"), "160");
  EXPECT_EQ(Value("mid - 2 - 3"), "59");
  EXPECT_EQ(Value("2 + 3 * 4"), "14");
  EXPECT_EQ(Value("-mid % 10"), "-4");
  EXPECT_EQ(Value("--3"), "3");
  EXPECT_EQ(Value("-9223372036854775807 - 1"), "-9223372036854775808");
}

TEST_F(ExpressionTest, Conditions) {
  EXPECT_EQ(Value("project"), "true");
  EXPECT_EQ(Value("!project"), "false");
  EXPECT_EQ(Value("mid != out"), "true");
  EXPECT_EQ(Value("4*mid == out"), "true");
  EXPECT_EQ(Value("mid >= 65"), "false");
  EXPECT_EQ(Value("!(mid < out)"), "false");
  EXPECT_EQ(Value("project == true"), "true");
}

TEST_F(ExpressionTest, WholeParametersPassThrough) {
  EXPECT_EQ(Put("${act}").scalar, "relu");
  EXPECT_EQ(Put("${list}"), *ParseText("[1, 2]"));
  EXPECT_EQ(Put("stage_${mid}_${act}").scalar, "stage_64_relu");
  EXPECT_EQ(Put("1/${mid}").scalar, "1/64");
  EXPECT_EQ(Put("${out/mid}x${mid%3}").scalar, "4x1");
  EXPECT_FALSE(diagnostics_.has_errors());
}

TEST_F(ExpressionTest, KeepsMarksAndKeys) {
  const auto tree = ParseText("a: {'${mid}': ['${mid}', 5]}\n");
  SubstitutionBudget budget;
  const TreeNode result = Substitute(*tree, bindings_, budget, diagnostics_);
  EXPECT_EQ(result, *ParseText("a: {'${mid}': [64, 5]}"));
  const TreeNode& item = result.Find("a")->value.Find("${mid}")->value.items[0];
  EXPECT_EQ(item.mark.column, 16);
}

TEST_F(ExpressionTest, Refusals) {
  EXPECT_EQ(Refusal("${mi}"), "'mi' is no parameter of this block | did you mean 'mid'?");
  EXPECT_EQ(Refusal("${out/3}"), "256 / 3 is not an integer | only exact divisions are allowed");
  EXPECT_EQ(Refusal("${mid/zero}"), "a division by zero");
  EXPECT_EQ(Refusal("${mid%0}"), "a division by zero");
  EXPECT_EQ(Refusal("${9223372036854775807 + 1}"), "9223372036854775807 + 1 does not fit 64 bits");
  EXPECT_EQ(Refusal("${(-9223372036854775807 - 1) / -1}"),
            "-9223372036854775808 / -1 does not fit 64 bits");
  EXPECT_EQ(Refusal("${9223372036854775808}"), "a number does not fit 64 bits");
  EXPECT_EQ(Refusal("${act + 1}"), "'act' is 'relu', and arithmetic takes integers, true or false");
  EXPECT_EQ(Refusal("${project + 1}"), "'+' takes integers, not true or false");
  EXPECT_EQ(Refusal("${!mid}"), "'!' takes true or false");
  EXPECT_EQ(Refusal("${mid == project}"), "an integer is compared with true or false");
  EXPECT_EQ(Refusal("${}"), "the expression ends too early");
  EXPECT_EQ(Refusal("${mid +}"), "the expression ends too early");
  EXPECT_EQ(Refusal("${(mid}"), "a ')' is missing");
  EXPECT_EQ(Refusal("${mid"), "a '}' is missing behind '${'");
  EXPECT_EQ(Refusal("x${list}"), "a list cannot stand within a text");
  EXPECT_NE(Refusal("${mid 3}").find("'3' is not expected here"), std::string::npos);
  EXPECT_NE(Refusal("${mid; rm}").find("is not expected here"), std::string::npos);
  EXPECT_EQ(Refusal("${" + std::string(100'000, '(') + "}"), "the expression is nested too deep");
}

TEST_F(ExpressionTest, ChecksWithoutValues) {
  const auto check = [this](const std::string& text) {
    Diagnostics diagnostics;
    CheckPlaceholders(TreeNode::Scalar(text), bindings_, diagnostics);
    return diagnostics.error_count();
  };
  EXPECT_EQ(check("${mid/3}"), 0);
  EXPECT_EQ(check("${act + 1}"), 0);  // another use may give an integer
  EXPECT_EQ(check("${mid/0}"), 1);
  EXPECT_EQ(check("${mod}"), 1);
  EXPECT_EQ(check("${mid +}"), 1);
  EXPECT_EQ(check("${4/3}"), 1);
}

TEST_F(ExpressionTest, TheBudgetStopsGrowth) {
  TreeNode value = TreeNode::Sequence(std::vector<TreeNode>(1000, TreeNode::Scalar("x")));
  const std::vector<Binding> bindings = {{"v", &value}};
  const TreeNode body = TreeNode::Sequence(std::vector<TreeNode>(1000, TreeNode::Scalar("${v}")));
  SubstitutionBudget budget{10'000, 1 << 20};
  Substitute(body, bindings, budget, diagnostics_);
  EXPECT_TRUE(budget.exceeded());
  EXPECT_FALSE(diagnostics_.has_errors());
  SubstitutionBudget enough;
  EXPECT_EQ(Substitute(body, {{"v", &value.items[0]}}, enough, diagnostics_).items[999].scalar,
            "x");
  EXPECT_FALSE(enough.exceeded());
}

// A random expression as text, with its value in 128 bits; no value where it must be refused.
struct Sample {
  std::string text;
  std::optional<__int128> value;
};

bool Fits(__int128 value) { return value >= INT64_MIN && value <= INT64_MAX; }

Sample RandomExpression(int depth) {
  if (depth == 0 || *rc::gen::element(0, 1, 2) == 0) {
    const int64_t number = *rc::gen::oneOf(rc::gen::inRange<int64_t>(0, 20),
                                           rc::gen::element(INT64_MAX, INT64_MAX / 2));
    return {std::to_string(number), number};
  }
  const Sample a = RandomExpression(depth - 1), b = RandomExpression(depth - 1);
  const char op = *rc::gen::element('+', '-', '*', '/', '%');
  const std::string space = *rc::gen::element(std::string(), std::string(" "));
  Sample result{"(" + a.text + space + op + space + b.text + ")", std::nullopt};
  if (!a.value || !b.value) return result;
  if ((op == '/' || op == '%') && *b.value == 0) return result;
  if (op == '/' && *a.value % *b.value != 0) return result;
  const __int128 value = op == '+'   ? *a.value + *b.value
                         : op == '-' ? *a.value - *b.value
                         : op == '*' ? *a.value * *b.value
                         : op == '/' ? *a.value / *b.value
                                     : *a.value % *b.value;
  if (Fits(value)) result.value = value;
  return result;
}

TEST(ExpressionPropertyTest, EqualsArithmeticWithMoreBits) {
  int valid = 0, refused = 0;
  EXPECT_TRUE(rc::check([&] {
    const Sample sample = RandomExpression(4);
    Diagnostics diagnostics;
    SubstitutionBudget budget;
    const TreeNode node =
        Substitute(TreeNode::Scalar("${" + sample.text + "}"), {}, budget, diagnostics);
    RC_LOG() << sample.text;
    RC_ASSERT(diagnostics.has_errors() == !sample.value.has_value());
    if (sample.value) {
      RC_ASSERT(node.scalar == std::to_string(static_cast<int64_t>(*sample.value)));
    }
    ++(sample.value ? valid : refused);
  }));
  EXPECT_GT(valid, 10);
  EXPECT_GT(refused, 10);
}

TEST(ExpressionPropertyTest, EveryTextIsReplacedOrReported) {
  EXPECT_TRUE(rc::check([] {
    const auto text = *rc::gen::container<std::string>(
        rc::gen::elementOf(std::string("${}()+-*/%!=<> abtrue019")));
    const TreeNode value = TreeNode::Scalar("7");
    Diagnostics diagnostics;
    SubstitutionBudget budget;
    const TreeNode node =
        Substitute(TreeNode::Scalar("${" + text + "}"), {{"a", &value}}, budget, diagnostics);
    RC_ASSERT(diagnostics.has_errors() || node.scalar.find("${a") == std::string::npos);
  }));
}

}  // namespace
}  // namespace cgrun
