// Typed values: what is accepted, and what the refusals say.
#include "src/model/values.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cmath>
#include <string>

#include "tests/model/model_testing.h"

namespace cgrun {
namespace {

TreeNode Node(const std::string& yaml) { return ParseText(yaml).value_or(TreeNode()); }

// Returns the error that `read` reports for a value.
template <class Read>
std::string Refusal(const std::string& yaml, Read read) {
  const TreeNode node = Node(yaml);
  Diagnostics diagnostics;
  EXPECT_FALSE(read(node, "key", diagnostics)) << yaml;
  EXPECT_EQ(diagnostics.error_count(), 1) << yaml;
  const Diagnostic d = diagnostics.Sorted().at(0);
  return d.message + (d.help.empty() ? "" : " | " + d.help);
}

template <class Read>
auto Accepted(const std::string& yaml, Read read) {
  const TreeNode node = Node(yaml);
  Diagnostics diagnostics;
  const auto value = read(node, "key", diagnostics);
  EXPECT_TRUE(value.has_value()) << yaml << "\n" << diagnostics.ToString();
  return value.value();
}

constexpr auto kInteger = [](const TreeNode& n, std::string_view what, Diagnostics& d) {
  return ReadInteger(n, what, d);
};
constexpr auto kReal = [](const TreeNode& n, std::string_view what, Diagnostics& d) {
  return ReadReal(n, what, d);
};

TEST(ValuesTest, Integers) {
  EXPECT_EQ(Accepted("12", kInteger), 12);
  EXPECT_EQ(Accepted("-9223372036854775808", kInteger), INT64_MIN);
  EXPECT_EQ(Accepted("+9223372036854775807", kInteger), INT64_MAX);
  EXPECT_EQ(Refusal("ten", kInteger), "'key' must be an integer, not 'ten'");
  EXPECT_EQ(Refusal("'12'", kInteger),
            "'key' must be an integer, not '12' in quotes | remove the quotes");
  EXPECT_EQ(Refusal("9223372036854775808", kInteger),
            "'key' must be an integer of 64 bits, not '9223372036854775808'");
  EXPECT_EQ(Refusal("[1]", kInteger), "'key' must be an integer, not a list");
  EXPECT_EQ(Refusal("~", kInteger), "'key' must be an integer, not nothing");
  EXPECT_EQ(Refusal("1_000", kInteger),
            "'key' must be an integer, not '1_000' | write it without '_'");
  EXPECT_EQ(Refusal("16.5", kInteger),
            "'key' must be an integer, not '16.5' | a whole number, such as 17");
  EXPECT_EQ(Refusal("1e3", kInteger), "'key' must be an integer, not '1e3' | write 1000");
  EXPECT_EQ(Refusal("1,000,000", kInteger),
            "'key' must be an integer, not '1,000,000' | write 1000000");
  EXPECT_EQ(Refusal("2,5", kInteger),
            "'key' must be an integer, not '2,5' | a whole number, such as 3");
  EXPECT_EQ(Refusal("1,2,3", kInteger),
            "'key' must be an integer, not '1,2,3' | write one number without commas, or a list: "
            "`[1, 2, 3]`");
  for (const char* text : {"1.0", "0x10", "007", "1e3", "--1", "+", "1 2", "١"}) {
    Refusal(text, kInteger);
  }
}

TEST(ValuesTest, IntegersInARange) {
  const auto read = [](const TreeNode& n, std::string_view what, Diagnostics& d) {
    return ReadInteger(n, what, d, 1, 9);
  };
  EXPECT_EQ(Accepted("9", read), 9);
  EXPECT_EQ(Refusal("0", read), "'key' must be from 1 to 9, not '0'");
}

TEST(ValuesTest, Reals) {
  EXPECT_EQ(Accepted("1.0e-4", kReal), 1.0e-4);
  EXPECT_EQ(Accepted("1/255", kReal), 1.0 / 255);
  EXPECT_EQ(Accepted("-0.5 / 2", kReal), -0.25);
  EXPECT_EQ(Accepted(".5", kReal), 0.5);
  EXPECT_EQ(Accepted("5.", kReal), 5.0);
  EXPECT_EQ(Accepted("3", kReal), 3.0);
  EXPECT_EQ(Refusal("1e999", kReal), "'key' must be a number that a double can hold, not '1e999'");
  EXPECT_EQ(Refusal(".nan", kReal), "'key' must be a finite number, not '.nan'");
  EXPECT_EQ(Refusal("0,001", kReal),
            "'key' must be a number, not '0,001' | write 0.001, with a point");
  EXPECT_EQ(Refusal("-1,5e-4", kReal),
            "'key' must be a number, not '-1,5e-4' | write -1.5e-4, with a point");
  EXPECT_EQ(Refusal("1,000", kReal),
            "'key' must be a number, not '1,000' | write 1000, or 1.000 for a fraction");
  EXPECT_EQ(Refusal("1,2,3", kReal),
            "'key' must be a number, not '1,2,3' | write one number without commas, or a list: "
            "`[1, 2, 3]`");
  for (const char* text : {"1/0", "1/2/3", "1e", "e5", ".", "nan", "inf", "infinity", "0x1p3",
                           "1,5", "1e308/1e-308", "'1.5'", "[1.5]", "/2"}) {
    Refusal(text, kReal);
  }
  const auto any = [](const TreeNode& n, std::string_view what, Diagnostics& d) {
    return ReadReal(n, what, d, NonFinitePolicy::kAllow);
  };
  EXPECT_TRUE(std::isnan(Accepted(".nan", any)));
  EXPECT_EQ(Accepted("-.inf", any), -std::numeric_limits<double>::infinity());
}

TEST(ValuesTest, RealsRoundTrip) {
  EXPECT_TRUE(rc::check([](double value) {
    RC_PRE(std::isfinite(value));
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    RC_PRE(std::fpclassify(value) != FP_SUBNORMAL);
    RC_ASSERT(ParseReal(text) == value);
  }));
}

TEST(ValuesTest, Booleans) {
  const auto read = [](const TreeNode& n, std::string_view what, Diagnostics& d) {
    return ReadBoolean(n, what, d);
  };
  EXPECT_TRUE(Accepted("true", read));
  EXPECT_FALSE(Accepted("false", read));
  for (const char* text : {"yes", "no", "on", "True", "FALSE", "1", "'true'", "~"}) {
    EXPECT_NE(Refusal(text, read).find("must be true or false"), std::string::npos);
  }
}

TEST(ValuesTest, Choices) {
  const std::array<std::string, 3> choices = {"serial", "bfs", "dfs"};
  const auto read = [&](const TreeNode& n, std::string_view what, Diagnostics& d) {
    return ReadChoice(n, what, choices, d);
  };
  EXPECT_EQ(Accepted("bfs", read), "bfs");
  EXPECT_EQ(Refusal("seral", read),
            "'key' must be serial, bfs or dfs, not 'seral' | did you mean 'serial'?");
  EXPECT_EQ(Refusal("{}", read), "'key' must be serial, bfs or dfs, not a map");
}

TEST(ValuesTest, NumberTypesOfOtherProgramsAreUnderstood) {
  const std::array<std::string, 8> types = {"f64",   "f32",   "bf16",  "f16",
                                            "int64", "int32", "uint8", "bool"};
  const auto help = [&](const std::string& text) {
    const std::string refusal =
        Refusal(text, [&](const TreeNode& n, std::string_view what, Diagnostics& d) {
          return ReadChoice(n, what, types, d);
        });
    return refusal.substr(std::min(refusal.size(), refusal.find(" | ")));
  };
  const std::pair<const char*, const char*> meant[] = {
      {"float32", "f32"}, {"float", "f32"},    {"FP32", "f32"},  {"float64", "f64"},
      {"double", "f64"},  {"float16", "f16"},  {"half", "f16"},  {"bfloat16", "bf16"},
      {"long", "int64"},  {"i64", "int64"},    {"int", "int32"}, {"i32", "int32"},
      {"byte", "uint8"},  {"Boolean", "bool"}, {"in32", "int32"}};
  for (const auto& [theirs, ours] : meant) {
    EXPECT_EQ(help(theirs), std::string(" | did you mean '") + ours + "'?") << theirs;
  }
  EXPECT_EQ(help("complex64"), "");
}

TEST(ValuesTest, ListsReportEveryBadItem) {
  Diagnostics diagnostics;
  EXPECT_FALSE(ReadShape(Node("[1, 0, x, 4]"), "shape", diagnostics));
  EXPECT_EQ(diagnostics.error_count(), 2);
  Diagnostics none;
  EXPECT_EQ(ReadShape(Node("[1, 28, 28]"), "shape", none), (std::vector<int64_t>{1, 28, 28}));
  EXPECT_EQ(ReadShape(Node("[]"), "shape", none), std::vector<int64_t>());
  EXPECT_EQ(ReadIntegers(Node("[-1, 0]"), "axes", none), (std::vector<int64_t>{-1, 0}));
  EXPECT_EQ(ReadReals(Node("[0.5, 1/4]"), "mean", none), (std::vector<double>{0.5, 0.25}));
  EXPECT_FALSE(none.has_errors());
  EXPECT_FALSE(ReadShape(Node("[4294967296, 4294967296]"), "shape", none));
  EXPECT_FALSE(ReadReals(Node("3"), "mean", none));
  EXPECT_EQ(none.error_count(), 2);
}

TEST(ValuesTest, Bytes) {
  EXPECT_EQ(ParseBytes("2000000"), 2000000);
  EXPECT_EQ(ParseBytes("1.5GiB"), 1536ll << 20);
  EXPECT_EQ(ParseBytes("512 MiB"), 512ll << 20);
  EXPECT_EQ(ParseBytes("64k"), 64ll << 10);
  EXPECT_EQ(ParseBytes("2G"), 2ll << 30);
  EXPECT_EQ(ParseBytes("2GB"), 2'000'000'000);
  EXPECT_EQ(ParseBytes("0.5"), std::nullopt);
  for (const char* text :
       {"", "0", "-1", "GiB", "1.2.3k", "1 XB", "9e18", "9999999999 GiB", "1 Mi"}) {
    EXPECT_EQ(ParseBytes(text), std::nullopt) << text;
  }
  const auto read = [](const TreeNode& n, std::string_view what, Diagnostics& d) {
    return ReadBytes(n, what, d);
  };
  EXPECT_EQ(Accepted("'512 MiB'", read), 512ll << 20);
  EXPECT_EQ(Accepted("2000000", read), 2000000);
  EXPECT_EQ(Accepted("10B", read), 10);
  EXPECT_NE(Refusal("10", read).find("'key' has no unit: 10 | write 10MiB or 10GiB"),
            std::string::npos)
      << Refusal("10", read);
  EXPECT_NE(Refusal("lots", read).find("must be a number of bytes, not 'lots' | such as"),
            std::string::npos);
  EXPECT_EQ(Refusal("1,5 GiB", read),
            "'key' must be a number of bytes, not '1,5 GiB' | write 1.5 GiB");
  EXPECT_NE(Refusal("1,5", read).find("| such as"), std::string::npos) << "of what?";
}

TEST(ValuesTest, Durations) {
  EXPECT_EQ(ParseSeconds("90"), 90.0);
  EXPECT_EQ(ParseSeconds("0.5"), 0.5);
  EXPECT_EQ(ParseSeconds("10m"), 600.0);
  EXPECT_EQ(ParseSeconds("1h30m"), 5400.0);
  EXPECT_EQ(ParseSeconds("1d 2h 3m 4s"), 93784.0);
  for (const char* text : {"", "0", "-5", "m", "1m1h", "1m1m", "1h30", "1.h.", "1x", "1e5"}) {
    EXPECT_EQ(ParseSeconds(text), std::nullopt) << text;
  }
  const auto read = [](const TreeNode& n, std::string_view what, Diagnostics& d) {
    return ReadSeconds(n, what, d);
  };
  EXPECT_EQ(Refusal("1,5h", read), "'key' must be a duration, not '1,5h' | write 1.5h");
}

TEST(ValuesTest, Identifiers) {
  for (const char* name : {"a", "_", "conv1", "A_b9"}) EXPECT_TRUE(IsIdentifier(name));
  for (const char* name : {"", "1a", "a.b", "a-b", "a b", "é"}) EXPECT_FALSE(IsIdentifier(name));
}

// No text makes a reader crash or disagree with its report.
TEST(ValuesTest, EveryTextIsReadOrReported) {
  EXPECT_TRUE(rc::check([](const std::string& text, bool quoted) {
    const TreeNode node = TreeNode::Scalar(text, {}, quoted);
    Diagnostics d;
    int refused = 0;
    refused += !ReadInteger(node, "x", d);
    refused += !ReadReal(node, "x", d);
    refused += !ReadBoolean(node, "x", d);
    refused += !ReadBytes(node, "x", d);
    refused += !ReadSeconds(node, "x", d);
    refused += !ReadText(node, "x", d);
    RC_ASSERT(d.error_count() == refused);
  }));
}

}  // namespace
}  // namespace cgrun
