// What a run of training does when something happens to it.
#include <gtest/gtest.h>

#include "tests/train/session_testing.h"

namespace cgrun {
namespace {

// Two paths that learn; the loss of the second is NaN from the first step on.
constexpr char kBrokenPath[] = R"(
cgrun: 1
model: broken
data: {train: {format: synthetic, samples: 40, classes: 4}}
inputs:
  image: {type: uint8, shape: [1, 2, 2]}
  label: {type: int32, shape: []}
paths:
  sound:
    ops:
      - a: {op: normalize, in: image, scale: 1/255}
      - {op: flatten}
      - right: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [right, label]}
  broken:
    ops:
      - b: {op: normalize, in: image, scale: 1/255, mean: 2}
      - {op: log}
      - {op: flatten}
      - wrong: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [wrong, label]}
train: {epochs: 1, batch: 10, optimizer: {op: sgd, lr: 0.1}}
)";

TEST(TrainingRun, NamesThePathWhoseLossIsNotFinite) {
  try {
    TrainModel(ModelOf(kBrokenPath));
    FAIL() << "a loss that is not finite passed";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "the loss of path 'broken' is not finite in step 1 (epoch 1)");
  }
}

}  // namespace
}  // namespace cgrun
