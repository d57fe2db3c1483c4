// Ten steps of every optimizer against PyTorch, in f64 on every device of the host: a parameter,
// and gradients that are given. The numbers come from scripts/reference/pytorch_training.py (which
// says how they are made).
#include <gtest/gtest.h>

#include <cmath>

#include "src/ir/op_def.h"
#include "src/kernels/evaluate.h"
#include "src/ops/optimizer.h"

namespace cgrun {
namespace {

constexpr int64_t kElements = 4;
constexpr int kSteps = 10;

struct Optimizer {
  OpId op;
  Attributes attributes;
};

Optimizer Sgd(double momentum = 0, bool nesterov = false, double weight_decay = 0) {
  SgdAttributes a;
  a.momentum = momentum;
  a.nesterov = nesterov;
  a.weight_decay = weight_decay;
  return {OpId::sgd, Attributes::Of(a)};
}

Optimizer Rmsprop(double alpha = 0.99, double epsilon = 1e-8, double momentum = 0,
                  bool centered = false, double weight_decay = 0) {
  RmspropAttributes a;
  a.alpha = alpha;
  a.epsilon = epsilon;
  a.momentum = momentum;
  a.centered = centered;
  a.weight_decay = weight_decay;
  return {OpId::rmsprop, Attributes::Of(a)};
}

Optimizer Adagrad(double lr_decay = 0, double initial_accumulator = 0, double epsilon = 1e-10,
                  double weight_decay = 0) {
  AdagradAttributes a;
  a.lr_decay = lr_decay;
  a.initial_accumulator = initial_accumulator;
  a.epsilon = epsilon;
  a.weight_decay = weight_decay;
  return {OpId::adagrad, Attributes::Of(a)};
}

template <class T>
Attributes Moments(double beta1, double beta2, double epsilon, double weight_decay) {
  T a;
  a.beta1 = beta1;
  a.beta2 = beta2;
  a.epsilon = epsilon;
  a.weight_decay = weight_decay;
  return Attributes::Of(a);
}

Optimizer Adam(double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-8,
               double weight_decay = 0) {
  return {OpId::adam, Moments<AdamAttributes>(beta1, beta2, epsilon, weight_decay)};
}

Optimizer Adamw(double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-8,
                double weight_decay = 0.01) {
  return {OpId::adamw, Moments<AdamwAttributes>(beta1, beta2, epsilon, weight_decay)};
}

struct Row {
  const char* name;
  Optimizer optimizer;
  std::vector<double> expected;
};

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
#include "tests/differential/pytorch_optimizers.inc"
  };
  return rows;
}

// The parameter, then the states as the optimizer owns them.
std::vector<HostTensor> Start(const Optimizer& optimizer, const std::vector<TensorType>& types) {
  HostTensor w(DType::kF64, types[0].shape);
  for (int64_t i = 0; i < kElements; ++i) w.Set(i, std::cos(static_cast<double>(i)));
  std::vector<HostTensor> states = {w};
  InferContext context(optimizer.attributes, types);
  const OpDef& def = GetOpDef(optimizer.op);
  if (def.owned == nullptr) return states;
  for (const OwnedTensor& owned : def.owned(context)) {
    HostTensor state(owned.type.dtype, owned.type.shape);
    for (int64_t i = 0; i < kElements; ++i) {
      state.Set(i, owned.init_args.empty() ? 0 : owned.init_args[0]);
    }
    states.push_back(state);
  }
  return states;
}

HostTensor Gradient(int step) {
  HostTensor gradient(DType::kF64, Shape{kElements});
  for (int64_t i = 0; i < kElements; ++i) {
    const double angle = 12.9898 * static_cast<double>(5 * step + i);
    gradient.Set(i, std::sin(angle) * (step + 1) / 4);
  }
  return gradient;
}

// The parameter after ten steps.
std::vector<double> Train(const Optimizer& optimizer, const KernelLibrary& library) {
  const TensorType type{DType::kF64, Shape{kElements}};
  const OpDef& def = GetOpDef(optimizer.op);
  std::vector<HostTensor> states = Start(optimizer, {type, type, {DType::kF64, Shape()}});
  for (int step = 0; step < kSteps; ++step) {
    std::vector<HostTensor> inputs = {states[0], Gradient(step),
                                      HostTensor::Scalar<double>(0.1 / (1 + step))};
    inputs.insert(inputs.end(), states.begin() + 1, states.end());
    if (def.needs_step) inputs.push_back(HostTensor::Scalar<int64_t>(step));
    NodeSignature node{optimizer.op, optimizer.attributes, {}, {}, {}};
    for (const HostTensor& input : inputs) node.inputs.push_back({input.dtype(), input.shape()});
    node.outputs.assign(states.size(), type);
    const auto outputs = EvaluateOnHost(library, node, inputs);
    EXPECT_TRUE(outputs.has_value());
    if (!outputs) return {};
    states = *outputs;
  }
  std::vector<double> numbers;
  for (int64_t i = 0; i < kElements; ++i) numbers.push_back(states[0].At(i));
  return numbers;
}

class PytorchOptimizers : public testing::TestWithParam<const char*> {};

TEST_P(PytorchOptimizers, TakeTheSameTenSteps) {
  const KernelLibrary* library = FindKernelLibrary(GetParam());
  if (library == nullptr) GTEST_SKIP() << "the build has no device " << GetParam();
  ASSERT_GE(Rows().size(), 16u);
  for (const Row& row : Rows()) {
    const std::vector<double> numbers = Train(row.optimizer, *library);
    ASSERT_EQ(numbers.size(), row.expected.size());
    for (size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_NEAR(numbers[i], row.expected[i], 1e-12) << row.name << ", element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, PytorchOptimizers, testing::Values("reference", "blas", "cpu"));

}  // namespace
}  // namespace cgrun
