// Cases of the optimizers. Known results: three steps of PyTorch's SGD and Adam.
#include "src/ops/optimizer.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

CaseInput Rate(double rate) {
  CaseInput input = Fixed({}, DType::kF64, rate, rate);
  input.values = {rate};
  return input;
}

CaseInput Vector(std::vector<double> values) { return Given({3}, std::move(values)); }

Attributes Sgd(double momentum, bool nesterov = false, double weight_decay = 0, double scale = 1,
               double l1 = 0, double l2 = 0) {
  SgdAttributes attributes;
  attributes.momentum = momentum;
  attributes.nesterov = nesterov;
  attributes.weight_decay = weight_decay;
  attributes.learning_rate_scale = scale;
  attributes.l1 = l1;
  attributes.l2 = l2;
  return Attributes::Of(attributes);
}

Attributes Adam() { return Attributes::Of(AdamAttributes()); }

Attributes OtherAdam(double scale = 1) {
  AdamAttributes attributes;
  attributes.beta1 = 0.5;
  attributes.beta2 = 0.99;
  attributes.epsilon = 1e-3;
  attributes.weight_decay = 0.01;
  attributes.learning_rate_scale = scale;
  return Attributes::Of(attributes);
}

Attributes WithBetas(double beta1, double beta2) {
  AdamAttributes attributes;
  attributes.beta1 = beta1;
  attributes.beta2 = beta2;
  return Attributes::Of(attributes);
}

const std::vector<double> kStart = {1, -2, 0.5};
const std::vector<double> kGradient0 = {0.1, -0.2, 0.3};
const std::vector<double> kGradient1 = {0.4, 0.5, -0.6};
const std::vector<double> kGradient2 = {-0.7, 0.8, 0.9};

}  // namespace

std::vector<OpCase> sgd() {
  const CaseInput w = Vector(kStart), g = Vector(kGradient0);
  return {
      {"plain", Sgd(0), {w, g, Rate(0.1)}, {{0.99, -1.98, 0.47}}},
      {"weight decay", Sgd(0, false, 0.01), {w, g, Rate(0.1)}, {{0.989, -1.978, 0.4695}}},
      {"l2 is weight decay",
       Sgd(0, false, 0, 1, 0, 0.01),
       {w, g, Rate(0.1)},
       {{0.989, -1.978, 0.4695}}},
      // The results are worked out by hand: the gradient is g + 0.5·sign(w) = 0.6, −0.7, 0.8. A
      // parameter that is 0 adds nothing.
      {"l1", Sgd(0, false, 0, 1, 0.5), {w, g, Rate(0.1)}, {{0.94, -1.93, 0.42}}},
      {"l1 at 0",
       Sgd(0, false, 0, 1, 0.5),
       {Vector({0, -0.0, 0}), g, Rate(1)},
       {{-0.1, 0.2, -0.3}}},
      {"scaled rate", Sgd(0, false, 0, 2), {w, g, Rate(0.05)}, {{0.99, -1.98, 0.47}}},
      {"rate 0", Sgd(0), {w, g, Rate(0)}, {kStart}},
      {"momentum, first step",
       Sgd(0.9, false, 0.01),
       {w, g, Rate(0.1), Vector({0, 0, 0})},
       {{0.989, -1.978, 0.4695}, {0.11, -0.22, 0.305}}},
      {"momentum, second step",
       Sgd(0.9, false, 0.01),
       {Vector({0.989, -1.978, 0.4695}), Vector(kGradient1), Rate(0.1),
        Vector({0.11, -0.22, 0.305})},
       {{0.938111, -2.006222, 0.5015805}, {0.50889, 0.28222, -0.320805}}},
      {"nesterov, second step",
       Sgd(0.9, true, 0.01),
       {Vector({0.9791, -1.9582, 0.44205}), Vector(kGradient1), Rate(0.1),
        Vector({0.11, -0.22, 0.305})},
       {{0.89232971, -2.03165942, 0.530505105}, {0.508791, 0.282418, -0.3210795}}},
      {"nesterov, third step",
       Sgd(0.9, true, 0.01),
       {Vector({0.89232971, -2.03165942, 0.530505105}), Vector(kGradient2), Rate(0.1),
        Vector({0.508791, 0.282418, -0.3210795})},
       {{0.982422212551, -2.2026751251, 0.3845045848},
        {-0.2331648029, 1.0338596058, 0.61633350105}}},
      {"random", Sgd(0.9), {Uniform({3, 4}), Uniform({3, 4}), Rate(0.01), Uniform({3, 4})}},
      Refused("momentum is missing", Sgd(0.9), {w, g, Rate(0.1)}, "1 states"),
      Refused("nesterov alone", Sgd(0, true), {w, g, Rate(0.1)}, "needs a `momentum`"),
      Refused("gradient of another shape", Sgd(0), {w, Uniform({2}), Rate(0.1)}, "gradient"),
      Refused("f32 rate", Sgd(0), {w, g, Given({}, {0.1}, DType::kF32)}, "learning rate f64[]"),
      Refused("integers", Sgd(0), {Integers({2}, DType::kI32, 0, 1), g, Rate(0.1)}, "cannot learn"),
      Refused("negative momentum", Sgd(-0.1), {w, g, Rate(0.1)}, "`momentum` must be at least 0"),
  };
}

