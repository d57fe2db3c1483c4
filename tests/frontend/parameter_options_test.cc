// init, regularize, frozen and lr: what they give, and what they refuse.
#include "src/frontend/parameter_options.h"

#include <gtest/gtest.h>

#include "src/model/model_file.h"

namespace cgrun {
namespace {

struct Result {
  ParameterOptions options;
  std::string errors;
};

// The options of `linear` with these keys, which stand in line 7, column 34.
Result Read(const std::string& keys) {
  const std::string text =
      "cgrun: 1\ninputs:\n  x: {type: f32, shape: [2]}\npaths:\n  p:\n    mode: forward\n"
      "    ops: [{op: linear, units: 2, " +
      keys + "}]\n";
  Diagnostics diagnostics;
  const auto model = ParseModel({"m.yaml", text}, {}, diagnostics);
  EXPECT_TRUE(model.has_value()) << diagnostics.ToString();
  Result result;
  if (model) {
    result.options = ReadParameterOptions(model->paths[0].ops[0], {"weight", "bias"}, diagnostics);
  }
  for (const Diagnostic& item : diagnostics.Sorted()) {
    result.errors += std::to_string(item.mark.column) + ": " + item.message + "\n";
  }
  return result;
}

TEST(ParameterOptions, ReadsDistributions) {
  const Result uniform = Read("init: {uniform: {low: 1, high: 5}}");
  EXPECT_EQ(uniform.errors, "");
  EXPECT_EQ(uniform.options.init.at("").init_args, (std::vector<double>{1, 5}));
  EXPECT_EQ(Read("init: {uniform: {low: 1, high: 1}}").errors, "");
  const Result normal = Read("init: {bias: {normal: {deviation: 0}}}, lr: 0");
  EXPECT_EQ(normal.errors, "");
  EXPECT_EQ(normal.options.init.at("bias").init_args, (std::vector<double>{0, 0}));
  EXPECT_EQ(normal.options.learning_rate_scale.at(""), 0);
}

TEST(ParameterOptions, ReadsEachTensorsOwn) {
  const Result all = Read("lr: 3, frozen: true, regularize: {l1: 1, l2: 2}");
  EXPECT_EQ(all.errors, "");
  EXPECT_EQ(all.options.learning_rate_scale, (std::map<std::string, double>{{"", 3}}));
  EXPECT_EQ(all.options.frozen, (std::map<std::string, bool>{{"", true}}));
  EXPECT_EQ(all.options.regularization.at("").l2, 2);
  const Result each = Read(
      "lr: {bias: 3}, frozen: {weight: true, bias: false}, "
      "regularize: {weight: {l1: 1}, bias: {l2: 2}}");
  EXPECT_EQ(each.errors, "");
  EXPECT_EQ(each.options.learning_rate_scale, (std::map<std::string, double>{{"bias", 3}}));
  EXPECT_EQ(each.options.frozen, (std::map<std::string, bool>{{"weight", true}, {"bias", false}}));
  EXPECT_EQ(each.options.regularization.at("weight").l1, 1);
  EXPECT_EQ(each.options.regularization.at("weight").l2, 0);
  EXPECT_EQ(each.options.regularization.at("bias").l2, 2);
}

TEST(ParameterOptions, RefusesTensorsThatAreNotThere) {
  EXPECT_EQ(Read("lr: {wieght: 3}").errors, "39: there is no parameter 'wieght' here\n");
  EXPECT_EQ(
      Read("frozen: {scale: true, bias: 1}").errors,
      "43: there is no parameter 'scale' here\n62: 'frozen' must be true or false, not '1'\n");
  EXPECT_EQ(Read("regularize: {weight: 0.1}").errors,
            "55: 'regularize' must be a map, not '0.1'\n");
  EXPECT_EQ(Read("regularize: {weight: {l3: 1}}").errors, "56: 'regularize' has no key 'l3'\n");
  EXPECT_EQ(Read("lr: {bias: -1}").errors,
            "45: 'lr' must not be negative: it is a factor of the learning rate\n");
}

TEST(ParameterOptions, RefusesWhatIsOutOfRangeAtItsMark) {
  EXPECT_EQ(Read("init: {uniform: {low: 5, high: 1}}").errors,
            "65: 'low' must not be above 'high', but is 5 above 1\n");
  EXPECT_EQ(Read("init: {uniform: {low: 5}}").errors,
            "56: 'low' must not be above 'high', but is 5 above 0.05\n");
  EXPECT_EQ(Read("init: {uniform: {high: -5}}").errors,
            "57: 'low' must not be above 'high', but is -0.05 above -5\n");
  EXPECT_EQ(Read("init: {normal: {deviation: -3}}").errors,
            "61: 'deviation' must not be negative, but is -3\n");
  EXPECT_EQ(Read("init: {weight: {truncated_normal: {deviation: -0.1}}}").errors,
            "80: 'deviation' must not be negative, but is -0.1\n");
  EXPECT_EQ(Read("lr: -3").errors,
            "38: 'lr' must not be negative: it is a factor of the learning rate\n");
}

}  // namespace
}  // namespace cgrun
