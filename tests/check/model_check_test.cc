// Checks find nothing where nothing is wrong, and what is wrong where something is.
#include "src/check/model_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "src/base/dtype.h"
#include "src/check/lint.h"
#include "tests/session/session_testing.h"

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
    EXPECT_TRUE(compared.missing.empty()) << device << ": " << compared.missing[0];
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

// The model takes the root of a negative number.
TEST(ModelCheck, WhatIsNoNumberIsWrong) {
  const ModelSpec model = ModelOf(R"(cgrun: 1
inputs: {x: {shape: [4]}, y: {shape: [3]}}
paths:
  p:
    ops:
      - h: {op: linear, in: x, units: 3}
      - root: {op: pow, in: [h, 0.5]}
    loss: {op: squared_error, in: [root, y]}
train: {optimizer: {op: sgd, lr: 0.1}}
)");
  Diagnostics diagnostics;
  ModelCheck check(model, {}, {}, diagnostics);
  ASSERT_TRUE(check.ready()) << check.skipped() << diagnostics.ToString();
  const std::vector<GradientCheck> gradients = check.CheckGradients();
  ASSERT_EQ(gradients.size(), 2u);
  EXPECT_FALSE(gradients[0].good);
  EXPECT_FALSE(check.CheckDevice("reference").good);
}

// The reference's kernels, but the first output of one operator is multiplied.
class WrongLibrary final : public KernelLibrary {
 public:
  WrongLibrary(OpId op, double factor) : op_(op), factor_(factor) {}

  std::string_view name() const override { return right_.name(); }
  std::string fingerprint() const override { return right_.fingerprint(); }
  bool uses_threads() const override { return right_.uses_threads(); }
  std::vector<KernelOption> Options(const NodeSignature& node,
                                    const RunSetting& setting) const override {
    return right_.Options(node, setting);
  }
  std::optional<std::vector<HostTensor>> Evaluate(
      const NodeSignature& node, std::span<const HostTensor> inputs) const override {
    return right_.Evaluate(node, inputs);
  }
  PreparedKernel Prepare(std::string_view kernel, const KernelRequest& request) const override {
    PreparedKernel right = right_.Prepare(kernel, request);
    if (request.node.op != op_) return right;
    return PreparedKernel::Of(Run, Parameters{right, static_cast<int>(request.node.inputs.size()),
                                              request.node.outputs[0].dtype,
                                              request.node.outputs[0].shape.Elements(), factor_});
  }

 private:
  struct Parameters {
    PreparedKernel right;
    int output = 0;
    DType dtype = DType::kF32;
    int64_t elements = 0;
    double factor = 1;
  };

  template <class T>
  static void Multiply(T* numbers, const Parameters& wrong) {
    for (int64_t i = 0; i < wrong.elements; ++i) numbers[i] *= static_cast<T>(wrong.factor);
  }

  static void Multiply(BFloat16* numbers, const Parameters& wrong) {
    for (int64_t i = 0; i < wrong.elements; ++i) {
      numbers[i] = BFloat16(static_cast<float>(numbers[i]) * static_cast<float>(wrong.factor));
    }
  }

  static void Run(const RunContext& context, const Instruction& instruction) noexcept {
    const auto& wrong = *static_cast<const Parameters*>(instruction.parameters);
    Instruction right = instruction;
    right.parameters = wrong.right.parameters.get();
    wrong.right.run(context, right);
    if (wrong.dtype == DType::kF64) {
      Multiply(Data<double>(context, instruction, wrong.output), wrong);
    } else if (wrong.dtype == DType::kBF16) {
      Multiply(Data<BFloat16>(context, instruction, wrong.output), wrong);
    } else {
      Multiply(Data<float>(context, instruction, wrong.output), wrong);
    }
  }

  const KernelLibrary& right_ = *FindKernelLibrary("reference");
  const OpId op_;
  const double factor_;
};

// A sigmoid, and behind it as many biases: parameters that all have the same gradient.
std::string SigmoidAndBiases(int biases) {
  std::string text = R"(cgrun: 1
inputs: {x: {shape: [6]}, y: {shape: [3]}}
paths:
  p:
    ops:
      - first: {op: linear, in: x, units: 5}
      - {op: sigmoid}
      - last: {op: linear, units: 3}
)";
  for (int i = 0; i < biases; ++i) text += "      - b" + std::to_string(i) + ": {op: bias}\n";
  const std::string end = biases > 0 ? "b" + std::to_string(biases - 1) : "last";
  return text + "    loss: {op: squared_error, in: [" + end + ", y]}\n" +
         "train: {batch: 4, optimizer: {op: sgd, lr: 0.1}}\n";
}