std::vector<OpCase> adam() {
  const CaseInput w = Vector(kStart), g = Vector(kGradient0), zero = Vector({0, 0, 0});
  return {
      {"first step",
       Adam(),
       {w, g, Rate(0.1), zero, zero, Step(0)},
       {{0.90000001, -1.900000005, 0.400000003333}, {0.01, -0.02, 0.03}, {1e-05, 4e-05, 9e-05}}},
      {"second step",
       Adam(),
       {Vector({0.90000001, -1.900000005, 0.400000003333}), Vector(kGradient1), Rate(0.1),
        Vector({0.01, -0.02, 0.03}), Vector({1e-05, 4e-05, 9e-05}), Step(1)},
       {{0.811562363975, -1.94422153022, 0.436610355265},
        {0.049, 0.032, -0.033},
        {0.00016999, 0.00028996, 0.00044991}}},
      {"third step, other attributes",
       OtherAdam(),
       {Vector({0.798178182973, -1.96629887317, 0.462557952829}), Vector(kGradient2), Rate(0.1),
        Vector({0.232004504505, 0.185497737557, -0.221748366013}),
        Vector({0.00179267369451, 0.00279272647079, 0.00447306854586}), Step(2)},
       {{0.853976751674, -2.06719731112, 0.402767010225},
        {-0.230006856833, 0.482917374412, 0.341438606758},
        {0.00656363910036, 0.00885405771764, 0.0126118122518}}},
      {"scaled rate",
       OtherAdam(0.5),
       {w, g, Rate(0.2), zero, zero, Step(0)},
       {{0.900900900901, -1.90045248869, 0.400326797386}}},
      {"random",
       Adam(),
       {Uniform({3, 4}), Uniform({3, 4}), Rate(0.01), Uniform({3, 4}), Uniform({3, 4}, 0.1, 1),
        Step(7)}},
      Refused("beta1", WithBetas(1, 0.9), {w, g, Rate(0.1), zero, zero, Step(0)},
              "`beta1` must be less than 1"),
      Refused("beta2", WithBetas(0.9, 1), {w, g, Rate(0.1), zero, zero, Step(0)},
              "`beta2` must be less than 1"),
      Refused("negative beta", WithBetas(-0.1, 0.9), {w, g, Rate(0.1), zero, zero, Step(0)},
              "`beta1` must be at least 0"),
      Refused("state of another shape", Adam(), {w, g, Rate(0.1), zero, Uniform({2}), Step(0)},
              "2 states"),
      Refused("no step", Adam(), {w, g, Rate(0.1), zero, zero, Rate(0)}, "step counter"),
      Refused("inputs are missing", Adam(), {w, g, Rate(0.1)}, "takes 6 inputs"),
  };
}

}  // namespace cgrun::op_cases
