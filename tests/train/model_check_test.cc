// Checks find nothing where nothing is wrong, and what is wrong where something is.
#include "src/train/model_check.h"

#include <gtest/gtest.h>

#include <set>

#include "src/train/lint.h"
#include "tests/train/session_testing.h"

namespace cgrun {
namespace {

// A net of everything that is hard to differentiate numerically: kinks, ties, a batch norm behind a
// bias, dropout.
constexpr char kKinks[] = R"(cgrun: 1
inputs:
  image: {type: uint8, shape: [1, 8, 8]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {op: conv, filters: 3, kernel: 3, activation: relu}
      - {op: max_pool, kernel: 2}
      - {op: conv, filters: 4, kernel: 2}
      - {op: batch_norm}
      - {op: relu}
      - {op: flatten}
      - {op: dropout, rate: 0.5}
      - logits: {op: linear, units: 5}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {batch: 8, optimizer: {op: adam}}
)";

TEST(ModelCheck, GradientsAndDevicesAgree) {
  const ModelSpec model = ModelOf(kKinks);
  Diagnostics diagnostics;
  ModelCheck check(model, {}, {}, diagnostics);
  ASSERT_TRUE(check.ready()) << check.skipped() << diagnostics.ToString();
  std::set<std::string> names;
  double largest = 0;
  for (const GradientCheck& gradient : check.CheckGradients()) {
    EXPECT_TRUE(gradient.good) << gradient.parameters[0] << ": " << gradient.analytic << " and "
                               << gradient.numeric;
    largest = std::max(largest, std::abs(gradient.analytic));
    names.insert(gradient.parameters.begin(), gradient.parameters.end());
  }
  EXPECT_EQ(names.size(), 8u);
  EXPECT_EQ(check.parameters(), 8);
  EXPECT_GT(largest, 1e-3);
  for (const char* device : {"reference", "blas", "cpu"}) {
    const DeviceCheck compared = check.CheckDevice(device);
    EXPECT_TRUE(compared.good || !compared.skipped.empty())
        << device << ": " << compared.worst << " " << compared.error;
    EXPECT_EQ(compared.compared, compared.skipped.empty() ? 9 : 0) << device;
  }
}

TEST(ModelCheck, WithoutTrainingNothingIsChecked) {
  const ModelSpec model = ModelOf(R"(cgrun: 1
inputs: {x: {shape: [4]}}
paths:
  p: {mode: forward, ops: [{op: linear, in: x, units: 3}]}
)");
  Diagnostics diagnostics;
  ModelCheck check(model, {}, {}, diagnostics);
  EXPECT_FALSE(check.ready());
  EXPECT_EQ(check.skipped(), "the file does not say how to train");
}

// The root of a negative number.
TEST(ModelCheck, WhatIsNoNumberIsWrong) {
  const ModelSpec model = ModelOf(R"(cgrun: 1
inputs: {x: {shape: [4]}, y: {shape: [3]}}
paths:
  p:
    ops:
      - h: {op: linear, in: x, units: 3}
      - root: {op: pow, in: [h, 0.5]}
    loss: {op: squared_error, in: [root, y]}
train: {optimizer: {op: sgd}}
)");
  Diagnostics diagnostics;
  ModelCheck check(model, {}, {}, diagnostics);
  ASSERT_TRUE(check.ready()) << check.skipped() << diagnostics.ToString();
  const std::vector<GradientCheck> gradients = check.CheckGradients();
  ASSERT_EQ(gradients.size(), 2u);
  EXPECT_FALSE(gradients[0].good);
  EXPECT_FALSE(check.CheckDevice("reference").good);
}

TEST(Lint, WarnsOfWhatNobodyReads) {
  ModelSpec model = ModelOf(R"(cgrun: 1
inputs: {x: {shape: [4]}, y: {shape: [3]}, z: {shape: [3]}}
paths:
  p:
    ops:
      - h: {op: linear, in: x, units: 3}
      - idle: {op: relu}
      - last: {op: sigmoid, in: h}
    loss: {op: squared_error, in: [last, y]}
train: {optimizer: {op: sgd}}
)");
  Diagnostics diagnostics;
  Lint(model, *FindKernelLibrary("reference"), {}, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  const std::string text = diagnostics.ToString();
  EXPECT_NE(text.find("nothing reads input 'z'"), std::string::npos) << text;
  EXPECT_NE(text.find("nothing reads what p.idle computes"), std::string::npos) << text;
  EXPECT_EQ(text.find("'y'"), std::string::npos) << text;
}

}  // namespace
}  // namespace cgrun