TEST(ModelCheck, FindsAFiniteWrongGradient) {
  const ModelSpec model = ModelOf(SigmoidAndBiases(0));
  for (const double factor : {1.0, 1.01, 0.5, -1.0}) {
    const WrongLibrary oracle(OpId::sigmoid_grad, factor);
    Diagnostics diagnostics;
    ModelCheck check(model, {}, {}, diagnostics, &oracle);
    ASSERT_TRUE(check.ready()) << check.skipped() << diagnostics.ToString();
    const std::vector<GradientCheck> gradients = check.CheckGradients();
    ASSERT_EQ(gradients.size(), 4u);
    for (const GradientCheck& gradient : gradients) {
      const bool before = gradient.parameters[0].starts_with("p.first.");
      EXPECT_EQ(gradient.good, factor == 1 || !before) << gradient.parameters[0] << " " << factor;
      EXPECT_TRUE(std::isfinite(gradient.analytic + gradient.numeric));
    }
  }
}

// The tolerance does not grow with the number of parameters.
TEST(ModelCheck, FindsAFiniteWrongValueOfADevice) {
  for (const int biases : {0, 110}) {
    const ModelSpec model = ModelOf(SigmoidAndBiases(biases));
    CompileOptions options;
    options.passes.disabled = {"fuse_activations"};  // the operators stay as they are called
    Diagnostics diagnostics;
    ModelCheck check(model, {}, options, diagnostics);
    ASSERT_TRUE(check.ready()) << check.skipped() << diagnostics.ToString();
    const DeviceCheck right = check.CheckLibrary("reference", WrongLibrary(OpId::sigmoid_grad, 1));
    EXPECT_TRUE(right.good) << right.worst << " " << right.error;
    EXPECT_EQ(right.compared, 5 + biases);
    for (const OpId op : {OpId::sigmoid_grad, OpId::sigmoid}) {
      const DeviceCheck wrong = check.CheckLibrary("reference", WrongLibrary(op, 1.05));
      EXPECT_EQ(wrong.skipped, "");
      EXPECT_FALSE(wrong.good) << NameOf(op) << " " << wrong.worst << " " << wrong.error;
      EXPECT_TRUE(std::isfinite(wrong.error));
      EXPECT_GT(wrong.error, 0.01);
    }
    EXPECT_TRUE(check.CheckDevice("reference").good) << "other parameters were left behind";
  }
}

TEST(ModelCheck, AllowsARunInBF16ItsRoundingAndNoMore) {
  const ModelSpec model = ModelOf(SigmoidAndBiases(0));
  CompileOptions options;
  options.passes.disabled = {"fuse_activations"};
  options.bf16_activations = true;
  Diagnostics diagnostics;
  ModelCheck check(model, {}, options, diagnostics);
  ASSERT_TRUE(check.ready()) << check.skipped() << diagnostics.ToString();
  const DeviceCheck right = check.CheckLibrary("reference", WrongLibrary(OpId::sigmoid_grad, 1));
  EXPECT_TRUE(right.good) << right.worst << " " << right.error;
  EXPECT_EQ(right.compared, 5);
  EXPECT_GT(right.error, 2e-4) << "it was not computed in bf16";
  const DeviceCheck wrong = check.CheckLibrary("reference", WrongLibrary(OpId::sigmoid_grad, 1.5));
  EXPECT_EQ(wrong.skipped, "");
  EXPECT_FALSE(wrong.good) << wrong.worst << " " << wrong.error;
}

// A gradient that is 0 but for rounding, of a loss that is large or small: differences of the loss
// are rounding too, of the loss's own size.
TEST(ModelCheck, RoundingIsNoWrongGradient) {
  for (const char* scale : {"1.0e-4", "1", "1.0e+4"}) {
    const ModelSpec model = ModelOf(std::string(R"(cgrun: 1
inputs: {x: {shape: [2, 6, 6]}, y: {shape: [48]}}
paths:
  p:
    ops:
      - {op: conv, in: x, filters: 3, kernel: 3}
      - {op: batch_norm}
      - {op: tanh}
      - {op: flatten}
      - z: {op: normalize, scale: )") +
                                    scale + R"(}
    loss: {op: squared_error, in: [z, y]}
train: {batch: 4, optimizer: {op: sgd, lr: 0.1}}
)");
    Diagnostics diagnostics;
    ModelCheck check(model, {}, {}, diagnostics);
    ASSERT_TRUE(check.ready()) << check.skipped() << diagnostics.ToString();
    bool vanishes = false;
    for (const GradientCheck& gradient : check.CheckGradients()) {
      EXPECT_TRUE(gradient.good) << scale << " " << gradient.parameters[0] << ": "
                                 << gradient.analytic << " and " << gradient.numeric;
      vanishes = vanishes || gradient.parameters[0] == "p.conv[0].bias";
    }
    EXPECT_TRUE(vanishes);
  }
}

// A convolution far from 0 in front of a batch norm: its bias has a gradient of 0, which f32 gives
// as rounding of what it is summed from.
constexpr char kBiasUnderNorm[] = R"(cgrun: 1
inputs:
  image: {type: uint8, shape: [3, 48, 48]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {op: conv, filters: 6, kernel: 3, init: {bias: {constant: 100}}}
      - batch_norm
      - relu
      - {op: max_pool, kernel: 2}
      - flatten
      - logits: {op: linear, units: 10}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {batch: 4, optimizer: {op: sgd, lr: 0.1}}
)";

TEST(ModelCheck, ASumIsMeasuredByItsTerms) {
  const ModelSpec model = ModelOf(kBiasUnderNorm);
  CompileOptions options;
  options.passes.disabled = {"fuse_activations"};  // the operators stay as they are called
  Diagnostics diagnostics;
  ModelCheck check(model, {}, options, diagnostics);
  ASSERT_TRUE(check.ready()) << check.skipped() << diagnostics.ToString();
  const DeviceCheck right = check.CheckDevice("reference");
  EXPECT_TRUE(right.good) << right.worst << " " << right.error;
  EXPECT_EQ(right.compared, 7);
  EXPECT_TRUE(right.missing.empty());
  // The wrong output is the gradient of the last layer's bias, whose terms do not cancel each other
  // out.
  for (const OpId op : {OpId::reduce_sum, OpId::batch_norm_grad}) {
    const DeviceCheck wrong = check.CheckLibrary("reference", WrongLibrary(op, 1.05));
    EXPECT_FALSE(wrong.good) << NameOf(op) << " " << wrong.worst << " " << wrong.error;
    EXPECT_EQ(wrong.skipped, "");
  }
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
train: {optimizer: {op: sgd, lr: 0.1}}
)");
  Diagnostics diagnostics;
  Lint(model, *FindKernelLibrary("reference"), {}, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  const std::string text = diagnostics.ToString();
  EXPECT_NE(text.find("nothing reads input 'z'"), std::string::npos) << text;
  EXPECT_NE(text.find("nothing reads what p.idle computes"), std::string::npos) << text;
  EXPECT_EQ(text.find("'y'"), std::string::npos) << text;
}

// The warnings of what is computed in vain.
std::vector<std::string> UnreadValues(const std::string& text) {
  Diagnostics diagnostics;
  Lint(ModelOf(text), *FindKernelLibrary("reference"), {}, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.ToString();
  std::vector<std::string> warnings;
  for (const Diagnostic& diagnostic : diagnostics.Sorted()) {
    if (!diagnostic.message.starts_with("nothing reads what ")) continue;
    warnings.push_back(std::to_string(diagnostic.mark.line) + ": " + diagnostic.message);
  }
  return warnings;
}

// A network of two outputs, of which each use reads what `losses` say.
std::string TwoUses(const std::string& losses, const std::string& out,
                    const std::string& more = "") {
  constexpr char kUses[] = R"(cgrun: 1
inputs: {x: {shape: [4]}, y: {shape: [3]}}
networks:
  head:
    in: a
    out: [p, q]
    ops:
      - p: {op: linear, in: a, units: 3, activation: tanh}
      - q: {op: linear, in: a, units: 3}
paths:
  path:
    ops:
      - {network: head, in: x, out: [p1, q1]}
      - {network: head, in: x, out: [p2, q2]}
)";
  return kUses + more + "    out: " + out + "\n    loss: [" + losses +
         "]\ntrain: {optimizer: {op: sgd, lr: 0.1}}\n";
}

std::string ErrorOf(const std::string& name) {
  return "{op: squared_error, in: [" + name + ", y]}, ";
}

TEST(Lint, WhatSomeUseReadsIsNotIdle) {
  using Warnings = std::vector<std::string>;
  EXPECT_EQ(UnreadValues(TwoUses(ErrorOf("p1") + ErrorOf("q2"), "p1")), Warnings());
  EXPECT_EQ(UnreadValues(TwoUses(ErrorOf("p1") + ErrorOf("p2"), "p1")),
            (Warnings{"9: nothing reads what path.p1.q computes"}));
  EXPECT_EQ(UnreadValues(TwoUses(ErrorOf("q1") + ErrorOf("q2"), "q1")),
            (Warnings{"8: nothing reads what path.p1.p.tanh computes"}));
  // Nothing of the second use is read.
  const std::string one = ErrorOf("p1") + ErrorOf("q1");
  EXPECT_EQ(UnreadValues(TwoUses(one, "p1")),
            (Warnings{"14: nothing reads what path.p2 computes"}));
  EXPECT_EQ(UnreadValues(TwoUses(one, "p1", "      - both: {op: add, in: [p2, q2]}\n")),
            (Warnings{"15: nothing reads what path.both computes"}));
}

}  // namespace
}  // namespace cgrun
